import { actorOf, type Caller } from '../../kernel/caller.ts'
import { Failure } from '../../kernel/failure.ts'
import { budgetCallersMax, budgetSeconds } from '../../kernel/limits/http.ts'
import { networkOf } from '../../kernel/networks.ts'

/**
 * A request budget per caller: a bucket that holds some seconds' worth of requests and refills all the time. In memory,
 * per process: it keeps one runaway script from taking the service from everyone else, and is no security measure.
 */
export interface Budget {
  /** Takes one request from the caller's bucket. Throws 429 `rate_limited` when it is empty. */
  spend(caller: string): void
}

interface Bucket {
  tokens: number
  atMs: number
}

/**
 * Whose bucket a request takes from. Whom nobody knows is a network. All links of one maker are one, or a thousand
 * links were a thousand buckets; and apart from the maker, or whoever has one of them could keep the maker from
 * everything else.
 */
export const spenderOf = (caller: Caller | null, clientAddress: string): string => {
  if (caller === null) return networkOf(clientAddress)
  return caller.kind === 'link' ? `links:${caller.share}` : actorOf(caller)
}

/** `nowMs` is any clock that only goes forward. */
export const createBudget = (perSecond: number, nowMs: () => number): Budget => {
  const capacity = perSecond * budgetSeconds
  // A map keeps the order of insertion: the first is the one that was refilled longest ago.
  const buckets = new Map<string, Bucket>()
  const forget = (): void => {
    for (const [caller] of buckets) {
      if (buckets.size <= budgetCallersMax) return
      buckets.delete(caller)
    }
  }
  return {
    spend(caller) {
      const now = nowMs()
      const known = buckets.get(caller)
      const bucket = known ?? { tokens: capacity, atMs: now }
      bucket.tokens = Math.min(capacity, bucket.tokens + ((now - bucket.atMs) / 1000) * perSecond)
      bucket.atMs = now
      if (known === undefined) {
        buckets.set(caller, bucket)
        forget()
      }
      if (bucket.tokens < 1) {
        const retryAfterSeconds = Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond))
        const detail = `More than ${perSecond} requests a second (SVC_REQUESTS_PER_SECOND). Wait ${retryAfterSeconds} s.`
        throw new Failure('rate_limited', detail, { retryAfterSeconds })
      }
      bucket.tokens -= 1
    },
  }
}
