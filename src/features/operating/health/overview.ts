import type { FreeSpace } from '../../../content/ingest/free-space.ts'
import { totalOf } from '../../../database/counters.queries.ts'
import type { Database } from '../../../database/database.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { day } from '../../../kernel/units.ts'
import { failedJobs, openSessions, publishedBytes, upkeepRuns } from './overview.queries.ts'

export interface OverviewDeps {
  readonly database: Database
  readonly clock: Clock
  readonly freeSpace: FreeSpace
}

type Asked = Pick<OverviewDeps, 'database'>

/** What one looks at first. Null is what cannot be asked now. */
export const figures = {
  publishedBytes: ({ database }: Asked) => publishedBytes(database.reader),
  reservedBytes: ({ database }: Asked) => totalOf(database.reader, 'reserved_bytes'),
  openSessions: ({ database }: Asked) => openSessions(database.reader),
  openJobs: ({ database }: Asked) => totalOf(database.reader, 'open_jobs'),
  /** Within a day. */
  failedJobs: ({ database, clock }: OverviewDeps) => failedJobs(database.reader, timestamp(clock.now() - day)),
  freeBytes: ({ freeSpace }: OverviewDeps) => freeSpace.freeBytes(),
  upkeep: ({ database }: OverviewDeps) => upkeepRuns(database.reader),
}

/** Null instead of what fails: this is for bad times, and one thing that is away does not take the others along. */
export const ifPossible = <T>(asked: Promise<T>): Promise<T | null> => asked.catch(() => null)
