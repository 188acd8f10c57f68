import { timestamp } from '../../../kernel/clock.ts'
import { hour } from '../../../kernel/units.ts'
import type { KeepRules } from './vocabulary.ts'

/** From when on a thing that came at a moment is old enough: older than the hours of a policy, by full milliseconds. */
export const oldEnoughAt = (at: string, { minAgeHours }: KeepRules): string =>
  timestamp(Date.parse(at) + minAgeHours * hour + 1)

/** What a policy asks of each thing by itself, as the deletion checks it. */
export const criteriaOf = ({ minAgeHours, protectedLabels }: KeepRules, nowMs: number) => ({
  publishedBefore: timestamp(nowMs - minAgeHours * hour),
  protectedLabels,
})
