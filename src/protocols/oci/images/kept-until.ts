import type { Database } from '../../../database/database.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { unkeptForMs } from '../grace.ts'
import { graceHoursHere } from '../keeping.queries.ts'

export interface KeepingDeps {
  readonly database: Pick<Database, 'reader'>
  /** The server's grace period. */
  readonly cleanupGraceMs: number
}

/**
 * Until when a manifest of a repository is surely kept, by since when nothing keeps it; null while something does.
 */
export const keptUntil = async (
  { database, cleanupGraceMs }: KeepingDeps,
  repository: string,
): Promise<(unusedSince: string | null) => string | null> => {
  const graceHours = await graceHoursHere(database.reader, repository)
  const keptMs = unkeptForMs(graceHours, cleanupGraceMs)
  return (unusedSince) => (unusedSince === null ? null : timestamp(Date.parse(unusedSince) + keptMs))
}
