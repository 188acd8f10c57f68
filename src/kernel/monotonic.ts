const nanosecondsPerMs = 1e6

/** Milliseconds of a clock that nobody sets, the same in every thread of a process. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / nanosecondsPerMs
