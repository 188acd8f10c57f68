import { setImmediate as nextRound } from 'node:timers/promises'
import type { Database } from '../../../database/database.ts'
import { highestPositionBefore, lowestPositionAfter } from '../../../kernel/id-position.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { searchSteps } from '../../../kernel/limits/search.ts'
import type { Start } from '../../../kernel/order.ts'
import type { SearchFilters } from '../../../kernel/search-text.ts'
import { firstByIndex, onlyByIndex, someByIndex, walk } from './postgres.queries.ts'
import { sqliteStep } from './sqlite.queries.ts'
import { type Wanted, wantedOf } from './wanted.ts'

/** How many hits are handed on together: a page and the one that tells that there is another. */
const batch = pageMax + 1

export type Steps = { readonly [K in keyof typeof searchSteps]: number }

/**
 * Ids of files that most likely match, in order, after an id, some at a time. Every file that matches all the while is
 * among them. Each step is bounded, so that no search holds up the process for long.
 */
export const candidates = (
  database: Database,
  repository: string,
  filters: SearchFilters,
  { order, after }: Start,
  steps: Steps = searchSteps,
): AsyncGenerator<string[]> => {
  const wanted = wantedOf(repository, filters, order)
  return database.engine === 'sqlite'
    ? onSqlite(database, wanted, after, steps)
    : onPostgres(database, wanted, after, steps)
}

/** The index answers in order and as it goes. What has all tokens but not the needle makes steps longer. */
async function* onSqlite(database: Database, wanted: Wanted, after: string, steps: Steps): AsyncGenerator<string[]> {
  const onwards = wanted.order === 'asc' ? 1 : -1
  let from = onwards === 1 ? lowestPositionAfter(after) : highestPositionBefore(after)
  for (let limit = steps.rowsFirst; ; limit = Math.min(limit * 2, steps.rowsMax)) {
    const found = await sqliteStep(database.reader, wanted, { from, after, limit })
    yield found.flatMap(({ artifact_id, hit }) => (artifact_id !== null && hit === 1 ? [artifact_id] : []))
    await nextRound()
    const last = found.at(-1)
    if (last === undefined || new Set(found.map(({ position }) => position)).size < limit) return
    from = last.position + onwards
  }
}

/**
 * Walks as long as there are hits enough by the way: pages of what is common need nothing else. What is rarer is asked
 * of the index, once: if its answer is short, that is all there is. If not, walking on is cheaper than to have it
 * sorted, for a while.
 */
async function* onPostgres(database: Database, wanted: Wanted, after: string, steps: Steps): AsyncGenerator<string[]> {
  let from = after
  let walked = 0
  let hits = 0
  let asked = false
  for (let rows = steps.rowsFirst; walked < steps.walkRowsMax; rows = rowsToFill(walked, hits, steps)) {
    const { ids, last } = await walk(database.reader, wanted, from, { rows, limit: batch })
    yield ids
    if (last === null) return
    from = last
    walked += rows
    hits += ids.length
    if (asked || hits * steps.walkRowsPerHit >= walked) continue
    asked = true
    const few = await fewByIndex(database, wanted, from, steps.indexRowsMax)
    if (few === null) continue
    yield few
    return
  }
  for (;;) {
    const ids = await sortedByIndex(database, wanted, from)
    yield ids
    const last = ids.at(-1)
    if (last === undefined || ids.length < batch) return
    from = last
  }
}

/** How many more entries will most likely fill the page. */
const rowsToFill = (walked: number, hits: number, { rowsFirst, rowsMax }: Steps): number =>
  Math.max(rowsFirst, Math.min(Math.ceil((1.2 * walked * (batch - hits)) / Math.max(hits, 1)), rowsMax))

/** All hits after an id, in order, if the index proposes no more than so many files; else null. */
const fewByIndex = (database: Database, wanted: Wanted, after: string, rowsMax: number): Promise<string[] | null> =>
  database.snapshot(async (q) => {
    await onlyByIndex(q)
    const some = await someByIndex(q, wanted, after, rowsMax + 1)
    if (some.length > rowsMax) return null
    const ids = some.flatMap(({ artifact_id, hit }) => (hit === 1 ? [artifact_id] : [])).sort()
    return wanted.order === 'asc' ? ids : ids.reverse()
  })

const sortedByIndex = (database: Database, wanted: Wanted, after: string): Promise<string[]> =>
  database.snapshot(async (q) => {
    await onlyByIndex(q)
    return firstByIndex(q, wanted, after, batch)
  })
