import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DownloadClass } from '../../kernel/download-class.ts'
import { downloadClassShares } from '../../kernel/limits/downloads.ts'
import { seeded, VirtualTime } from '../../kernel/virtual-time.suite.ts'
import { FairQueue, type Holding } from './fair-queue.ts'

/**
 * Simulations of the queue alone, on a virtual clock: callers with habits of their own want downloads all the time,
 * each takes a while, and what they got is compared with what is fair. Nothing is left to chance but what the seed
 * says.
 */
interface Habit {
  readonly caller: string
  readonly downloadClass: DownloadClass
  /** Downloads that it wants at once. */
  readonly eager: number
  /** How long one takes. */
  readonly takesMs: () => number
  /** When it comes; at the beginning if nothing is said. */
  readonly fromMs?: number
  readonly untilMs?: number
}

interface Outcome {
  /** Time for which slots were held between `fromMs` and `untilMs`, by caller. */
  readonly heldMs: ReadonlyMap<string, number>
  readonly longestWaitMs: ReadonlyMap<string, number>
  readonly served: ReadonlyMap<string, number>
}

const simulate = (
  habits: readonly Habit[],
  {
    slots,
    seconds,
    guessMs = 1_000,
    measureFromMs = 0,
  }: { slots: number; seconds: number; guessMs?: number; measureFromMs?: number },
): Outcome => {
  const time = new VirtualTime()
  const queue = new FairQueue<{ habit: Habit; atMs: number }>()
  const heldMs = new Map<string, number>()
  const longestWaitMs = new Map<string, number>()
  const served = new Map<string, number>()
  const endMs = seconds * 1000
  const note = (to: Map<string, number>, { caller }: Habit, value: (before: number) => number): void => {
    to.set(caller, value(to.get(caller) ?? 0))
  }
  const want = (habit: Habit): void => {
    if (time.now() >= (habit.untilMs ?? endMs)) return
    const { caller, downloadClass } = habit
    queue.add({ caller, downloadClass, sinceMs: time.now(), costMs: guessMs, item: { habit, atMs: time.now() } })
  }
  const begin = (holding: Holding<{ habit: Habit; atMs: number }>): void => {
    const { habit, atMs } = holding.wish.item
    const startMs = time.now()
    note(longestWaitMs, habit, (before) => Math.max(before, startMs - atMs))
    time.after(habit.takesMs(), () => {
      queue.end(holding, time.now())
      note(heldMs, habit, (before) => before + Math.max(0, time.now() - Math.max(startMs, measureFromMs)))
      note(served, habit, (before) => before + 1)
      want(habit)
      fill()
    })
  }
  const fill = (): void => {
    while (queue.held < slots) {
      const holding = queue.take(time.now(), slots)
      if (holding === null) return
      begin(holding)
    }
  }
  for (const habit of habits)
    time.after(habit.fromMs ?? 0, () => {
      for (let count = 0; count < habit.eager; count += 1) want(habit)
      fill()
    })
  time.pass(endMs)
  return { heldMs, longestWaitMs, served }
}

/** 1 when all are equal, 1/n when one has everything (Jain, Chiu, Hawe, 1984). */
const jain = (values: readonly number[]): number => {
  const sum = values.reduce((a, b) => a + b, 0)
  return sum ** 2 / (values.length * values.reduce((a, b) => a + b ** 2, 0))
}

const within = (actual: number, fair: number, share: number, what: string): void =>
  assert.ok(Math.abs(actual / fair - 1) <= share, `${what}: ${actual} where ${fair} is fair`)

const between = (random: () => number, least: number, most: number) => (): number => least + random() * (most - least)

describe('the fair queue, simulated under saturation', () => {
  for (const seed of [1, 2, 3])
    it(`gives callers of one class equal time within 5%, whatever they ask for and however long it takes (seed ${seed})`, (t) => {
      const random = seeded(seed)
      const habits = Array.from({ length: 20 }, (_, index): Habit => {
        const longestMs = 200 + 4_000 * random()
        return {
          caller: `caller ${index}`,
          downloadClass: 'release',
          eager: 2 + Math.floor(random() * (index === 0 ? 500 : 12)),
          takesMs: between(random, longestMs / 4, longestMs),
        }
      })
      const { heldMs } = simulate(habits, { slots: 8, seconds: 4_000 })
      const times = [...heldMs.values()]
      const fair = times.reduce((a, b) => a + b, 0) / habits.length
      for (const [caller, time] of heldMs) within(time, fair, 0.05, caller)
      const index = jain(times)
      t.diagnostic(`Jain index ${index.toFixed(5)}`)
      assert.ok(index > 0.999, String(index))
    })

  it('divides between classes by their shares within 5%, in few slots and in many', (t) => {
    for (const slots of [2, 15, 64]) {
      const random = seeded(slots)
      const classes = ['interactive', 'release', 'bulk', 'background'] as const
      const habits = classes.flatMap((downloadClass) =>
        [1, 2, 3].map(
          (number): Habit => ({
            caller: `${downloadClass} ${number}`,
            downloadClass,
            eager: 80,
            takesMs: between(random, 300, 3_000),
          }),
        ),
      )
      const { heldMs } = simulate(habits, { slots, seconds: 4_000 })
      const total = [...heldMs.values()].reduce((a, b) => a + b, 0)
      const sum = Object.values(downloadClassShares).reduce((a, b) => a + b, 0)
      for (const name of classes) {
        const got = [1, 2, 3].reduce((all, number) => all + (heldMs.get(`${name} ${number}`) ?? 0), 0)
        within(got / total, downloadClassShares[name] / sum, 0.05, `${name} in ${slots} slots`)
      }
      t.diagnostic(
        `${slots} slots: Jain index ${jain([...heldMs].map(([caller, time]) => time / downloadClassShares[habits.find((each) => each.caller === caller)?.downloadClass ?? 'bulk'])).toFixed(5)}`,
      )
    }
  })

  it('starves nobody: one background caller against a crowd of people waits no longer than its share says', () => {
    const random = seeded(4)
    const crowd = Array.from(
      { length: 100 },
      (_, index): Habit => ({
        caller: `person ${index}`,
        downloadClass: 'interactive',
        eager: 5,
        takesMs: between(random, 500, 1_500),
      }),
    )
    const alone: Habit = { caller: 'nightly', downloadClass: 'background', eager: 1, takesMs: () => 1_000 }
    const { longestWaitMs, served } = simulate([...crowd, alone], { slots: 8, seconds: 2_000 })
    // One of nine parts of eight slots: a download about every 1.1 s, and some luck.
    assert.ok((longestWaitMs.get('nightly') ?? Infinity) < 5_000, String(longestWaitMs.get('nightly')))
    assert.ok((served.get('nightly') ?? 0) > 700, String(served.get('nightly')))
  })

  it('makes a caller wait for others no longer than one turn of each, however many wishes a greedy one has', () => {
    const random = seeded(5)
    const greedy: Habit = {
      caller: 'greedy',
      downloadClass: 'release',
      eager: 900,
      takesMs: between(random, 500, 2_000),
    }
    const modest = Array.from(
      { length: 5 },
      (_, index): Habit => ({
        caller: `modest ${index}`,
        downloadClass: 'release',
        eager: 1,
        takesMs: between(random, 500, 2_000),
      }),
    )
    const { longestWaitMs } = simulate([greedy, ...modest], { slots: 4, seconds: 3_000 })
    for (const { caller } of modest) {
      const waitedMs = longestWaitMs.get(caller) ?? Infinity
      // Six callers on four slots: who has used no more than its share goes at the next free slot or the one after.
      assert.ok(waitedMs <= 3_000, `${caller} waited ${waitedMs} ms`)
    }
  })

  it('neither lets a newcomer catch up on the time before it came, nor who left escape what it took', () => {
    const slot = () => 1_000
    const old: Habit = { caller: 'old', downloadClass: 'release', eager: 50, takesMs: slot }
    const late: Habit = { caller: 'late', downloadClass: 'release', eager: 50, takesMs: slot, fromMs: 600_000 }
    const { heldMs } = simulate([old, late], { slots: 4, seconds: 1_200, measureFromMs: 600_000 })
    within(heldMs.get('late') ?? 0, heldMs.get('old') ?? 0, 0.05, 'late beside old')
  })

  it('charges a slow client for the slot that it holds, also while it holds it', () => {
    // A guess of one second for turns of a hundred: only what is seen while they last can tell.
    const slow: Habit = { caller: 'slow', downloadClass: 'release', eager: 40, takesMs: () => 100_000 }
    const quick: Habit = { caller: 'quick', downloadClass: 'release', eager: 40, takesMs: () => 500 }
    const { heldMs } = simulate([slow, quick], { slots: 8, seconds: 40_000 })
    within(heldMs.get('quick') ?? 0, heldMs.get('slow') ?? 0, 0.05, 'quick beside slow')
  })

  it('leaves no slot empty while somebody waits', () => {
    const random = seeded(6)
    const habits = Array.from(
      { length: 7 },
      (_, index): Habit => ({
        caller: `caller ${index}`,
        downloadClass: (['interactive', 'bulk', 'background'] as const)[index % 3] ?? 'bulk',
        eager: 10,
        takesMs: between(random, 100, 5_000),
      }),
    )
    const { heldMs } = simulate(habits, { slots: 16, seconds: 1_000 })
    const total = [...heldMs.values()].reduce((a, b) => a + b, 0)
    // What is still under way at the end is not counted.
    assert.ok(total > 16 * 995_000, String(total))
  })

  it('serves one caller by when each wish was made, also when an old one comes late', () => {
    const queue = new FairQueue<string>()
    const wish = (item: string, sinceMs: number) =>
      ({ caller: 'a', downloadClass: 'bulk', sinceMs, costMs: 1, item }) as const
    const [third, first, second] = [wish('third', 3), wish('first', 1), wish('second', 2)]
    for (const each of [third, first, second]) queue.add(each)
    const withdrawn = wish('withdrawn', 0)
    queue.add(withdrawn)
    assert.deepEqual([queue.remove(withdrawn), queue.remove(withdrawn), queue.length], [true, false, 3])
    const taken = [0, 1, 2, 3].map(() => queue.take(0, 9)?.wish.item)
    assert.deepEqual(taken, ['first', 'second', 'third', undefined])
  })

  it('lets nobody hold more than a caller may, and serves others meanwhile', () => {
    const queue = new FairQueue<string>()
    const wish = (caller: string) =>
      ({ caller, downloadClass: 'interactive', sinceMs: 0, costMs: 1, item: caller }) as const
    for (const caller of ['a', 'a', 'a', 'b']) queue.add(wish(caller))
    const held = [0, 1, 2].map(() => queue.take(0, 2))
    assert.deepEqual(held.map((each) => each?.wish.item).sort(), ['a', 'a', 'b'])
    assert.equal(queue.take(0, 2), null)
    const ofA = held.find((each) => each?.wish.item === 'a')
    assert.ok(ofA)
    queue.end(ofA, 5)
    queue.end(ofA, 5)
    assert.equal(queue.take(5, 2)?.wish.item, 'a')
    assert.equal(queue.held, 3)
  })
})
