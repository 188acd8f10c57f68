import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { withInline } from '../../src/content/inline/inline.ts'
import { type ReclaimDeps, reclaim } from '../../src/content/reclaim/reclaim.ts'
import { createReclaimMeter } from '../../src/content/reclaim/reclaim-meter.ts'
import type { Queries, Transaction } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'
import { removeEntry } from '../../src/features/catalog/search/entries.ts'
import { settleDeletions } from '../../src/features/lifecycle/deletion/jobs.ts'
import { settleUploads, sweepUploads } from '../../src/features/transfers/uploads/jobs.ts'
import { toSha256 } from '../../src/kernel/digest.ts'
import { noFaults } from '../../src/kernel/fault-points.ts'
import { cleanupGraceHoursDefault } from '../../src/kernel/limits/transfers.ts'
import { realTimers } from '../../src/kernel/timers.ts'
import { openBlobStore } from '../../src/main/engines.ts'
import { mendAll } from '../../src/main/mending.ts'
import { readSettings } from '../../src/main/settings/rules.ts'
import { type BlobName, blobName, digestOfName } from '../../src/ports/blob-name.ts'
import { findingsIn } from './doctor.ts'
import type { Findings } from './processes.ts'
import type { TestService } from './service.ts'

export const digestOf = (bytes: string | Uint8Array): string => hash('sha256', bytes)

/** A body whose length nobody knows beforehand. */
export const chunked = (bytes: string | Uint8Array, pieceBytes = 16_384): Readable => {
  const whole = Buffer.from(bytes)
  const pieces: Buffer[] = []
  for (let at = 0; at < whole.byteLength; at += pieceBytes) pieces.push(whole.subarray(at, at + pieceBytes))
  return Readable.from(pieces, { objectMode: false })
}

/** The bytes and rows behind a service, seen past it; upkeep by hand, for services that run without a worker. */
export interface Inspection extends ReclaimDeps {
  /** Places in staging, as far as the store has something of them. */
  staged(): Promise<string[]>
  /** Digests of the bytes that are kept, in the store or in the database, in order. */
  stored(): Promise<string[]>
  /** What the store calls the bytes that the row of a digest is about. */
  nameOf(digest: string): Promise<BlobName>
  /** What `svc doctor` finds. */
  findings(): Promise<Findings>
  /** What `svc doctor --repair` does: puts right what can be, and answers what it mended. */
  mend(): Promise<string[]>
  /** Fails unless every counter is the sum of its claims, each of which has its holder. Returns the sums. */
  sums(): Promise<Sums>
  /** Nothing damaged, every counter right. */
  inOrder(): Promise<void>
  /** Settles, sweeps and reclaims once, as a worker does. */
  upkeep(cleanupGraceMs?: number): Promise<void>
  close(): Promise<void>
}

/** Takes a file's row away, with what search knows of it; its claim is the caller's. */
export const forgetFile = async (tx: Transaction, id: string): Promise<void> => {
  await removeEntry(tx, id)
  await tx.deleteFrom('artifacts').where('id', '=', id).execute()
}

/** Digests of the bytes that are kept in the database. */
export const inlineDigests = async (q: Queries): Promise<string[]> =>
  (await q.selectFrom('inline_bytes').select('sha256').execute()).map(({ sha256 }) => sha256)

interface Sums {
  readonly live: number
  readonly pending: number
  readonly retired: number
}

/** Recomputed here in plain sums, so that an error in the doctor's queries would show as well. */
const sumsOf = async (q: Queries): Promise<Sums> => {
  const claims = await q.selectFrom('claims').select(['repository', 'state', 'size', 'beside']).execute()
  const all = { live: 0, pending: 0, retired: 0 }
  for (const row of await q.selectFrom('repositories').selectAll().execute()) {
    const own = { live: 0, pending: 0, retired: 0 }
    for (const claim of claims) if (claim.repository === row.id) own[claim.state] += claim.size + claim.beside
    assert.deepEqual(
      { live: row.published_bytes, pending: row.pending_bytes, retired: row.retired_bytes },
      own,
      `counters of ${row.id}`,
    )
    for (const state of ['live', 'pending', 'retired'] as const) all[state] += own[state]
  }
  const { value } = await q
    .selectFrom('counters')
    .select('value')
    .where('name', '=', 'reserved_bytes')
    .executeTakeFirstOrThrow()
  assert.equal(value, all.live + all.pending + all.retired, 'reserved_bytes')
  return all
}

export const openInspection = async (service: TestService): Promise<Inspection> => {
  const database = await openDatabase({ url: service.databaseUrl, report: () => {} })
  const settings = readSettings({ SVC_DATA_DIR: service.dataDir, SVC_BLOB_STORE: service.blobStoreUrl })
  const store = withInline(await openBlobStore(settings), database)
  const { clock } = service
  const reclaiming = {
    database,
    store,
    clock,
    timers: realTimers,
    reach: noFaults,
    meter: createReclaimMeter(),
    report: assert.fail,
  }
  const findings = (): Promise<Findings> => findingsIn({ database, store, clock })
  const sums = () => database.snapshot(sumsOf)
  return {
    ...reclaiming,
    async staged() {
      const places = new Set<string>()
      for await (const { place } of store.listStaged()) places.add(place)
      return [...places]
    },
    async stored() {
      const digests = new Set(await inlineDigests(database.reader))
      for await (const { name } of store.list()) digests.add(digestOfName(name))
      return [...digests].sort()
    },
    async nameOf(digest) {
      const row = database.reader
        .selectFrom('blobs')
        .select('generation')
        .where('sha256', '=', digest)
        .executeTakeFirstOrThrow()
      return blobName(toSha256(digest), (await row).generation)
    },
    findings,
    async mend() {
      const mended: string[] = []
      for await (const { kind, text } of mendAll({ database, store, clock })) if (kind === 'mended') mended.push(text)
      return mended
    },
    sums,
    async inOrder() {
      await sums()
      assert.deepEqual((await findings()).damage, [])
    },
    async upkeep(cleanupGraceMs = cleanupGraceHoursDefault * 3_600_000) {
      const deps = { database, store, clock, cleanupGraceMs, report: assert.fail }
      await settleUploads(deps)
      await sweepUploads(deps)
      await settleDeletions(deps)
      await reclaim(reclaiming)
    },
    close: () => database[Symbol.asyncDispose](),
  }
}
