import type { Queries } from '../../database/database.ts'
import { timestamp } from '../../kernel/clock.ts'
import { repositoriesPage } from '../../kernel/limits/engines.ts'
import { hour } from '../../kernel/units.ts'
import { oldestRetired, retiredUntil } from './grace.queries.ts'

/**
 * Claims that were retired so long ago that the grace period of their repository is over: the ids of at most `limit`.
 * Each repository has the server's grace period unless it was given one of its own. What waits in a repository whose
 * period is longer is not looked at: there may be hundreds of thousands.
 */
export const claimsPastGrace = async (
  q: Queries,
  nowMs: number,
  serverGraceMs: number,
  limit: number,
): Promise<string[]> => {
  const due: string[] = []
  for (let after = ''; ; ) {
    const page = await oldestRetired(q, after, repositoriesPage)
    for (const { id, grace_hours, oldest } of page) {
      const until = timestamp(nowMs - (grace_hours === null ? serverGraceMs : grace_hours * hour))
      if (oldest === null || oldest > until) continue
      due.push(...(await retiredUntil(q, id, until, limit - due.length)))
      if (due.length >= limit) return due
    }
    const last = page.at(-1)
    if (last === undefined || page.length < repositoriesPage) return due
    after = last.id
  }
}

/** When what was retired at a moment can no longer be brought back, in milliseconds. */
export const graceEndMs = (retiredAt: string, graceHours: number | null, serverGraceMs: number): number =>
  Date.parse(retiredAt) + (graceHours === null ? serverGraceMs : graceHours * hour)
