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
 * Writes a new file that only the owner may read, whole and durable or not at all. When the file is there already, also
 * because another process was faster, its text is returned instead.
 */
export const writeOnce = async (path: string, text: string): Promise<string> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
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
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return await readFile(path, 'utf8')
    throw error
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
