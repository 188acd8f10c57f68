import type { Database, Queries } from '../../../database/database.ts'
import { passedOverBetween } from '../../../journal/repository/gaps.queries.ts'
import { journalHeadAndRowsAfter } from '../../../journal/repository/journal.queries.ts'
import type { JournalWatch, Waiter } from '../../../journal/repository/watch.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { withInnerDetail } from '../../../kernel/journal-actions.ts'
import type { Scope } from '../../../kernel/scope.ts'

/** A line of the journal without who made it. */
interface Change {
  /** Stable for ever: whoever gets a change twice knows it by this. */
  readonly id: string
  readonly repository: string
  readonly sequence: string
  readonly action: string
  readonly artifactId: string
  /** A path or a stage, for actions that have one. */
  readonly detail: string | null
}

export interface ChangePage {
  readonly items: Change[]
  /** Where to go on. */
  readonly next: string
  /** The last change that there is. */
  readonly head: string
}

export interface ChangeDeps {
  readonly database: Database
  readonly watch: JournalWatch
}

interface Wanted {
  /** Null begins with the oldest change that is kept. */
  readonly after: number | null
  readonly limit: number
  readonly waitMs: number
}

interface Asker {
  readonly caller: string
  /** Of the request: its wait ends with it. */
  readonly scope: Scope
  /** Throws what a fresh request of the same credential would be told. */
  admitAgain(): Promise<unknown>
}

/**
 * The next changes of a repository; waits for the first if asked to, and answers an empty page when the time is up, the
 * client has gone or the service stops. 409 `cursor_lost` when what follows the cursor is not what followed it once.
 *
 * Who waited is asked anew whether they may, whatever came of it, and after the last look: so nobody is told of
 * anything that happened after their key, their account or their permission was taken away (I8).
 */
export const nextChanges = async (
  deps: ChangeDeps,
  repository: string,
  wanted: Wanted,
  asker: Asker,
): Promise<ChangePage> => {
  const page = await changesAfter(deps.database, repository, wanted.after, wanted.limit)
  if (page.items.length > 0 || wanted.waitMs === 0) return page
  const waiter = deps.watch.register(repository, asker.caller)
  const leave = asker.scope.own(() => waiter.leave())
  try {
    return await firstChanges(deps, repository, { ...wanted, after: Number(page.next) }, waiter)
  } finally {
    leave()
    // Also instead of a lost cursor, which tells how far the journal is.
    await asker.admitAgain()
  }
}

const firstChanges = async (
  { database }: ChangeDeps,
  repository: string,
  { after, limit, waitMs }: Wanted & { readonly after: number },
  waiter: Waiter,
): Promise<ChangePage> => {
  const until = performance.now() + waitMs
  for (;;) {
    // Looked at again after registering: nothing comes between a look and the wait unheard.
    const seen = await changesAfter(database, repository, after, limit)
    const leftMs = until - performance.now()
    if (seen.items.length > 0 || leftMs <= 0) return seen
    if (!(await waiter.changed(after, leftMs))) return seen
  }
}

/**
 * Sequences of a journal have no gaps but those of restores and commit in their order, so a page that begins right
 * after the cursor misses nothing, and one that does not shows that lines were forgotten meanwhile. A cursor inside of
 * such a gap is of a history that a restore took the place of, and is lost as well.
 */
const changesAfter = async (
  database: Database,
  repository: string,
  after: number | null,
  limit: number,
): Promise<ChangePage> => {
  const rows = await journalHeadAndRowsAfter(database, repository, after ?? 0, limit)
  const head = rows[0]?.journal_head
  if (head === undefined) throw notFound('repository')
  const items = rows
    .flatMap(({ sequence, action, artifact_id, detail }) =>
      sequence === null || action === null || artifact_id === null ? [] : [{ sequence, action, artifact_id, detail }],
    )
    .sort((one, other) => one.sequence - other.sequence)
  const oldest = items[0]?.sequence ?? head + 1
  if (after !== null && oldest !== after + 1 && !(await followsAfterGap(database.reader, repository, after, oldest)))
    throw lost(after, oldest, head)
  return {
    items: items.map(({ sequence, action, artifact_id, detail }) => ({
      id: `${repository}:${sequence}`,
      repository,
      sequence: String(sequence),
      action,
      artifactId: artifact_id,
      detail: withInnerDetail.has(action) ? null : detail,
    })),
    next: String(items.at(-1)?.sequence ?? head),
    head: String(head),
  }
}

/** Nothing but what a restore passed over lies between. */
const followsAfterGap = async (q: Queries, repository: string, after: number, oldest: number): Promise<boolean> =>
  oldest > after && oldest - after - 1 === (await passedOverBetween(q, repository, { after, to: oldest - 1 }))

const lost = (after: number, oldest: number, head: number): Failure =>
  new Failure(
    'cursor_lost',
    after > head
      ? `There is no change ${after} yet: the last one is ${head}, so the cursor is of another repository or of a time before it was restored. ${remedy(head)}`
      : `Changes ${after + 1} to ${oldest - 1} are no longer kept, or of a time before the catalog was restored. ${remedy(head)}`,
  )

const remedy = (head: number): string =>
  `Read the catalog anew and go on with after=${head}, or leave after out to begin with the oldest change that is kept.`
