import { createReadStream } from 'node:fs'
import { stat, statfs, unlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { readAheadBytes } from '../../kernel/limits/transfers.ts'
import type { Kept, Vault } from '../../ports/vault.ts'
import { toVaultName, type VaultName } from '../../ports/vault-name.ts'
import { createNamed, syncDirectory, writeNamed } from '../files/durable-file.ts'
import { makeFolders } from '../files/make-folders.ts'
import { guarded, guardedPieces } from './failures.ts'
import { claimFolder, isEmptyFolder, type LockFile } from './folder-claim.ts'
import { nullIfMissing, walk } from './walk.ts'
import { wholeOf } from './whole.ts'

/**
 * The vault that is a folder: what bears a name there is the file of that path. Everything in it can be read by its
 * owner alone. Besides there is the lock, which is always empty, and beside a file under way `<name>.<uuid>.new` until
 * it has its name.
 */
export const openVaultDirectory = (folder: string, lockFile: LockFile): Vault => {
  const root = resolve(folder)
  const pathOf = (name: VaultName): string => join(root, toVaultName(name))
  /** Folders in which names were given, taken away or seen since the last seal. */
  const unsynced = new Set<string>()

  const note = (path: string): void => {
    for (let at = path; at !== root; at = dirname(at)) unsynced.add(at)
  }

  async function* filesBelow(within: VaultName): AsyncGenerator<Kept> {
    for await (const { name } of walk(root, toVaultName(within))) {
      if (name === null) continue
      const stats = await stat(pathOf(name)).catch(nullIfMissing)
      if (stats === null || !stats.isFile()) continue
      note(dirname(pathOf(name)))
      yield { name, bytes: stats.size }
    }
  }

  return {
    where: root,
    whereIs: pathOf,

    claim: (to) => guarded(root, () => claimFolder(root, to, lockFile)),

    empty: () => guarded(root, () => isEmptyFolder(root)),

    size: (name) => guarded(root, async () => (await stat(pathOf(name)).catch(nullIfMissing))?.size ?? null),

    read: (name, bytesMax) => guarded(root, () => wholeOf(pathOf(name), bytesMax)),

    open: (name) => guardedPieces(root, bytesOf(pathOf(name))),

    list: (within) => guardedPieces(root, filesBelow(within)),

    create: (name, bytes) => guarded(root, () => createNamed(pathOf(name), bytes)),

    async write(name, from) {
      const path = pathOf(name)
      const theirs: unknown[] = []
      await guarded(root, async () => {
        await makeFolders(dirname(path))
        note(dirname(path))
        await writeNamed(path, async (handle) => {
          await from((piece) => guarded(root, () => handle.writeFile(piece))).catch((error: unknown) => {
            theirs.push(error)
            throw error
          })
        })
      }).catch((error: unknown) => {
        throw theirs.length > 0 ? theirs[0] : error
      })
    },

    seal: (name, bytes) =>
      guarded(root, async () => {
        // From the inside out: a folder is in its place before the one that it lies in says so.
        for (const path of [...unsynced].sort().reverse()) await syncDirectory(path)
        await syncDirectory(root)
        await writeNamed(pathOf(name), (handle) => handle.writeFile(bytes))
        await syncDirectory(dirname(pathOf(name)))
        unsynced.clear()
      }),

    sealed: (name) =>
      guarded(root, async () => {
        const path = pathOf(name)
        if ((await stat(path).catch(nullIfMissing)) === null) return false
        await syncDirectory(dirname(path))
        return true
      }),

    remove: (names) =>
      guarded(root, async () => {
        for (const name of names) await unlink(pathOf(name)).catch(nullIfMissing)
        for (const path of new Set(names.map((name) => dirname(pathOf(name))))) await syncIfThere(path)
      }),

    freeBytes: () =>
      guarded(root, async () => {
        const { bavail, bsize } = await statfs(root)
        return bavail * bsize
      }),
  }
}

const syncIfThere = async (path: string): Promise<void> => {
  await syncDirectory(path).catch(nullIfMissing)
}

async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path, { highWaterMark: readAheadBytes })
}
