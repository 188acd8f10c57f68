import { Failure } from '../../../kernel/failure.ts'

/** Work that several wait for is done once, and goes on when those who wait for it are gone. */
export interface UnderWay<T> extends AsyncDisposable {
  /** Does the work of a key, unless it is being done: then its outcome counts. */
  once(key: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>
}

/** What is under way when it is disposed of is told so by its signal, and waited for. */
export const createUnderWay = <T>(): UnderWay<T> => {
  const ending = new AbortController()
  const all = new Map<string, Promise<T>>()
  return {
    once(key, work) {
      const before = all.get(key)
      if (before !== undefined) return before
      const done = work(ending.signal).finally(() => all.delete(key))
      all.set(key, done)
      return done
    },
    async [Symbol.asyncDispose]() {
      ending.abort(new Failure('draining', 'The service stops. Try again in a moment.', { retryAfterSeconds: 5 }))
      await Promise.allSettled(all.values())
    },
  }
}
