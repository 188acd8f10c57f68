import { randomUUID } from 'node:crypto'
import { type FileHandle, link, mkdir, open, readFile, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'

/** What was created, renamed and removed in a folder survives a power cut. */
export const syncDirectory = async (path: string): Promise<void> => {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Makes a folder that only the owner may enter, with those above it, so that a power cut leaves it in its place. Its name is made
 * durable also when it is there already: whoever made it may have died before.
 */
export const makeFolder = async (path: string): Promise<void> => {
  const firstMade = await mkdir(path, { recursive: true, mode: 0o700 })
  const top = dirname(firstMade ?? path)
  let at = path
  for (; at !== top; at = dirname(at)) await syncDirectory(at)
  try {
    await syncDirectory(top)
  } catch (error) {
    // A folder that others made may let us pass and not look; then its names are theirs to keep.
    if (firstMade !== undefined || !(error instanceof Error && 'code' in error && error.code === 'EACCES')) throw error
  }
}

/**
 * Writes a new file that only the owner may read, whole and durable or not at all. When the file is there already, also
 * because another process was faster, its text is returned instead.
 */
export const writeOnce = async (path: string, text: string): Promise<string> => {
  await makeFolder(dirname(path))
  // Not the process id: in a container a start after a crash has the same one.
  const temporary = `${path}.${randomUUID()}.new`
  const handle = await open(temporary, 'wx', 0o600)
  try {
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await link(temporary, path)
    await syncDirectory(dirname(path))
    return text
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    await syncDirectory(dirname(path))
    return await readFile(path, 'utf8')
  } finally {
    await unlink(temporary)
  }
}

/** What files under way are called until they have their final name: whoever finds one may remove it. */
export const isUnfinished = (name: string): boolean => name.endsWith('.new')

/**
 * Writes a file that only the owner may read, in the place of another of this name if there is one. It gets its name when
 * `write` has ended and its bytes are durable; a crash leaves it without. The name itself is durable once its folder is synced.
 */
export const writeNamed = async (path: string, write: (handle: FileHandle) => Promise<void>): Promise<void> => {
  const temporary = `${path}.${randomUUID()}.new`
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await write(handle)
    await handle.sync()
    await handle.close()
    await rename(temporary, path)
  } catch (error) {
    await handle.close()
    await unlink(temporary).catch(() => {})
    throw error
  }
}
