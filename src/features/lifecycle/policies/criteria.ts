import type { Queries } from '../../../database/database.ts'
import { timestamp, utcMs } from '../../../kernel/clock.ts'
import { invalid } from '../../../kernel/failure.ts'
import { candidatesLookedAtMax } from '../../../kernel/limits/lifecycle.ts'
import { checkPage } from '../../../kernel/limits/upkeep.ts'
import { type Deletion, type DeletionDeps, deleteEach, type Unwanted } from '../deletion/deletion.ts'
import { type Criteria, type Eligibility, eligibilityOf } from '../deletion/eligibility.ts'
import { publicationsAfter } from './criteria.queries.ts'

/** 400 unless the criteria name a moment that was. */
const refuseFuture = ({ publishedBefore }: Criteria, nowMs: number): void => {
  const moment = utcMs(publishedBefore)
  if (moment === null) throw invalid('/criteria/publishedBefore', 'must be a time that a calendar and a clock show')
  if (moment > nowMs) throw invalid('/criteria/publishedBefore', `must be in the past; it is ${timestamp(nowMs)}`)
}

/**
 * Files that were published early enough, each with what keeps it, in the order of their ids. A page looks at a bounded
 * number of files, and may therefore be short of its limit, or empty, while `next` says where to go on.
 */
export const retentionCandidates = async (
  { database, clock }: Pick<DeletionDeps, 'database' | 'clock'>,
  repository: string,
  criteria: Criteria,
  page: { readonly after: string; readonly limit: number },
): Promise<{ items: Eligibility[]; next: string | null }> => {
  refuseFuture(criteria, clock.now())
  const { ids, next } = await earlyEnough(database.reader, repository, criteria, page)
  const found = await eligibilityOf(database.reader, repository, ids, criteria)
  return { items: ids.flatMap((id) => found.get(id) ?? []), next }
}

const earlyEnough = async (
  q: Queries,
  repository: string,
  { publishedBefore }: Criteria,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ ids: string[]; next: string | null }> => {
  const ids: string[] = []
  let last = after
  for (let looked = 0; looked < candidatesLookedAtMax; looked += checkPage) {
    const rows = await publicationsAfter(q, repository, last, checkPage)
    for (const { id, published_at } of rows) {
      // One more than a page: only then is there a next one.
      if (published_at < publishedBefore && ids.length === limit) return { ids, next: last }
      if (published_at < publishedBefore) ids.push(id)
      last = id
    }
    if (rows.length < checkPage) return { ids, next: null }
  }
  return { ids, next: last }
}

/** Deletes those of the files that the criteria let go, in one transaction. Repeating it is harmless. */
export const applyRetention = (
  deps: DeletionDeps,
  repository: string,
  criteria: Criteria,
  unwanted: readonly Unwanted[],
  actor: string,
): Promise<Deletion[]> => {
  refuseFuture(criteria, deps.clock.now())
  return deps.database.transaction((tx) => deleteEach(deps, tx, repository, { unwanted, criteria }, actor))
}
