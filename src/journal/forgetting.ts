import type { Database } from '../database/database.ts'
import { type Clock, timestamp } from '../kernel/clock.ts'
import { journalLinesHeldMs, retentionBatch } from '../kernel/limits/journal.ts'
import { checkPage } from '../kernel/limits/upkeep.ts'
import { upkeepRun } from '../kernel/one-by-one.ts'
import {
  deleteLines,
  deleteSecurityLines,
  type OldLine,
  oldestLines,
  oldestSecurityLines,
  type Run,
  repositoriesAfter,
} from './forgetting.queries.ts'
import { cursorFloor } from './repository/cursors.ts'

export interface RetentionDeps {
  readonly database: Database
  readonly clock: Clock
  /** How long lines are kept. */
  readonly journalRetentionMs: number
  readonly securityAuditRetentionMs: number
  readonly report: (message: string, error: unknown) => void
  /** Told when lines go, or soon will, that a consumer has not come to. */
  readonly linesNeeded?: (told: NeededLines) => void
}

/** Old lines of a journal that a consumer has not come to. */
export interface NeededLines {
  readonly repository: string
  /** How far the slowest consumer has come. */
  readonly consumerAt: number
  /** The last line that is gone with this, or null while they are kept for the consumer. */
  readonly goneTo: number | null
}

/**
 * Forgets what is older than it is to be kept, from the beginning of each journal on, so that what is left has no gaps.
 * An idempotent function of the database, a batch a transaction; `late` ends it between two. A line beyond the cursor
 * of a consumer stays {@link journalLinesHeldMs} longer than others, and whoever looks after the service is told so; it
 * is told louder when such a line goes.
 */
export const forgetOldLines = async (deps: RetentionDeps, late: () => boolean = () => false): Promise<void> => {
  const { database, clock } = deps
  const run = upkeepRun(deps.report)
  const journalsBefore = timestamp(clock.now() - deps.journalRetentionMs)
  for (let after = ''; !late(); ) {
    const repositories = await repositoriesAfter(database.reader, after, checkPage)
    for (const repository of repositories)
      if (!late())
        await run.attempt(`forgetting old lines of the journal of ${repository}`, () =>
          forgetJournal(deps, repository, journalsBefore, late),
        )
    after = repositories.at(-1) ?? ''
    if (repositories.length < checkPage) break
  }
  await run.attempt('forgetting old lines of the security audit', () =>
    forgetSecurityAudit(database, timestamp(clock.now() - deps.securityAuditRetentionMs), late),
  )
  run.end()
}

/** Losing this to a power cut costs doing it again. */
const relaxed = { durability: 'relaxed' } as const

const forgetJournal = async (
  { database, linesNeeded = () => {} }: RetentionDeps,
  repository: string,
  before: string,
  late: () => boolean,
): Promise<void> => {
  const heldBefore = timestamp(Date.parse(before) - journalLinesHeldMs)
  // Most journals have nothing to forget: their first line says so.
  if (oldRun(await oldestLines(database.reader, repository, 1), before) === null) return
  while (!late()) {
    const lines = await oldestLines(database.reader, repository, retentionBatch)
    // Lines first, cursors second: one that is opened meanwhile begins beyond all lines that were old when they were
    // read.
    const floor = await cursorFloor(database.reader, repository)
    const run = oldRun(lines, before, floor === null ? null : { floor, before: heldBefore })
    if (floor !== null && (oldRun(lines, before)?.last ?? floor) > floor) {
      const goneTo = run !== null && run.last > floor ? run.last : null
      linesNeeded({ repository, consumerAt: floor, goneTo })
    }
    if (run === null) return
    await database.transaction((tx) => deleteLines(tx, repository, run), relaxed)
    if (run.last !== lines.at(-1)?.sequence) return
  }
}

const forgetSecurityAudit = async (database: Database, before: string, late: () => boolean): Promise<void> => {
  while (!late()) {
    const lines = await oldestSecurityLines(database.reader, retentionBatch)
    const run = oldRun(lines, before)
    if (run === null) return
    await database.transaction((tx) => deleteSecurityLines(tx, run), relaxed)
    if (run.last !== lines.at(-1)?.sequence) return
  }
}

/** What consumers have not come to: lines beyond a floor, which are kept until they are older than this as well. */
interface Needed {
  readonly floor: number
  readonly before: string
}

/** The first lines as far as all of them are old enough; null where the first is kept. */
const oldRun = (lines: readonly OldLine[], before: string, needed: Needed | null = null): Run | null => {
  const isKept = ({ occurred_at, sequence }: OldLine): boolean =>
    occurred_at >= before || (needed !== null && sequence > needed.floor && occurred_at >= needed.before)
  const kept = lines.findIndex(isKept)
  const old = kept === -1 ? lines : lines.slice(0, kept)
  const [first, last] = [old.at(0), old.at(-1)]
  return first === undefined || last === undefined ? null : { first: first.sequence, last: last.sequence }
}
