import { fsyncDirectory } from './files.ts'

/**
 * Makes the entries of directories durable, sharing the work. What is promised to a caller: a sync that began after the
 * call has ended well. Whoever comes while one is under way therefore waits for the next, and all of them share it.
 *
 * A failed sync fails those that wait for the next one too: the system may report a failed write once and forget it, so
 * that the next sync would bless a rename that was lost with the first.
 */
export const shareDirectorySyncs = (): ((directory: string) => Promise<void>) => {
  const underWay = new Map<string, Promise<void>>()
  const waiting = new Map<string, Promise<void>>()

  const start = async (directory: string): Promise<void> => {
    const sync = fsyncDirectory(directory)
    underWay.set(directory, sync)
    try {
      await sync
    } finally {
      underWay.delete(directory)
    }
  }

  return (directory) => {
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
}
