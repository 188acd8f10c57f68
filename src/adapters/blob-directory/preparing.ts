import { randomUUID } from 'node:crypto'
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { BlobStoreFull } from '../../ports/blob-store.ts'
import { errorCode } from '../files/errors.ts'
import { makeFolders } from '../files/make-folders.ts'
import { storeFailure } from './failures.ts'
import { fsyncDirectory, rename, unlink } from './files.ts'
import { type Layout, shardNames } from './layout.ts'
import { unlinkIfThere } from './staged-file.ts'

/**
 * Makes what is missing of the layout, durably: when it resolves, a power cut leaves every shard in its place.
 * Throws where both directories do not lie on one device, or cannot be written to.
 */
export const prepare = async (layout: Layout): Promise<void> => {
  await makeFolders(layout.staging)
  const firstMade = await makeFolders(layout.root)
  const [root, staging] = await Promise.all([stat(layout.root), stat(layout.staging)])
  if (root.dev !== staging.dev) throw new Error(otherDevices(layout))
  await Promise.all(shardNames.map((shard) => makeShard(`${layout.root}/${shard}`)))
  await syncUpwards(layout.root, dirname(firstMade ?? layout.root))
  try {
    await tryOut(layout)
  } catch (error) {
    // Two bind mounts of one device pass the comparison and still refuse the rename.
    throw errorCode(error) === 'EXDEV' ? new Error(otherDevices(layout), { cause: error }) : error
  }
}

/** For who only reads: the shards are there, so that it is no bare mount point of a lost disk. */
export const mustBePrepared = async ({ root }: Layout): Promise<void> => {
  await stat(`${root}/${shardNames[0]}`)
}

const otherDevices = ({ root, staging }: Layout): string =>
  `blobs (${root}) and staging (${staging}) must lie on one device, since publishing is a rename`

/** Its name is made durable by the sync of the root, the shard itself by every publish into it. */
const makeShard = async (path: string): Promise<void> => {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
}

/** Also when nothing was made just now: whoever made it may have died before its sync. */
const syncUpwards = async (from: string, to: string): Promise<void> => {
  await fsyncDirectory(from)
  if (from !== to) await syncUpwards(dirname(from), to)
}

/**
 * Publishes an empty file under a name that no blob has, and removes it: proves that both directories are there, can be
 * written to and lie on one device. That the shard is there tells the store from the bare mount point of a lost disk. A
 * full disk passes: it answers, and serves what it has. The name in the shard is always the same, so that crashes leave
 * at most one such file; several that try at once take each other's away, which proves as much.
 */
export const tryOut = async (layout: Layout): Promise<void> => {
  const staged = layout.staged(randomUUID())
  const published = `${layout.root}/${shardNames[0]}/probe`
  try {
    await writeFile(staged, '', { flag: 'wx', mode: 0o600 })
    await rename(staged, published).catch(async (error: unknown) => {
      await unlink(staged)
      throw error
    })
    await unlinkIfThere(published)
  } catch (error) {
    if (!(storeFailure(error) instanceof BlobStoreFull)) throw error
  }
}
