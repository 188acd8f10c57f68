/** Lets so many work at once; the others wait in line, first come, first served. */
export type Pass = <T>(work: () => Promise<T>) => Promise<T>

export const createGate = (atOnce: number): Pass => {
  const line: (() => void)[] = []
  let working = 0
  return async (work) => {
    if (working < atOnce) working += 1
    // Whoever leaves hands the place over, so that nobody slips in between.
    else await new Promise<void>((resolve) => line.push(resolve))
    try {
      return await work()
    } finally {
      const next = line.shift()
      if (next === undefined) working -= 1
      else next()
    }
  }
}
