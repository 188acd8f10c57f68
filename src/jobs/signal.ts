/** Tells those who wait in the same process that there is something to do. Others find it by the clock. */
export interface Signal {
  raise(): void
  /** Calls `listener` at each raise from now on; answers how to stop that. */
  listen(listener: () => void): () => void
}

export const createSignal = (): Signal => {
  const listeners = new Set<() => void>()
  return {
    raise() {
      for (const listener of listeners) listener()
    },
    listen(listener) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
  }
}
