import type { Queries } from '../../../database/database.ts'
import { jobsOf } from '../../../jobs/enqueue.ts'
import type { RepositoryAction } from '../../../kernel/actions.ts'
import { cursorAt, type Start } from '../../../kernel/order.ts'
import type { Page } from '../../../kernel/page.ts'
import { toRecord } from '../../catalog/artifacts/views.ts'
import type { ArtifactRecord } from '../../catalog/artifacts/vocabulary.ts'
import { openSessionsOf } from './own.queries.ts'
import { jobRecordOf } from './views.ts'
import type { CompletionJob } from './vocabulary.ts'

/** What somebody may do in a repository now. */
type Held = (repository: string) => Promise<ReadonlySet<RepositoryAction>>

interface Asked {
  readonly owner: string
  readonly held: Held
  readonly start: Start
  readonly limit: number
}

export type OwnUpload = ArtifactRecord & { readonly storedBytes: string }

/**
 * A page of the sessions that a caller has open, in all repositories in which it may still look after them. It may be
 * short and still have a next.
 */
export const ownUploads = async (q: Queries, { owner, held, start, limit }: Asked): Promise<Page<OwnUpload>> => {
  const rows = await openSessionsOf(q, owner, start, limit + 1)
  const seen = await where(held, 'upload.read', rows)
  return pageBeforeSight(rows, { start, limit, seen }, (row) => ({
    ...toRecord({ ...row, size: row.size ?? 0, sha256: row.sha256 ?? '' }, 'pending'),
    storedBytes: String(row.stored_bytes ?? 0),
  }))
}

/** The same of the jobs that a caller asked for, whatever became of them, as long as they are remembered. */
export const ownJobs = async (q: Queries, { owner, held, start, limit }: Asked): Promise<Page<CompletionJob>> => {
  const rows = await jobsOf(q, owner, start, limit + 1)
  const seen = await where(held, 'job.read', rows)
  return pageBeforeSight(rows, { start, limit, seen }, jobRecordOf)
}

/** The repositories of some rows in which an action is held; each is asked for once. */
const where = async (
  held: Held,
  action: RepositoryAction,
  rows: readonly { readonly repository: string }[],
): Promise<ReadonlySet<string>> => {
  const seen = new Set<string>()
  for (const repository of new Set(rows.map((row) => row.repository)))
    if ((await held(repository)).has(action)) seen.add(repository)
  return seen
}

/** A page of so many rows, of which those are shown that may be seen. */
const pageBeforeSight = <Row extends { readonly id: string; readonly repository: string }, Item>(
  rows: readonly Row[],
  { start, limit, seen }: { readonly start: Start; readonly limit: number; readonly seen: ReadonlySet<string> },
  show: (row: Row) => Item,
): Page<Item> => {
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  return {
    items: page.filter(({ repository }) => seen.has(repository)).map(show),
    next: last === undefined ? null : cursorAt(start.order, last.id),
  }
}
