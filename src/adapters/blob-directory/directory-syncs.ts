import { fsyncDirectory } from './files.ts'

/**
 * Makes the entries of directories durable, sharing the work. What is promised to a caller: a sync that began after the
 * call has ended well. Whoever comes while one is under way therefore waits for the next, and all of them share it.
 *
 * A failed sync fails those that wait for the next one too: the system may report a failed write once and forget it, so
 * that the next sync would bless a rename that was lost with the first.
 */
export interface DirectorySyncs {
  sync(directory: string): Promise<void>
  /**
   * The same for a name that was made before, perhaps by who was told that its sync had failed: refused from then on,
   * for as long as this process lives.
   */
  settle(directory: string): Promise<void>
}

export const shareDirectorySyncs = (): DirectorySyncs => {
  const underWay = new Map<string, Promise<void>>()
  const waiting = new Map<string, Promise<void>>()
  const failures = new Map<string, unknown>()

  const start = async (directory: string): Promise<void> => {
    const sync = fsyncDirectory(directory)
    underWay.set(directory, sync)
    try {
      await sync
    } catch (error) {
      failures.set(directory, error)
      throw error
    } finally {
      underWay.delete(directory)
    }
  }

  const sync = (directory: string): Promise<void> => {
    const current = underWay.get(directory)
    if (current === undefined) return start(directory)
    const shared = waiting.get(directory)
    if (shared !== undefined) return shared
    const next = current.then(
      () => {
        waiting.delete(directory)
        return start(directory)
      },
      (error: unknown) => {
        waiting.delete(directory)
        throw error
      },
    )
    waiting.set(directory, next)
    return next
  }

  return {
    sync,
    async settle(directory) {
      if (failures.has(directory)) throw failures.get(directory)
      await sync(directory)
    },
  }
}
