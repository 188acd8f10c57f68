import { createReadStream } from 'node:fs'
import { open, readdir, stat, statfs, unlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { readAheadBytes } from '../../kernel/limits/transfers.ts'
import { type Kept, type Vault, VaultFailure } from '../../ports/vault.ts'
import { toVaultName, type VaultName } from '../../ports/vault-name.ts'
import { createNamed, isUnfinished, makeFolder, syncDirectory, writeNamed } from '../files/durable-file.ts'
import { fileTrouble } from '../files/errors.ts'
import { makeFolders } from '../files/make-folders.ts'
import { guarded, guardedPieces } from './failures.ts'
import { nullIfMissing, walk } from './walk.ts'

/**
 * A lock between processes that ends with its process: of one alone, or of any number while nobody has it alone. Null
 * when somebody else has it. The file is made if it is missing; throws with a sentence for a file that is no lock.
 */
export type LockFile = (path: string, mode: 'exclusive' | 'shared') => Disposable | null

const lockName = 'export.lock'

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

  const isEmpty = async (): Promise<boolean> =>
    ((await readdir(root).catch(nullIfMissing)) ?? []).every((name) => isUnfinished(name) || name === lockName)

  const removeUnfinished = async (): Promise<void> => {
    for await (const { name, path } of walk(root, null)) if (name === null && isUnfinished(path)) await unlink(path)
  }

  const lock = (to: 'write' | 'read'): Disposable | null => {
    try {
      return lockFile(join(root, lockName), to === 'write' ? 'exclusive' : 'shared')
    } catch (error) {
      // Where nothing can be written no writer can begin.
      if (to === 'read' && fileTrouble(error) === 'denied') return { [Symbol.dispose]: () => {} }
      if (fileTrouble(error) !== null) throw error
      throw new VaultFailure('damaged', root, error instanceof Error ? error.message : String(error), { cause: error })
    }
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

    claim: (to) =>
      guarded(root, async () => {
        if (to === 'write') await makeFolder(root)
        else if (await isEmpty()) return nothingHeld
        const held = lock(to)
        if (held === null) return null
        try {
          if (to === 'write') await removeUnfinished()
        } catch (error) {
          held[Symbol.dispose]()
          throw error
        }
        return { [Symbol.asyncDispose]: async () => held[Symbol.dispose]() }
      }),

    empty: () => guarded(root, isEmpty),

    size: (name) => guarded(root, async () => (await stat(pathOf(name)).catch(nullIfMissing))?.size ?? null),

    read: (name, bytesMax) =>
      guarded(root, async () => {
        const handle = await open(pathOf(name), 'r').catch(nullIfMissing)
        if (handle === null) return null
        try {
          const { size } = await handle.stat()
          if (size > bytesMax) throw new VaultFailure('damaged', pathOf(name), 'it is too long')
          return await handle.readFile()
        } finally {
          await handle.close()
        }
      }),

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

const nothingHeld: AsyncDisposable = { [Symbol.asyncDispose]: async () => {} }

const syncIfThere = async (path: string): Promise<void> => {
  await syncDirectory(path).catch(nullIfMissing)
}

async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path, { highWaterMark: readAheadBytes })
}
