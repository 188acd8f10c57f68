import { setTimeout as pause } from 'node:timers/promises'
import type { Database, Transaction } from '../../../database/database.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { Failure } from '../../../kernel/failure.ts'
import type { Pass } from '../../../kernel/gate.ts'
import { newId } from '../../../kernel/ids.ts'
import {
  npmFetchLeaseMaxMs,
  npmFetchLeaseMs,
  npmFetchLookEveryMs,
  npmFetchTries,
  npmFetchWaitMs,
} from '../../../kernel/limits/npm-upstream.ts'
import { endFetch, type Fetched, fetchUnderWay, renewFetch, takeFetch } from './fetches.queries.ts'

/*
 * One fetch of one thing at a time, across processes: a lease in a row of its own. Its holder renews it while it works,
 * and ends it in the transaction that keeps what came, which fails unless it is still its own; when its process dies it
 * lapses, and the next one takes it over.
 */

export interface FetchDeps {
  readonly database: Database
  readonly clock: Clock
  readonly report: (message: string, error: unknown) => void
}

/** The right to fetch something. */
export interface FetchLease {
  /** Ends it, in the transaction that keeps what came. Throws 503 `busy` unless it is still ours. */
  end(tx: Transaction): Promise<void>
}

const relaxed = { durability: 'relaxed' } as const

interface Fetching {
  readonly gate: Pass
  readonly signal: AbortSignal
  /** For how long it is waited for a place, and for others who fetch the same. */
  readonly waitMs?: number | undefined
}

/**
 * Does the work when `gate` lets it in and nobody else does it, or waits until somebody else has done it: then null,
 * and whoever calls looks whether it is there now. 503 `busy` where that takes too long.
 */
export const fetchOnce = async <T>(
  deps: FetchDeps,
  wanted: Fetched,
  { gate, signal, waitMs }: Fetching,
  work: (lease: FetchLease) => Promise<T>,
): Promise<T | null> => {
  const done = await gate(async () => {
    signal.throwIfAborted()
    const holder = newId(deps.clock.now())
    return (await take(deps, wanted, holder)) ? { told: await underLease(deps, { ...wanted, holder }, work) } : null
  }, waitMs)
  if (done !== null) return done.told
  await others(deps, wanted, { signal, waitMs })
  return null
}

/**
 * What a fetch says, or what is there once another process has fetched it. Where that left nothing, it is tried here;
 * 503 `busy` where others come before us again and again.
 */
export const fetchedHere = async <T>(fetchIt: () => Promise<T | null>, look: () => Promise<T | null>): Promise<T> => {
  for (let tries = 0; tries < npmFetchTries; tries++) {
    const told = (await fetchIt()) ?? (await look())
    if (told !== null) return told
  }
  throw lost()
}

type Held = Fetched & { readonly holder: string }

const underLease = async <T>(deps: FetchDeps, held: Held, work: (lease: FetchLease) => Promise<T>): Promise<T> => {
  const timer = setInterval(() => {
    keep(deps, held).catch((error: unknown) =>
      deps.report('the lease of a fetch from an upstream could not be renewed', error),
    )
  }, npmFetchLeaseMs / 3)
  let isEnded = false
  try {
    return await work({
      async end(tx) {
        if (!(await endFetch(tx, held))) throw lost()
        isEnded = true
      },
    })
  } catch (error) {
    isEnded = false
    throw error
  } finally {
    clearInterval(timer)
    if (!isEnded) await giveBack(deps, held)
  }
}

const giveBack = async ({ database, report }: FetchDeps, held: Held): Promise<void> => {
  await database
    .transaction((tx) => endFetch(tx, held), relaxed)
    .catch((error: unknown) => report('the lease of a fetch could not be given back; it lapses by itself', error))
}

/** What was fetched is not to be kept any more. */
export const lost = (): Failure =>
  new Failure('busy', 'Another process fetches this from the upstream registry by now. Try again.', {
    retryAfterSeconds: 2,
  })

const leaseEnd = ({ clock }: FetchDeps): string => timestamp(clock.now() + npmFetchLeaseMs)

const take = (deps: FetchDeps, wanted: Fetched, holder: string): Promise<boolean> =>
  deps.database.transaction((tx) => takeFetch(tx, { ...wanted, holder, until: leaseEnd(deps) }, bounds(deps)), relaxed)

/** Between these a lease holds: clocks go wrong, and are set right. */
const bounds = ({ clock }: Pick<FetchDeps, 'clock'>) => ({
  now: timestamp(clock.now()),
  never: timestamp(clock.now() + npmFetchLeaseMaxMs),
})

const keep = (deps: FetchDeps, held: Held): Promise<void> =>
  deps.database.transaction((tx) => renewFetch(tx, { ...held, until: leaseEnd(deps) }), relaxed)

/** Waits until nobody fetches it any more. */
const others = async (
  { database, clock }: FetchDeps,
  wanted: Fetched,
  { signal, waitMs = npmFetchWaitMs }: Pick<Fetching, 'signal' | 'waitMs'>,
): Promise<void> => {
  const since = performance.now()
  for (;;) {
    const underWay = await fetchUnderWay(database.reader, wanted)
    const { now, never } = bounds({ clock })
    if (underWay === undefined || underWay.leased_until <= now || underWay.leased_until > never) return
    if (performance.now() - since > waitMs)
      throw new Failure(
        'busy',
        'Another process fetches this from the upstream registry for long already. Try again.',
        {
          retryAfterSeconds: 5,
        },
      )
    await pause(npmFetchLookEveryMs, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}
