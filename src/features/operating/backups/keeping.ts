import { Cron } from 'croner'
import { timestamp } from '../../../kernel/clock.ts'
import { clockAheadMs } from '../../../kernel/limits/backups.ts'
import { day as dayMs, hour as hourMs, minute as minuteMs } from '../../../kernel/units.ts'

/** How many points are kept, of the newest of each day, week and month. */
export interface Keeping {
  readonly daily: number
  readonly weekly: number
  readonly monthly: number
}

export interface KeptPoint {
  readonly id: string
  readonly snapshotAtMs: number
  readonly pinned: boolean
  /** Whether nothing of it was found to be missing or damaged. */
  readonly sound: boolean
}

/**
 * Which points a plan lets go. Kept are the newest point of each of the last so many days, weeks and months that have
 * one, by the calendar of the zone; whatever is pinned; and always the newest of all. What is kept so of all points is
 * kept of those alone that are sound as well: none of them goes in favour of one that is damaged.
 */
export const pointsToForget = (points: readonly KeptPoint[], keeping: Keeping, timezone: string): string[] => {
  const newestFirst = [...points].sort((a, b) => b.snapshotAtMs - a.snapshotAtMs || (a.id < b.id ? 1 : -1))
  const sound = newestFirst.filter((point) => point.sound)
  const dayOf = dayIn(timezone)
  const kept = new Set([...newestFirst.slice(0, 1), ...sound.slice(0, 1)].map(({ id }) => id))
  for (const { id, pinned } of newestFirst) if (pinned) kept.add(id)
  const rules = [
    [keeping.daily, (at: Day) => at.day],
    [keeping.weekly, (at: Day) => at.week],
    [keeping.monthly, (at: Day) => at.month],
  ] as const
  for (const [count, periodOf] of rules)
    for (const among of [newestFirst, sound]) {
      const seen = new Set<string>()
      for (const { id, snapshotAtMs } of among) {
        const period = periodOf(dayOf(snapshotAtMs))
        if (seen.has(period)) continue
        if (seen.size === count) break
        seen.add(period)
        kept.add(id)
      }
    }
  return newestFirst.filter(({ id }) => !kept.has(id)).map(({ id }) => id)
}

/** The last moment that may have been told by a clock that is right. */
export const untilNow = (nowMs: number): string => timestamp(nowMs + clockAheadMs)

/** Whether a time was told by a clock that was ahead. */
export const isOfFuture = (at: string, nowMs: number): boolean => Date.parse(at) > nowMs + clockAheadMs

interface Day {
  readonly day: string
  /** The Monday that it begins with. */
  readonly week: string
  readonly month: string
}

const dayIn = (timezone: string): ((atMs: number) => Day) => {
  const calendar = new Intl.DateTimeFormat('en-CA', {
    timeZone: timezone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  return (atMs) => {
    const day = calendar.format(atMs)
    const asUtc = Date.parse(`${day}T00:00:00Z`)
    const sinceMonday = (new Date(asUtc).getUTCDay() + 6) % 7
    return { day, week: new Date(asUtc - sinceMonday * dayMs).toISOString().slice(0, 10), month: day.slice(0, 7) }
  }
}

/** When a plan runs: every day at a time of a zone. */
export interface DailyTime {
  readonly hour: number
  readonly minute: number
  readonly timezone: string
}

/**
 * The first run after a moment. A time that a day does not have, since clocks are put forward, is made up for as soon
 * as they were; one that a day has twice counts once.
 */
export const nextRunMs = ({ hour, minute, timezone }: DailyTime, afterMs: number): number => {
  const next = new Cron(`${minute} ${hour} * * *`, { timezone, paused: true }).nextRun(new Date(afterMs))
  if (next === null) throw new RangeError(`a plan at ${hour}:${minute} in ${timezone} never runs`)
  const skipped = forwardWithin(timezone, afterMs, next.getTime())
  return skipped !== null && next.getTime() - afterMs > longestDayMs ? skipped : next.getTime()
}

/** A day on which clocks are put back, by two hours at most. */
const longestDayMs = dayMs + 2 * hourMs

/** When clocks of a zone are put forward between two moments; null where they are not. To the minute. */
const forwardWithin = (timezone: string, fromMs: number, toMs: number): number | null => {
  const clock = new Intl.DateTimeFormat('en-CA', {
    timeZone: timezone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
  })
  const aheadMs = (atMs: number): number => {
    const [year, month, day, hour, minute] = clock
      .formatToParts(atMs)
      .filter(({ type }) => type !== 'literal')
      .map(({ value }) => Number(value))
    return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute) - Math.floor(atMs / minuteMs) * minuteMs
  }
  let [before, after] = [Math.floor(fromMs / minuteMs) * minuteMs, Math.floor(toMs / minuteMs) * minuteMs]
  if (aheadMs(after) <= aheadMs(before)) return null
  const first = aheadMs(before)
  while (after - before > minuteMs) {
    const middle = Math.floor((before + after) / 2 / minuteMs) * minuteMs
    if (aheadMs(middle) > first) after = middle
    else before = middle
  }
  return after
}

/** Whether the names of zones know it. An offset is no zone: it knows no daylight saving. */
export const isTimezone = (text: string): boolean => {
  if (/^[+-]/.test(text)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
