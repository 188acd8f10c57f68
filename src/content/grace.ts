import type { Queries } from '../database/database.ts'
import { timestamp } from '../kernel/clock.ts'
import { graceOverrides, retiredUnderGrace } from './grace.queries.ts'

const hourMs = 3_600_000

/**
 * Claims that were retired so long ago that the grace period of their repository is over: the ids of at most `limit`. Each
 * repository has the server's grace period unless it was given one of its own.
 */
export const claimsPastGrace = async (
  q: Queries,
  nowMs: number,
  serverGraceMs: number,
  limit: number,
): Promise<string[]> => {
  const due = await retiredUnderGrace(q, null, timestamp(nowMs - serverGraceMs), limit)
  for (const hours of await graceOverrides(q)) {
    if (due.length >= limit) break
    due.push(...(await retiredUnderGrace(q, hours, timestamp(nowMs - hours * hourMs), limit - due.length)))
  }
  return due
}

/** When what was retired at a moment can no longer be brought back, in milliseconds. */
export const graceEndMs = (retiredAt: string, graceHours: number | null, serverGraceMs: number): number =>
  Date.parse(retiredAt) + (graceHours === null ? serverGraceMs : graceHours * hourMs)
