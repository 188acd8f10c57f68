import type { Failure } from './failure.ts'

/** Lets so many work at once; the others wait in line, first come, first served. */
export type Pass = <T>(work: () => Promise<T>) => Promise<T>

/** How long the line may be, and what whoever comes then is told. */
interface Line {
  readonly waitingMax: number
  readonly full: () => Failure
}

export const createGate = (atOnce: number, line: Line | null = null): Pass => {
  const waiting: (() => void)[] = []
  let working = 0
  return async (work) => {
    if (working < atOnce) working += 1
    else {
      if (line !== null && waiting.length >= line.waitingMax) throw line.full()
      // Whoever leaves hands the place over, so that nobody slips in between.
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) working -= 1
      else next()
    }
  }
}
