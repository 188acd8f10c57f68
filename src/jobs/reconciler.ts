/**
 * Upkeep as a reconciler: an idempotent function of the database without input, run by the clock and by a signal. A
 * crash needs no recovery of its own, because the next run is one.
 */
export interface Reconciler {
  /** Runs soon; several wakes before the run are one. */
  wake(): void
  /** Lets the current run finish, then never runs again. */
  stop(): Promise<void>
}

export interface ReconcilerSpec {
  readonly name: string
  readonly everyMs: number
  readonly run: () => Promise<void>
  /** A failed run is told about and tried again when its time comes. */
  readonly report: (message: string, error: unknown) => void
}

/** Starts with a run at once, then goes by the clock. Runs of one reconciler never overlap. */
export const startReconciler = (spec: ReconcilerSpec): Reconciler => {
  let stopped = false
  let wanted = false
  let wakeUp: (() => void) | null = null

  const sleep = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, spec.everyMs)
      wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
      if (wanted || stopped) wakeUp()
    })

  const loop = async (): Promise<void> => {
    while (!stopped) {
      wanted = false
      try {
        await spec.run()
      } catch (error) {
        spec.report(`${spec.name} failed; it runs again in ${spec.everyMs / 1000} seconds`, error)
      }
      await sleep()
    }
  }
  const done = loop()

  return {
    wake() {
      wanted = true
      wakeUp?.()
    },
    stop() {
      stopped = true
      wakeUp?.()
      return done
    },
  }
}
