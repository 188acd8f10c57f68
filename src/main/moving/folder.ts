import { createReadStream } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat, statfs, unlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Value } from 'typebox/value'
import { lockFile } from '../../database/sqlite/file-lock.ts'
import { Failure, invalid } from '../../kernel/failure.ts'
import { exportManifestBytesMax } from '../../kernel/limits/engines.ts'
import { readAheadBytes } from '../../kernel/limits/transfers.ts'
import { isUnfinished, makeFolder, syncDirectory, writeNamed, writeOnce } from '../durable-file.ts'
import { type Manifest, type ManifestContent, Marker, manifestOf, manifestText, NoManifest } from './manifest.ts'

const lockName = 'export.lock'

/**
 * The folder of an export:
 *
 *     export.json                  written first: whose export it is
 *     tables/<table>-000001.ndjson.zst
 *     blobs/<ab>/<sha256>
 *     manifest.json                written last: what the export consists of
 *     export.lock                  always empty: locked by an export alone, or by any number of imports
 *
 * Every file gets its name when it is complete, verified and durable (I3), the manifest after all others: so a folder
 * without one is no export, and what has its name already needs no copying again. One export at a time in a folder, and
 * none while it is imported from; a process that dies takes its lock along.
 */
export class ExportFolder {
  readonly path: string

  constructor(path: string) {
    this.path = resolve(path)
  }

  get manifestPath(): string {
    return join(this.path, 'manifest.json')
  }

  file(name: string): string {
    return join(this.path, name)
  }

  blob(digest: string): string {
    return join(this.path, 'blobs', digest.slice(0, 2), digest)
  }

  /**
   * Makes the folder ready to be written to by an export of this database, which has it for itself until it gives the lock
   * back. What is there of its blobs stays. A folder that is refused is left as it was.
   */
  async begin(source: string, refresh: boolean): Promise<Disposable> {
    await makeFolder(this.path).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && (error.code === 'EEXIST' || error.code === 'ENOTDIR'))
        throw invalid(this.path, 'is no folder')
      throw error
    })
    await this.#refuseUnlessFor(source, refresh)
    const lock = lockFile(this.file(lockName), 'exclusive')
    if (lock === null)
      throw new Failure(
        'busy',
        `${this.path} is in use: another svc export writes to it, or an svc import reads it. Wait until that has ended.`,
      )
    try {
      // Another export may have ended between the first look and the lock.
      const marker = await this.#refuseUnlessFor(source, refresh)
      await rm(this.manifestPath, { force: true })
      await syncDirectory(this.path)
      if (marker === null)
        await writeOnce(this.file('export.json'), `${JSON.stringify({ format: 'svc-export', source })}\n`)
      await rm(this.file('tables'), { recursive: true, force: true })
      for (const name of ['tables', 'blobs']) await mkdir(this.file(name), { recursive: true, mode: 0o700 })
      return lock
    } catch (error) {
      lock[Symbol.dispose]()
      throw error
    }
  }

  /** Whose export it is already, if it may be written to. */
  async #refuseUnlessFor(source: string, refresh: boolean): Promise<string | null> {
    const marker = await this.#marker()
    const ours = (name: string): boolean => isUnfinished(name) || name === lockName
    if (marker === null && !(await readdir(this.path)).every(ours))
      throw invalid(this.path, 'is not empty and holds no export; name a new folder, or an empty one')
    if (marker !== null && marker !== source)
      throw invalid(this.path, 'holds an export of another database; name another folder')
    if (!refresh && (await sizeOf(this.manifestPath)) !== null)
      throw invalid(this.path, 'holds a finished export; name another folder, or bring it up to date with --refresh')
    return marker
  }

  /**
   * Keeps exports from the folder until the lock is given back. Where there is none nothing is made, and where nothing can
   * be written no export can begin.
   */
  async reading(): Promise<Disposable> {
    const unlocked = { [Symbol.dispose]: () => {} }
    if ((await sizeOf(this.file('export.json'))) === null) return unlocked
    try {
      const lock = lockFile(this.file(lockName), 'shared')
      if (lock !== null) return lock
    } catch (error) {
      if (error instanceof Error && 'code' in error && (error.code === 'EROFS' || error.code === 'EACCES'))
        return unlocked
      throw error
    }
    throw new Failure('busy', `An svc export is writing to ${this.path}. Wait until it has ended.`)
  }

  /** The end of an export: everything that it names is durable. */
  async finish(manifest: ManifestContent): Promise<void> {
    for (const name of ['tables', 'blobs', '.']) await syncDirectory(this.file(name))
    await writeNamed(this.manifestPath, (handle) => handle.writeFile(manifestText(manifest)))
    await syncDirectory(this.path)
  }

  /** What a finished export consists of. 400 with the reason where there is none. */
  async manifest(): Promise<Manifest> {
    const size = await sizeOf(this.manifestPath)
    if (size === null) {
      const begun = (await this.#marker()) !== null
      throw invalid(this.path, begun ? 'holds an export that is not finished; run svc export again' : 'holds no export')
    }
    if (size > exportManifestBytesMax) throw invalid(this.manifestPath, 'is damaged: it is too long')
    try {
      return manifestOf(await readFile(this.manifestPath, 'utf8'))
    } catch (error) {
      if (error instanceof NoManifest) throw invalid(this.manifestPath, `is damaged: ${error.message}`)
      throw error
    }
  }

  /** Removes what lies in a part of the blobs and is not to be there. */
  async keepOnly(part: string, wanted: ReadonlySet<string>): Promise<void> {
    const path = this.file(join('blobs', part))
    for (const name of await namesIn(path)) if (!wanted.has(name)) await unlink(join(path, name))
  }

  /** Parts of the blobs that are there. */
  parts(): Promise<string[]> {
    return namesIn(this.file('blobs'))
  }

  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.path)
    return bavail * bsize
  }

  /** The bytes of a blob; every piece has memory of its own. */
  open(digest: string): AsyncIterable<Buffer> {
    return createReadStream(this.blob(digest), { highWaterMark: readAheadBytes })
  }

  async #marker(): Promise<string | null> {
    const path = this.file('export.json')
    if ((await sizeOf(path)) === null) return null
    let parsed: unknown = null
    try {
      parsed = JSON.parse(await readFile(path, 'utf8'))
    } catch {
      // Said below.
    }
    if (Value.Check(Marker, parsed)) return parsed.source
    throw invalid(path, 'is not what svc export writes')
  }
}

/** Bytes of a file, or null where there is none. */
export const sizeOf = async (path: string): Promise<number | null> =>
  (await stat(path).catch(missingIsNull))?.size ?? null

const namesIn = async (path: string): Promise<string[]> => (await readdir(path).catch(missingIsNull)) ?? []

const missingIsNull = (error: unknown): null => {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
  throw error
}
