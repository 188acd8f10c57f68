import { createReadStream, type Stats, stat as statFile } from 'node:fs'
import { link, open, stat, statfs, unlink } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { atOnce } from '../../kernel/at-once.ts'
import { backupFilesLookedUpAtOnce, foldersSyncedAtOnce } from '../../kernel/limits/backups.ts'
import { readAheadBytes } from '../../kernel/limits/transfers.ts'
import type { BackupVault, KeptFile, TakePiece } from '../../ports/backup-vault.ts'
import { VaultFailure } from '../../ports/vault.ts'
import { toVaultName, type VaultName } from '../../ports/vault-name.ts'
import { createNamed, syncDirectory, unfinishedName } from '../files/durable-file.ts'
import { errorCode } from '../files/errors.ts'
import { makeFolders } from '../files/make-folders.ts'
import { guarded, guardedPieces } from './failures.ts'
import { claimFolder, type LockFile } from './folder-claim.ts'
import { nullIfMissing, walk } from './walk.ts'
import { wholeOf } from './whole.ts'

const lockName = 'backup.lock'

/**
 * The vault of backups that is a folder: what bears a name there is the file of that path, and only its owner can read
 * it. The folder itself has to be there. Besides there is the lock, which is always empty, and a file under way as
 * `<name>.<uuid>.new` until it gets its name by a link, which fails where the name is taken: nothing is ever written
 * over.
 */
export const openBackupDirectory = (folder: string, lockFile: LockFile): BackupVault => {
  const root = resolve(folder)
  const pathOf = (name: VaultName): string => join(root, toVaultName(name))
  /** Folders in which names were given since the last thing that was made durable. */
  const unsynced = new Set<string>()

  const note = (path: string): void => {
    for (let at = path; at !== root; at = dirname(at)) unsynced.add(at)
  }

  const syncInwards = async (paths: readonly string[]): Promise<void> => {
    const byDepth = Map.groupBy(paths, (path) => path.split(sep).length)
    // From the inside out: a folder is in its place before the one that it lies in says so.
    for (const [, folders] of [...byDepth].sort(([one], [other]) => other - one))
      await atOnce(folders, foldersSyncedAtOnce, async (path) => {
        // Where the disk was replaced the folder is gone, with whatever had got a name there.
        await syncDirectory(path).catch(nullIfMissing)
      })
    if (paths.length > 0) await syncDirectory(root)
  }

  const settleNoted = async (): Promise<void> => {
    const paths = [...unsynced]
    // What gets a name there from now on is noted anew.
    unsynced.clear()
    try {
      await syncInwards(paths)
    } catch (error) {
      for (const path of paths) unsynced.add(path)
      throw error
    }
  }
  /** One after another: whoever finds nothing to do relies on what another one does. */
  let settling: Promise<void> = Promise.resolve()
  const settle = (): Promise<void> => {
    const next = settling.then(settleNoted)
    settling = next.catch(() => {})
    return next
  }

  async function* filesBelow(within: VaultName): AsyncGenerator<KeptFile> {
    let noted = ''
    for await (const names of together(walk(root, toVaultName(within)))) {
      const found = await Promise.all(names.map((name) => statsOf(join(root, name))))
      for (const [index, name] of names.entries()) {
        const stats = found[index]
        if (stats?.isFile() !== true) continue
        // Whoever gave the name may have died before it was durable; what is seen here may be relied on.
        const folder = name.slice(0, name.lastIndexOf('/'))
        if (folder !== noted) note(dirname(join(root, name)))
        noted = folder
        yield { name, bytes: stats.size, modifiedAtMs: stats.mtimeMs }
      }
    }
  }

  return {
    where: root,

    claim: () =>
      guarded(root, async () => {
        await refuseIfMissing(root)
        return await claimFolder(root, 'write', lockFile, lockName)
      }),

    size: (name) => guarded(root, async () => (await stat(pathOf(name)).catch(nullIfMissing))?.size ?? null),

    read: (name, bytesMax) => guarded(root, () => wholeOf(pathOf(name), bytesMax)),

    open: (name, range) => guardedPieces(root, bytesOf(pathOf(name), range)),

    list: (within) => guardedPieces(root, filesBelow(within)),

    async write(name, _bytes, from) {
      const path = pathOf(name)
      const theirs: unknown[] = []
      const handOver = async (handle: { writeFile(piece: Uint8Array): Promise<void> }): Promise<void> => {
        const take: TakePiece = (piece) => guarded(root, () => handle.writeFile(piece))
        await from(take).catch((error: unknown) => {
          theirs.push(error)
          throw error
        })
      }
      return await guarded(root, async () => {
        if ((await stat(path).catch(nullIfMissing)) !== null) {
          note(dirname(path))
          return false
        }
        await makeFolders(dirname(path))
        const made = await linkNew(path, handOver)
        // Not before: what is settled while it is written does not cover its name.
        note(dirname(path))
        return made
      }).catch((error: unknown) => {
        throw theirs.length > 0 ? theirs[0] : error
      })
    },

    create: (name, bytes) =>
      guarded(root, async () => {
        await settle()
        return await createNamed(pathOf(name), bytes)
      }),

    remove: (names) =>
      guarded(root, async () => {
        for (const name of names) await unlink(pathOf(name)).catch(nullIfMissing)
        for (const path of new Set(names.map((name) => dirname(pathOf(name)))))
          await syncDirectory(path).catch(nullIfMissing)
      }),

    space: () =>
      guarded(root, async () => {
        await refuseIfMissing(root)
        const { bavail, blocks, bsize } = await statfs(root)
        return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
      }),
  }
}

/** Names, as many together as are looked up at once. */
async function* together(found: AsyncIterable<{ readonly name: VaultName | null }>): AsyncGenerator<VaultName[]> {
  let names: VaultName[] = []
  for await (const { name } of found) {
    if (name === null) continue
    if (names.push(name) < backupFilesLookedUpAtOnce) continue
    yield names
    names = []
  }
  if (names.length > 0) yield names
}

/**
 * What is known of a file; null where there is none. By the function that calls back: that of promises takes three
 * times as much of the processor, and a vault has millions of files.
 */
const statsOf = (path: string): Promise<Stats | null> =>
  new Promise((resolve, reject) => {
    statFile(path, (error, stats) => {
      if (error === null) resolve(stats)
      else if (errorCode(error) === 'ENOENT') resolve(null)
      else reject(error)
    })
  })

/** Where a disk is not mounted its folder is missing, or another one of that name. */
const refuseIfMissing = async (root: string): Promise<void> => {
  if ((await stat(root).catch(nullIfMissing)) === null)
    throw new VaultFailure('unreachable', root, 'there is no such folder; is its disk mounted? svc makes none')
}

/** Writes beside the path, makes the bytes durable and links them there, unless something is there by then. */
const linkNew = async (
  path: string,
  write: (handle: { writeFile(piece: Uint8Array): Promise<void> }) => Promise<void>,
): Promise<boolean> => {
  const temporary = unfinishedName(path)
  const handle = await open(temporary, 'wx', 0o600)
  try {
    try {
      await write(handle)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await link(temporary, path)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  } finally {
    await unlink(temporary).catch(() => {})
  }
}

async function* bytesOf(path: string, range?: { start: number; end: number }): AsyncGenerator<Uint8Array> {
  if (range !== undefined && range.start === range.end) return
  const bounds = range === undefined ? {} : { start: range.start, end: range.end - 1 }
  yield* createReadStream(path, { highWaterMark: readAheadBytes, ...bounds })
}
