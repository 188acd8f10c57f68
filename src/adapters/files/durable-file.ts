import { randomUUID } from 'node:crypto'
import { type FileHandle, link, open, readdir, readFile, rename, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { errorCode } from './errors.ts'
import { makeFolders } from './make-folders.ts'

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
 * Makes a folder that only the owner may enter, with those above it, so that a power cut leaves it in its place. Its
 * name is made durable also when it is there already: whoever made it may have died before.
 */
export const makeFolder = async (path: string): Promise<void> => {
  const firstMade = await makeFolders(path)
  const top = dirname(firstMade ?? path)
  let at = path
  for (; at !== top; at = dirname(at)) await syncDirectory(at)
  try {
    await syncDirectory(top)
  } catch (error) {
    // A folder that others made may let us pass and not look; then its names are theirs to keep.
    if (firstMade !== undefined || errorCode(error) !== 'EACCES') throw error
  }
}

/**
 * Writes a new file that only the owner may read, whole and durable or not at all, and says whether it did: not when
 * the file is there already, also because another process was faster. What is there is durable when this resolves,
 * whoever wrote it.
 */
export const createNamed = async (path: string, content: string | Uint8Array): Promise<boolean> => {
  await makeFolder(dirname(path))
  const temporary = unfinishedName(path)
  const handle = await open(temporary, 'wx', 0o600)
  try {
    try {
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    const made = await link(temporary, path).then(
      () => true,
      (error: unknown) => {
        if (errorCode(error) !== 'EEXIST') throw error
        return false
      },
    )
    await syncDirectory(dirname(path))
    return made
  } finally {
    // Whoever takes it for what a dead process left may have removed it.
    await unlink(temporary).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT') throw error
    })
  }
}

/** The same of a text. When the file is there already, its text is returned instead. */
export const writeOnce = async (path: string, text: string): Promise<string> =>
  (await createNamed(path, text)) ? text : await readFile(path, 'utf8')

/** What a file is called until it has its name. Not by the process id: in a container it is the same after a crash. */
export const unfinishedName = (path: string): string => `${path}.${randomUUID()}.new`

const unfinishedForm = /\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.new$/

/** What files under way are called until they have their final name: whoever finds one may remove it. */
export const isUnfinished = (name: string): boolean => unfinishedForm.test(name)

/** Removes what writers of this file left under way when they died; none may be at work. */
export const removeUnfinished = async (path: string): Promise<void> => {
  const folder = dirname(path)
  const begun = `${basename(path)}.`
  for (const name of await readdir(folder)) {
    const rest = name.startsWith(begun) ? name.slice(begun.length - 1) : ''
    if (unfinishedForm.exec(rest)?.index === 0) await unlink(join(folder, name))
  }
}

/**
 * Writes a file that only the owner may read, in the place of another of this name if there is one. It gets its name
 * when `write` has ended and its bytes are durable; a crash leaves it without. The name itself is durable once its
 * folder is synced.
 */
export const writeNamed = async (path: string, write: (handle: FileHandle) => Promise<void>): Promise<void> => {
  const temporary = unfinishedName(path)
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
