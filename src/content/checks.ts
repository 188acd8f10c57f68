import { totalOf } from '../database/counters.queries.ts'
import type { Database, Queries } from '../database/database.ts'
import { isSha256, toSha256 } from '../kernel/digest.ts'
import { damage, type Finding, waiting } from '../kernel/finding.ts'
import { checkPage, findingsMax } from '../kernel/limits.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import { knownPlaces } from './assembly.queries.ts'
import {
  blobPage,
  candidateCount,
  claimsWithoutBlob,
  findBlob,
  forgottenBlobs,
  repositorySums,
} from './checks.queries.ts'

/** Proves what sections "Bytes" promises: every claimed byte is there, no byte is forgotten, every counter is its sum. */
export async function* checkContent(parts: { database: Database; store: BlobStore }): AsyncGenerator<Finding> {
  yield* await parts.database.snapshot(checkCounters)
  yield* checkClaims(parts.database.reader)
  yield* checkRows(parts.database.reader, parts.store)
  yield* checkBytes(parts.database.reader, parts.store)
}

const checkCounters = async (q: Queries): Promise<Finding[]> => {
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
          damage(`repository ${row.id}: the counter of ${name} bytes says ${counted}, the claims say ${summed}`),
        )
    }
  }
  const reserved = await totalOf(q, 'reserved_bytes')
  if (reserved !== total)
    findings.push(damage(`the server's counter of reserved bytes says ${reserved}, the claims say ${total}`))
  return findings
}

async function* checkClaims(q: Queries): AsyncGenerator<Finding> {
  for (const claim of await claimsWithoutBlob(q, findingsMax))
    yield damage(
      `repository ${claim.repository}: ${claim.id} is published, but no row says that ${claim.sha256} is stored with ${claim.size} bytes`,
    )
  for (const { sha256 } of await forgottenBlobs(q, findingsMax))
    yield damage(`blob ${sha256} is claimed by nobody and not queued for reclaim`)
  const queued = await candidateCount(q)
  if (queued > 0) yield waiting(`${queued} digests wait for reclaim to look at them`)
}

/** Row to bytes: what is called stored is there, with its size. */
async function* checkRows(q: Queries, store: BlobStore): AsyncGenerator<Finding> {
  let after = ''
  for (;;) {
    const rows = await blobPage(q, after, checkPage)
    for (const row of rows) {
      if (row.state !== 'stored') continue
      const size = await store.size(toSha256(row.sha256))
      if (size === row.size) continue
      // It may have been reclaimed between the two looks.
      if ((await findBlob(q, row.sha256))?.state !== 'stored') continue
      const there = size === null ? 'its bytes are missing' : `the store has ${size} bytes`
      yield damage(`blob ${row.sha256} should have ${row.size} bytes; ${there}`)
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < checkPage) return
    after = last.sha256
  }
}

/** Bytes to row: nothing lies in the store, or half-written beside it, that no row knows. */
async function* checkBytes(q: Queries, store: BlobStore): AsyncGenerator<Finding> {
  for await (const blob of store.list()) {
    if (!isSha256(blob.digest) || (await findBlob(q, blob.digest)) !== undefined) continue
    if ((await store.size(blob.digest)) !== null) yield damage(`the store holds ${blob.digest}, which no row knows`)
  }
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
