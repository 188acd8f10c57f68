import type { Database } from '../../database/database.ts'
import {
  registrationsFreePerAddress,
  signInFreeFailuresPerKnownAccount,
  signInFreeFailuresPerKnownAddress,
} from '../../kernel/admission-limits.ts'
import type { Clock } from '../../kernel/clock.ts'
import { timestamp } from '../../kernel/clock.ts'
import { Failure } from '../../kernel/failure.ts'
import {
  signInBackoffFirstMs,
  signInBackoffMaxMs,
  signInFreeFailuresPerAccount,
  signInFreeFailuresPerAddress,
  throttleForgottenAfterMs,
} from '../../kernel/limits.ts'
import { caseless } from '../../kernel/names.ts'
import { networkOf } from '../../kernel/networks.ts'
import { clearThrottle, countFailure, findThrottles, rememberPlace, setBlocked } from './throttle.queries.ts'

/**
 * Backoff after wrong tries, per account name and per client address (of IPv6 its network), kept in the database for all
 * processes. Tries from a network that signed in to this account within a day are counted by themselves, and those of all
 * other networks do not hold them up: whoever guesses from elsewhere keeps nobody out who was there before.
 */
export interface Subjects {
  readonly name: string
  readonly address: string
}

interface Counted {
  readonly key: string
  readonly free: number
}

/** What the tries of a request are counted under. */
export interface Throttles {
  /** The network signed in to the account lately. */
  readonly known: boolean
  readonly counted: readonly Counted[]
}

const placeOf = ({ name, address }: Subjects): string => `place:${caseless(name)} ${networkOf(address)}`

const countedFor = ({ name, address }: Subjects, known: boolean): Counted[] => {
  const [account, network] = [caseless(name), networkOf(address)]
  return known
    ? [
        { key: `known-account:${account}`, free: signInFreeFailuresPerKnownAccount },
        { key: `known-address:${network}`, free: signInFreeFailuresPerKnownAddress },
      ]
    : [
        { key: `account:${account}`, free: signInFreeFailuresPerAccount },
        { key: `address:${network}`, free: signInFreeFailuresPerAddress },
      ]
}

const refuseWhileBlocked = (rows: readonly { blocked_until: string | null }[], now: number, what: string): void => {
  const until = Math.max(0, ...rows.map((row) => (row.blocked_until === null ? 0 : Date.parse(row.blocked_until))))
  if (until <= now) return
  const retryAfterSeconds = Math.ceil((until - now) / 1000)
  throw new Failure('rate_limited', `${what} Wait ${retryAfterSeconds} seconds.`, { retryAfterSeconds })
}

/**
 * Throws 429 `rate_limited` while one of the subjects has to wait. Asked before a password is looked at, in one question for
 * names that exist and names that do not.
 */
export const refuseWhileThrottled = async (
  database: Database,
  clock: Clock,
  subjects: Subjects,
): Promise<Throttles> => {
  const now = clock.now()
  const place = placeOf(subjects)
  const both = [...countedFor(subjects, true), ...countedFor(subjects, false)].map(({ key }) => key)
  const rows = await findThrottles(database.reader, [place, ...both])
  const lately = timestamp(now - throttleForgottenAfterMs)
  const known = rows.some(({ key, last_failure_at }) => key === place && last_failure_at > lately)
  const counted = countedFor(subjects, known)
  const mine = rows.filter((row) => counted.some(({ key }) => key === row.key))
  refuseWhileBlocked(mine, now, 'Too many wrong tries.')
  return { known, counted }
}

/** Counts a wrong try against each subject. Beyond the free ones each further one doubles the pause. */
export const recordFailure = (database: Database, clock: Clock, { counted }: Throttles): Promise<void> =>
  countAgainst(database, clock, counted)

const countAgainst = (database: Database, clock: Clock, counted: readonly Counted[]): Promise<void> =>
  database.transaction(
    async (tx) => {
      const now = clock.now()
      for (const { key, free } of counted) {
        const failures = await countFailure(tx, key, timestamp(now), timestamp(now - throttleForgottenAfterMs))
        const beyond = failures - free
        if (beyond <= 0) continue
        const pause = Math.min(signInBackoffFirstMs * 2 ** Math.min(beyond - 1, 20), signInBackoffMaxMs)
        await setBlocked(tx, key, timestamp(now + pause))
      }
    },
    { durability: 'relaxed' },
  )

/**
 * The right password: the tries on the account start from zero, and the network is known to it for a day. The address does not
 * start anew, or one good account would hide a search; nor do the tries from networks of the other kind.
 */
export const forgiveAccount = (database: Database, clock: Clock, subjects: Subjects, { known }: Throttles) =>
  database.transaction(
    async (tx) => {
      await clearThrottle(tx, `${known ? 'known-account' : 'account'}:${caseless(subjects.name)}`)
      await rememberPlace(tx, placeOf(subjects), timestamp(clock.now()))
    },
    { durability: 'relaxed' },
  )

/** Counts a registration against its address, apart from those who sign in there. 429 `rate_limited` beyond the free ones. */
export const countRegistration = async (database: Database, clock: Clock, address: string): Promise<void> => {
  const key = `registration:${networkOf(address)}`
  refuseWhileBlocked(await findThrottles(database.reader, [key]), clock.now(), 'Too many registrations from here.')
  await countAgainst(database, clock, [{ key, free: registrationsFreePerAddress }])
}
