import type { Failure } from './failure.ts'

/**
 * Lets so many work at once; the others wait in line, first come, first served. Whoever waits no longer than `waitMs`
 * is told then what those are told for whom the line is too long.
 */
export type Pass = <T>(work: () => Promise<T>, waitMs?: number) => Promise<T>

/** How long the line may be, and what whoever comes then is told. */
interface Line {
  readonly waitingMax: number
  readonly full: () => Failure
}

export const createGate = (atOnce: number, line: Line | null = null): Pass => {
  const waiting: (() => void)[] = []
  let working = 0
  /** Whoever leaves hands the place over, so that nobody slips in between. */
  const inLine = (waitMs: number | undefined): Promise<void> =>
    new Promise<void>((resolve, reject) => {
      const enter = (): void => {
        clearTimeout(timer)
        resolve()
      }
      const leave = (): void => {
        waiting.splice(waiting.indexOf(enter), 1)
        reject(line?.full())
      }
      const timer = waitMs === undefined || line === null ? undefined : setTimeout(leave, waitMs)
      waiting.push(enter)
    })
  return async (work, waitMs) => {
    if (working < atOnce) working += 1
    else {
      if (line !== null && waiting.length >= line.waitingMax) throw line.full()
      await inLine(waitMs)
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
