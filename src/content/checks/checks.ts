import { totalOf } from '../../database/counters.queries.ts'
import type { Database, Queries } from '../../database/database.ts'
import { atOnce } from '../../kernel/at-once.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import { toSha256 } from '../../kernel/digest.ts'
import { damage, type Finding, quarantined, waiting } from '../../kernel/finding.ts'
import {
  checkedAtOnce,
  checkPage,
  findingsMax,
  reclaimQueueCountedMax,
  removalTriesUnnamed,
} from '../../kernel/limits/upkeep.ts'
import { blobName } from '../../ports/blob-name.ts'
import type { BlobStore } from '../../ports/blob-store.ts'
import { knownPlaces } from '../assembly/assembly.queries.ts'
import { isStoredAs } from '../claims/claims.queries.ts'
import { recountRepository, recountServer } from '../claims/claims.ts'
import { foreignOwner } from '../claims/ownership.ts'
import { queueForgotten } from '../reclaim/reclaim-queue.ts'
import { removalCount, stuckRemovals } from '../reclaim/removal.queries.ts'
import { blobPage, candidateCount, claimsWithoutBlob, forgottenBlobs, repositorySums } from './checks.queries.ts'
import { quarantine, strangers } from './quarantine.ts'
import { checkInline } from './stray-inline.ts'

export interface CheckedDeps {
  readonly database: Database
  readonly store: BlobStore
  readonly clock: Clock
}

/**
 * Proves what sections "Bytes" promises: every claimed byte is there, no byte is forgotten, every counter is its sum.
 */
export async function* checkContent(deps: CheckedDeps): AsyncGenerator<Finding> {
  const owner = await foreignOwner(deps)
  if (owner !== null) yield damage(owner)
  yield* await deps.database.snapshot((q) => checkCounters(q, deps.database))
  yield* checkClaims(deps)
  yield* checkRemovals(deps)
  yield* checkRows(deps)
  yield* checkInline(deps.database)
  yield* checkBytes(deps)
}

const checkCounters = async (q: Queries, database: Database): Promise<Finding[]> => {
  const findings: Finding[] = []
  let total = 0
  for (const row of await repositorySums(q)) {
    const pairs = [
      ['published', row.published_bytes, row.live],
      ['pending', row.pending_bytes, row.pending],
      ['retired', row.retired_bytes, row.retired],
    ] as const
    for (const [name, counted, summed] of pairs) {
      total += summed
      if (counted !== summed)
        findings.push(
          damage(`repository ${row.id}: the counter of ${name} bytes says ${counted}, the claims say ${summed}`, () =>
            database.transaction((tx) => recountRepository(tx, row.id)),
          ),
        )
    }
  }
  const reserved = await totalOf(q, 'reserved_bytes')
  if (reserved !== total)
    findings.push(
      damage(`the server's counter of reserved bytes says ${reserved}, the claims say ${total}`, () =>
        database.transaction(recountServer),
      ),
    )
  return findings
}

async function* checkClaims({ database, clock }: CheckedDeps): AsyncGenerator<Finding> {
  const q = database.reader
  for (const claim of await claimsWithoutBlob(q, findingsMax))
    yield damage(
      `repository ${claim.repository}: ${claim.id} is published, but no row says that ${claim.sha256} is stored with ${claim.size} bytes`,
    )
  for (const { sha256 } of await forgottenBlobs(q, findingsMax))
    yield damage(`blob ${sha256} is claimed by nobody and not queued for reclaim`, () =>
      database.transaction((tx) => queueForgotten(tx, sha256, timestamp(clock.now()))),
    )
  const queued = await candidateCount(q)
  if (queued > 0) yield waiting(`${queued} digests wait for reclaim to look at them`)
}

/** Bytes that were given up and are still to be removed. Those that fail again and again are named. */
async function* checkRemovals({ database }: CheckedDeps): AsyncGenerator<Finding> {
  const q = database.reader
  const removals = await removalCount(q, reclaimQueueCountedMax)
  if (removals > 0) yield waiting(`${removals} blobs that nobody holds are still to be removed from the store`)
  for (const { name, begun_at, tries } of await stuckRemovals(q, removalTriesUnnamed, findingsMax))
    yield waiting(`the bytes ${name} could not be removed since ${begun_at}, in ${tries} tries; the log says why`)
}

/** Row to bytes: what is called stored is there, with its size, and where its row says. */
async function* checkRows({ database, store }: CheckedDeps): AsyncGenerator<Finding> {
  const q = database.reader
  let after = ''
  for (;;) {
    const rows = await blobPage(q, after, checkPage)
    const sizes: (number | null)[] = []
    await atOnce(rows, checkedAtOnce, async ({ state, sha256, generation }, index) => {
      if (state === 'stored') sizes[index] = await store.size(blobName(toSha256(sha256), generation))
    })
    for (const [index, row] of rows.entries()) {
      const size = sizes[index] ?? null
      if (row.state !== 'stored' || size === row.size) continue
      // It may have been reclaimed between the two looks.
      if (!(await isStoredAs(q, row.sha256, row.generation))) continue
      const where = row.inline === 1 ? 'database' : 'store'
      const there = size === null ? 'its bytes are missing' : `the ${where} has ${size} bytes`
      yield damage(`blob ${row.sha256} should have ${row.size} bytes; ${there}`)
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < checkPage) return
    after = last.sha256
  }
}

/** Bytes to row: nothing lies in the store, or half-written beside it, that no row knows. */
async function* checkBytes({ database, store, clock }: CheckedDeps): AsyncGenerator<Finding> {
  const q = database.reader
  let found = 0
  for await (const { name, bytes } of strangers({ database, store })) {
    const since = await quarantine({ database, clock }, name, bytes)
    found += 1
    if (found <= findingsMax)
      yield quarantined(
        `the store holds ${name} (${bytes} bytes), which no row knows; it is kept, first seen at ${since}`,
      )
  }
  if (found > findingsMax) yield quarantined(`the store holds ${found - findingsMax} more that no row knows`)
  const places = new Set<string>()
  let remains = 0
  for await (const { place } of store.listStaged()) {
    places.add(place)
    if (places.size < checkPage) continue
    remains += await withoutAssembly(q, places)
    places.clear()
  }
  remains += await withoutAssembly(q, places)
  if (remains > 0) yield waiting(`${remains} staging places are in use or wait for the sweep`)
}

/** How many of these places hold no parts of an upload that goes on. */
const withoutAssembly = async (q: Queries, places: ReadonlySet<string>): Promise<number> =>
  places.size === 0 ? 0 : places.size - (await knownPlaces(q, [...places])).length
