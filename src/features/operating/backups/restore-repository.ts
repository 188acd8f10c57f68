import { copyIn, holdsWhole } from '../../../content/checks/copies.ts'
import { countBeside } from '../../../content/claims/claims.ts'
import { type Room as ClaimedRoom, holdAtOnce, type RoomDeps, roomOf, setAside } from '../../../content/claims/room.ts'
import type { FreeSpace } from '../../../content/ingest/free-space.ts'
import type { Transaction } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import { currentSchema } from '../../../database/migrate.ts'
import { insertMissingRows, type Row } from '../../../database/moving/rows.queries.ts'
import type { HolderKind } from '../../../database/tables/claims.ts'
import type { Actor } from '../../../journal/security-audit/security-audit.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { restoredRowsAtOnce } from '../../../kernel/limits/backups.ts'
import { textBytes } from '../../../kernel/text-bytes.ts'
import type { BlobStore } from '../../../ports/blob-store.ts'
import { createRepository } from '../../catalog/repositories/repositories.ts'
import { refreshEntry } from '../../catalog/search/entries.ts'
import { refuseUnlessStoreTakes } from '../moving/restore-blobs.ts'
import type { Room } from './data-files.ts'
import type { Manifest } from './manifest.ts'
import { bytesInPoint, type FoundBytes } from './point-bytes.ts'
import { rowsOfPoint, tableOf, tells } from './point-rows.ts'
import { beforeHolders, behindHolders, holders, idIn, movedInto, type OfRepository } from './repository-rows.ts'
import {
  claimStateOf,
  findRestored,
  isRepository,
  journalBaseOf,
  noteRestored,
  noteRestoredWhole,
  setJournalHead,
} from './restore-repository.queries.ts'

interface RestoreDeps extends RoomDeps {
  readonly room: Room
  readonly store: BlobStore
  readonly freeSpace: FreeSpace
  /** Files up to here are kept in the database. */
  readonly inlineBytes: number
  readonly actor: Actor
  /** Told now and then what is being done. */
  readonly told: (words: string) => void
}

interface RepositoryWish {
  /** What it was called at the moment of the point. */
  readonly source: string
  /** What it is to be called: an id that nobody has. */
  readonly target: string
}

export interface RestoredRepository {
  readonly files: number
  readonly bytes: number
  readonly rows: number
}

/**
 * Brings a repository of a point back beside a living service, under another id, with ids of its own for all that is
 * in it: so that what is there now and what was there then are two repositories, which share bytes and nothing else.
 *
 * Order: the repository, of which nobody has a grant -> each file's bytes and, in the transaction that claims them,
 * its row (I1) -> the rows that refer to those -> its journal. All of it can be done twice: a crash leaves how far it
 * was, and the same command goes on.
 */
export const restoreRepository = async (
  deps: RestoreDeps,
  manifest: Manifest,
  wish: RepositoryWish,
): Promise<RestoredRepository> => {
  const run = new Run(deps, manifest, wish)
  await run.begin()
  await run.rows(beforeHolders)
  await run.holders()
  await run.rows(behindHolders)
  await run.journal()
  await run.search()
  return await run.end()
}

interface Holder {
  readonly of: OfRepository
  readonly id: string
  readonly bytes: number
  readonly row: Row
}

class Run {
  readonly #deps: RestoreDeps
  readonly #manifest: Manifest
  readonly #wish: RepositoryWish
  /** Ids of what is in it, by the column that others name it by. */
  readonly #inside = { artifact_id: new Set<string>(), package_id: new Set<string>() }
  #files = 0
  #bytes = 0
  #rows = 0

  constructor(deps: RestoreDeps, manifest: Manifest, wish: RepositoryWish) {
    this.#deps = deps
    this.#manifest = manifest
    this.#wish = wish
  }

  async begin(): Promise<void> {
    const { database, clock, actor } = this.#deps
    const { source, target } = this.#wish
    const { id, schema } = this.#manifest
    const found = await currentSchema(database)
    if (found !== schema)
      throw new Failure(
        'invalid_request',
        `The point has schema ${schema}, the service has schema ${found}. Restore the whole point into a new place, and copy what you need from there.`,
      )
    if ((await this.#sourceRow()) === null) throw notFound(`repository ${source} in the point`)
    const begun = await findRestored(database.reader, target)
    const ours = begun?.point_id === id && begun.source === source && begun.finished_at === null
    if (ours && (await isRepository(database.reader, target))) return
    await createRepository({ database, clock }, target, actor)
    const row = { repository: target, source, point_id: id, begun_at: timestamp(clock.now()), finished_at: null }
    await database.transaction((tx) => noteRestored(tx, row))
  }

  async #sourceRow(): Promise<Row | null> {
    const { source } = this.#wish
    for await (const row of rowsOfPoint(this.#deps.room, this.#manifest, 'repositories', tells(source)))
      if (row['id'] === source && row['deleted_at'] === null) return row
    return null
  }

  readonly #idOf = (id: string): string => idIn(this.#wish.target, this.#manifest.id, id)

  /** The rows of a table that belong to the repository, as they were. */
  async *#belonging(of: OfRepository): AsyncGenerator<Row> {
    const { source } = this.#wish
    const may = of.by === 'repository' ? tells(source) : undefined
    for await (const row of rowsOfPoint(this.#deps.room, this.#manifest, of.table, may)) {
      const belongs =
        of.by === 'repository' ? row['repository'] === source : this.#inside[of.by].has(String(row[of.by]))
      if (belongs && (of.goes?.(row) ?? true)) yield row
    }
  }

  #moved(row: Row, of: OfRepository): Row {
    return movedInto(row, of, this.#wish.target, this.#idOf)
  }

  async rows(tables: readonly OfRepository[]): Promise<void> {
    for (const of of tables) {
      this.#deps.told(`rows of ${of.table}`)
      await this.#inBatches(this.#belonging(of), async (tx, rows) => {
        const moved = rows.map((row) => this.#moved(row, of))
        await insertMissingRows(tx, of.table, tableOf(this.#manifest, of.table).columns, moved)
        if (of.table === 'npm_packages') for (const { id } of rows) this.#inside.package_id.add(String(id))
      })
    }
  }

  /** Works on rows, so many in one transaction, under the lock of the repository. */
  async #inBatches(
    rows: AsyncIterable<Row>,
    work: (tx: Transaction, rows: readonly Row[]) => Promise<void>,
  ): Promise<void> {
    let batch: Row[] = []
    const flush = async (): Promise<void> => {
      const some = batch
      batch = []
      if (some.length === 0) return
      await this.#deps.database.transaction(async (tx) => {
        await lockRepository(tx, this.#wish.target)
        await work(tx, some)
      })
      this.#rows += some.length
    }
    for await (const row of rows) {
      batch.push(row)
      if (batch.length >= restoredRowsAtOnce) await flush()
    }
    await flush()
  }

  /** What holds bytes, together with them. */
  async holders(): Promise<void> {
    const byDigest = new Map<string, Holder[]>()
    for (const of of holders)
      for await (const row of this.#belonging(of)) {
        if (of.table === 'artifacts') this.#inside.artifact_id.add(String(row['id']))
        const holder = { of, id: this.#idOf(String(row['id'])), bytes: Number(row['size']), row: this.#moved(row, of) }
        const digest = String(row['sha256'])
        byDigest.set(digest, [...(byDigest.get(digest) ?? []), holder])
      }
    const { room, told } = this.#deps
    const found = new Set<string>()
    for await (const content of bytesInPoint(room, this.#manifest, byDigest)) {
      found.add(content.digest)
      for (const holder of byDigest.get(content.digest) ?? []) await this.#hold(content, holder)
      told(`${found.size} of ${byDigest.size} different files`)
    }
    if (found.size < byDigest.size)
      throw new Failure(
        'point_unreadable',
        `The point names ${byDigest.size - found.size} files that it does not have.`,
      )
  }

  async #hold(content: FoundBytes, holder: Holder): Promise<void> {
    this.#files += 1
    this.#bytes += holder.bytes
    const { database, inlineBytes } = this.#deps
    const state = await claimStateOf(database.reader, holder.id)
    if (state !== undefined && state !== 'pending') return
    const commit = async (tx: Transaction): Promise<void> => {
      const { table } = holder.of
      await insertMissingRows(tx, table, tableOf(this.#manifest, table).columns, [holder.row])
      const { manifest, readme, attestations } = holder.row
      if (table === 'npm_versions')
        await countBeside(tx, holder.id, textBytes(manifest, readme, attestations), this.#deps.capacityBytes)
    }
    const wanted = { id: holder.id, repository: this.#wish.target, holder: kindOf(holder.of) }
    if (holder.bytes <= inlineBytes && state === undefined) {
      const whole = Buffer.concat(await Array.fromAsync(content.pieces()))
      return await holdAtOnce(this.#deps, wanted, { digest: content.digest, whole }, commit)
    }
    const claimed =
      state === 'pending'
        ? await roomOf(this.#deps, holder.id)
        : await setAside(this.#deps, { ...wanted, digest: content.digest, bytes: holder.bytes }, async () => {})
    await this.#publish(claimed, content, holder.bytes, commit)
  }

  async #publish(
    claimed: ClaimedRoom,
    content: FoundBytes,
    bytes: number,
    commit: (tx: Transaction) => Promise<void>,
  ): Promise<void> {
    const { store, freeSpace } = this.#deps
    await claimed.publish(
      { digest: content.digest, bytes },
      async (name) => {
        // Most often the living service has them.
        if (await holdsWhole(store, { name, bytes })) return
        await refuseUnlessStoreTakes(freeSpace, bytes)
        await copyIn(store, { name, bytes }, content.pieces())
      },
      commit,
    )
  }

  /** Its lines, behind those of repositories that had the id before. */
  async journal(): Promise<void> {
    const { database } = this.#deps
    const { target } = this.#wish
    const of: OfRepository = { table: 'journal', by: 'repository', ids: ['artifact_id'] }
    const source = await this.#sourceRow()
    const before = Number(source?.['journal_base'] ?? 0)
    const base = await journalBaseOf(database.reader, target)
    const columns = tableOf(this.#manifest, 'journal').columns
    const gaps = await Array.fromAsync(this.#belonging({ table: 'journal_gaps', by: 'repository', ids: [] }))
    /** Counted from its first line, without what restores passed over. */
    const moved = (sequence: unknown): number =>
      gaps.reduce(
        (to, { beyond, through }) =>
          Number(beyond) >= before && Number(sequence) >= Number(through)
            ? to - (Number(through) - Number(beyond))
            : to,
        Number(sequence) - before + base,
      )
    await this.#inBatches(this.#belonging(of), async (tx, rows) => {
      const lines = rows
        .filter(({ sequence }) => Number(sequence) > before)
        .map((row) => ({ ...this.#moved(row, of), sequence: moved(row['sequence']) }))
      await insertMissingRows(tx, 'journal', columns, lines)
    })
    const head = moved(source?.['journal_head'] ?? before)
    await database.transaction((tx) => setJournalHead(tx, target, head))
  }

  async search(): Promise<void> {
    const ids = [...this.#inside.artifact_id]
    for (let at = 0; at < ids.length; at += restoredRowsAtOnce)
      await this.#deps.database.transaction(async (tx) => {
        await lockRepository(tx, this.#wish.target)
        for (const id of ids.slice(at, at + restoredRowsAtOnce)) await refreshEntry(tx, this.#idOf(id))
      })
  }

  async end(): Promise<RestoredRepository> {
    const { database, clock } = this.#deps
    await database.transaction((tx) => noteRestoredWhole(tx, this.#wish.target, timestamp(clock.now())))
    return { files: this.#files, bytes: this.#bytes, rows: this.#rows + this.#files }
  }
}

const kindOf = ({ table }: OfRepository): HolderKind => {
  if (table === 'oci_blobs') return 'oci-blob'
  if (table === 'lfs_objects') return 'lfs-object'
  return table === 'npm_versions' ? 'npm-version' : 'artifact'
}
