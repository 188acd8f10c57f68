import { upkeepBatch, upkeepFailuresMax } from './limits/upkeep.ts'

/** Some of what a run of upkeep had to do could not be done. Each thing was reported when it failed. */
class UpkeepIncomplete extends Error {
  override readonly name = 'UpkeepIncomplete'
}

type Report = (message: string, error: unknown) => void

interface Items<T> {
  /** Items that are still to be worked on: at most so many, also those that failed before. */
  readonly find: (limit: number) => Promise<readonly T[]>
  /** What an item is, with its name, for people. */
  readonly what: (item: T) => string
  readonly key: (item: T) => string
  readonly work: (item: T) => Promise<unknown>
}

/**
 * A run of upkeep in steps that stand alone: what fails is reported and passed over, everything else is done, and `end`
 * throws if anything failed, so that the run does not count as a good one. Only when very many items of one step fail
 * it is not the items: then the step is given up for this time.
 */
export const upkeepRun = (report: Report) => {
  let failed = 0
  let cause: unknown
  const attempt = async (what: string, work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await work()
      return true
    } catch (error) {
      failed += 1
      cause = error
      report(`${what} failed; the rest of the upkeep goes on`, error)
      return false
    }
  }
  return {
    /** Does one thing. False where it failed. */
    attempt,

    /** Works on items, one by one and each once, until no others are found. How many went well. */
    async each<T>(step: string, { what, key, find, work }: Items<T>): Promise<number> {
      const bad = new Set<string>()
      let done = 0
      await attempt(step, async () => {
        for (;;) {
          // Those that failed are found again: they must not hide the others.
          const limit = upkeepBatch + bad.size
          const found = await find(limit)
          for (const item of found)
            if (!bad.has(key(item))) {
              if (await attempt(what(item), () => work(item))) done += 1
              else bad.add(key(item))
              if (bad.size >= upkeepFailuresMax) throw new Error(`${bad.size} of them failed; the others wait`)
            }
          if (found.length < limit) return
        }
      })
      return done
    },

    end(): void {
      if (failed > 0) throw new UpkeepIncomplete(`${failed} things could not be done`, { cause })
    },
  }
}
