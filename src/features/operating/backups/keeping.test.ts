import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { day, hour, minute } from '../../../kernel/units.ts'
import { isTimezone, type Keeping, type KeptPoint, nextRunMs, pointsToForget } from './keeping.ts'

const zones = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Pacific/Apia', 'Asia/Kathmandu', 'Australia/Lord_Howe']
const at = (text: string): number => Date.parse(text)
const local = (ms: number, timezone: string): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' }).format(ms)

/** What is kept, told by another way of counting: of all points, and of the sound ones as if there were no others. */
const keptByHand = (points: readonly KeptPoint[], keeping: Keeping, timezone: string): Set<string> =>
  lastOfPeriods(points, keeping, timezone).union(
    lastOfPeriods(
      points.filter(({ sound }) => sound),
      keeping,
      timezone,
    ),
  )

/** For each rule the last point of each of the newest periods. */
const lastOfPeriods = (points: readonly KeptPoint[], keeping: Keeping, timezone: string): Set<string> => {
  const sorted = [...points].sort((a, b) => a.snapshotAtMs - b.snapshotAtMs || (a.id < b.id ? -1 : 1))
  const kept = new Set(sorted.filter(({ pinned }) => pinned).map(({ id }) => id))
  const newest = sorted.at(-1)
  if (newest !== undefined) kept.add(newest.id)
  const monday = (date: string): string => {
    const start = new Date(`${date}T12:00:00Z`)
    while (start.getUTCDay() !== 1) start.setUTCDate(start.getUTCDate() - 1)
    return start.toISOString().slice(0, 10)
  }
  const dateOf = ({ snapshotAtMs }: KeptPoint): string => local(snapshotAtMs, timezone).slice(0, 10)
  for (const [count, period] of [
    [keeping.daily, dateOf],
    [keeping.weekly, (point: KeptPoint) => monday(dateOf(point))],
    [keeping.monthly, (point: KeptPoint) => dateOf(point).slice(0, 7)],
  ] as const) {
    const last = new Map<string, string>()
    for (const point of sorted) last.set(period(point), point.id)
    for (const key of [...last.keys()].sort().slice(-count)) if (count > 0) kept.add(last.get(key) ?? '')
  }
  return kept
}

describe('what a plan keeps', () => {
  it('is the newest of each day, week and month, whatever is pinned, and the newest of all', () => {
    const points = fc.array(
      fc.record({
        id: fc.uuid(),
        snapshotAtMs: fc.integer({ min: at('2024-01-01T00:00:00Z'), max: at('2027-12-31T00:00:00Z') }),
        pinned: fc.boolean(),
        sound: fc.boolean(),
      }),
      { maxLength: 200 },
    )
    const keeping = fc.record({
      daily: fc.nat({ max: 40 }),
      weekly: fc.nat({ max: 20 }),
      monthly: fc.nat({ max: 20 }),
    })
    fc.assert(
      fc.property(points, keeping, fc.constantFrom(...zones), (some, plan, timezone) => {
        const forgotten = new Set(pointsToForget(some, plan, timezone))
        const kept = some.filter(({ id }) => !forgotten.has(id)).map(({ id }) => id)
        assert.deepEqual(new Set(kept), keptByHand(some, plan, timezone))
      }),
      { numRuns: 60 },
    )
  })

  it('has years behind it once it has run for years, with never more points than the plan says', () => {
    for (const timezone of zones.slice(1, 3)) {
      const plan = { daily: 7, weekly: 4, monthly: 24 }
      const time = { hour: 2, minute: 30, timezone }
      let points: KeptPoint[] = []
      let nowMs = at('2023-06-01T00:00:00Z')
      for (let run = 0; run < 1_100; run++) {
        nowMs = nextRunMs(time, nowMs)
        points.push({ id: crypto.randomUUID(), snapshotAtMs: nowMs, pinned: run === 17, sound: true })
        const forgotten = new Set(pointsToForget(points, plan, timezone))
        points = points.filter(({ id }) => !forgotten.has(id))
        assert.ok(points.length <= 7 + 4 + 24 + 1)
        assert.equal(points.at(-1)?.snapshotAtMs, nowMs, 'the newest stays')
      }
      assert.equal(points.filter(({ pinned }) => pinned).length, 1)
      const months = new Set(points.map(({ snapshotAtMs }) => local(snapshotAtMs, timezone).slice(0, 7)))
      assert.ok(months.size >= 24, `${months.size} months in ${timezone}`)
    }
  })
})

describe('a point that is damaged', () => {
  it('takes the place of none that is sound, though it is newer', () => {
    const plan = { daily: 1, weekly: 0, monthly: 0 }
    const point = (id: string, hours: number, sound: boolean): KeptPoint => ({
      id,
      snapshotAtMs: at('2026-05-01T00:00:00Z') + hours * hour,
      pinned: false,
      sound,
    })
    const points = [point('old', 1, true), point('good', 2, true), point('bad', 3, false), point('worse', 4, false)]
    assert.deepEqual(pointsToForget(points, plan, 'UTC').sort(), ['bad', 'old'])
  })
})

describe('a plan', () => {
  it('runs once a day at its time, through every change of clocks', () => {
    for (const timezone of zones.slice(1, 4)) {
      const days = new Set<string>()
      let nowMs = at('2024-12-31T12:00:00Z')
      for (let run = 0; run < 731; run++) {
        const next = nextRunMs({ hour: 2, minute: 30, timezone }, nowMs)
        assert.ok(next > nowMs && next - nowMs <= day + hour + minute, `${local(next, timezone)} in ${timezone}`)
        days.add(local(next, timezone).slice(0, 10))
        nowMs = next
      }
      assert.equal(days.size, 731, timezone)
    }
  })

  it('makes up for an hour that a day does not have, and counts one that it has twice once', () => {
    const berlin = { hour: 2, minute: 30, timezone: 'Europe/Berlin' }
    assert.equal(new Date(nextRunMs(berlin, at('2026-03-28T12:00:00Z'))).toISOString(), '2026-03-29T01:00:00.000Z')
    const first = nextRunMs(berlin, at('2026-10-24T12:00:00Z'))
    assert.equal(local(first, berlin.timezone), '2026-10-25 02:30')
    assert.equal(local(nextRunMs(berlin, first), berlin.timezone), '2026-10-26 02:30')
  })

  it('makes up for one that a day lacks at its end, where clocks go forward over midnight', () => {
    const nuuk = { hour: 23, minute: 59, timezone: 'America/Nuuk' }
    const made = nextRunMs(nuuk, at('2026-03-28T01:59:00Z'))
    assert.equal(new Date(made).toISOString(), '2026-03-29T01:00:00.000Z')
    assert.equal(local(nextRunMs(nuuk, made), nuuk.timezone), '2026-03-29 23:59')
    // Where a day is none there is nothing to make up for.
    const apia = { hour: 2, minute: 30, timezone: 'Pacific/Apia' }
    assert.equal(local(nextRunMs(apia, at('2011-12-29T13:00:00Z')), apia.timezone), '2011-12-31 02:30')
  })

  it('knows the names of zones', () => {
    for (const good of zones) assert.equal(isTimezone(good), true)
    for (const bad of ['Nowhere/Land', '', 'Europe', '; drop', '+02:00', '-0330']) assert.equal(isTimezone(bad), false)
  })
})
