/** Time that only goes forward, and what is to happen then. Tests put their own in its place. */
export interface Timers {
  /** Milliseconds since some moment. */
  now(): number
  /** Calls once after so many milliseconds, unless the answered function is called before. */
  after(milliseconds: number, run: () => void): () => void
}

export const realTimers: Timers = {
  now: () => performance.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds)
    return () => clearTimeout(timer)
  },
}
