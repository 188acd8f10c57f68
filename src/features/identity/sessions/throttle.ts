import type { Database } from '../../../database/database.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { Failure } from '../../../kernel/failure.ts'
import {
  registrationsFreePerAddress,
  signInBackoffFirstMs,
  signInBackoffMaxMs,
  signInFreeFailuresPerAccount,
  signInFreeFailuresPerAddress,
  signInFreeFailuresPerKnownAccount,
  signInFreeFailuresPerKnownAddress,
  throttleForgottenAfterMs,
} from '../../../kernel/limits/identity.ts'
import { caseless } from '../../../kernel/names.ts'
import { networkOf } from '../../../kernel/networks.ts'
import {
  clearThrottle,
  countFailure,
  deleteForgottenThrottles,
  findThrottles,
  rememberOrigin,
  setBlocked,
} from './throttle.queries.ts'

/**
 * Backoff after wrong tries, per account name and per client address (of IPv6 its network), kept in the database for
 * all processes. Each network that signed in to this account within a day is counted by itself, and so is each session
 * that changes the password: the pause of one holds up no other, so whoever guesses keeps nobody out who was there
 * before. Tries from all other networks wait together.
 */
export interface Subjects {
  readonly name: string
  readonly address: string
  /** Id of the session that asks, where one does: it has signed in, wherever it is by now. */
  readonly session?: string
  /** What the account is called, where there is one, for the log. */
  readonly account?: string | undefined
}

interface Counted {
  /** Whose pause it is. */
  readonly key: string
  readonly free: number
  /** Where the tries of several are added up that have the free ones together. Bears no pause. */
  readonly together?: string
}

/** What the tries of a request are counted under. */
export interface Throttles {
  /** The network signed in to the account lately, or a session asks. */
  readonly known: boolean
  readonly counted: readonly Counted[]
}

/** Of one account from one network. Names of accounts have no space. */
const pairOf = ({ name, address }: Subjects): string => `known-account:${caseless(name)} ${networkOf(address)}`
const allPairsOf = ({ name }: Subjects): string => `known-account:${caseless(name)}`
const accountOf = ({ name }: Subjects): string => `account:${caseless(name)}`

const originOf = ({ name, address }: Subjects): string => `place:${caseless(name)} ${networkOf(address)}`

/** In this order everywhere, so that no two who count wait for each other. */
const countedFor = (subjects: Subjects, known: boolean): Counted[] => {
  const network = networkOf(subjects.address)
  const { session } = subjects
  if (!known)
    return [
      { key: accountOf(subjects), free: signInFreeFailuresPerAccount },
      { key: `address:${network}`, free: signInFreeFailuresPerAddress },
    ]
  return [
    ...(session === undefined ? [] : [{ key: `session:${session}`, free: signInFreeFailuresPerKnownAccount }]),
    { key: pairOf(subjects), free: signInFreeFailuresPerKnownAccount, together: allPairsOf(subjects) },
    { key: `known-address:${network}`, free: signInFreeFailuresPerKnownAddress },
  ]
}

const refuseWhileBlocked = (
  rows: readonly { blocked_until: string | null }[],
  now: number,
  what: string,
  account?: string,
): void => {
  const until = Math.max(0, ...rows.map((row) => (row.blocked_until === null ? 0 : Date.parse(row.blocked_until))))
  if (until <= now) return
  const retryAfterSeconds = Math.ceil((until - now) / 1000)
  throw new Failure('rate_limited', `${what} Wait ${retryAfterSeconds} seconds.`, {
    retryAfterSeconds,
    ...(account === undefined ? {} : { forOperator: { account } }),
  })
}

/**
 * Throws 429 `rate_limited` while one of the subjects has to wait. Asked before a password is looked at, in one
 * question for names that exist and names that do not.
 */
export const refuseWhileThrottled = async (
  database: Database,
  clock: Clock,
  subjects: Subjects,
): Promise<Throttles> => {
  const now = clock.now()
  const origin = originOf(subjects)
  const both = [...countedFor(subjects, true), ...countedFor(subjects, false)].map(({ key }) => key)
  const rows = await findThrottles(database.reader, [origin, ...both])
  const lately = timestamp(now - throttleForgottenAfterMs)
  const known =
    subjects.session !== undefined ||
    rows.some(({ key, last_failure_at }) => key === origin && last_failure_at > lately)
  const counted = countedFor(subjects, known)
  // What was tried from here when the network was known, or by a session, counts here for good.
  const pair = pairOf(subjects)
  const mine = rows.filter((row) => row.key === pair || counted.some(({ key }) => key === row.key))
  refuseWhileBlocked(mine, now, 'Too many wrong tries.', subjects.account)
  return { known, counted }
}

/**
 * Counts a wrong try against each subject. Beyond the free ones each further one doubles the pause. Where several have
 * the free ones together, what the others used up is not there any more: the next wrong one has a pause, for whoever it
 * was alone. Answers how many it are against the first of the subjects, which is the account.
 */
export const recordFailure = (database: Database, clock: Clock, { counted }: Throttles): Promise<number> =>
  countAgainst(database, clock, counted)

const countAgainst = (database: Database, clock: Clock, counted: readonly Counted[]): Promise<number> =>
  database.transaction(
    async (tx) => {
      const now = clock.now()
      let ofFirst = 0
      const count = (key: string): Promise<number> =>
        countFailure(tx, key, timestamp(now), timestamp(now - throttleForgottenAfterMs))
      for (const { key, free, together } of counted) {
        const failures = await count(key)
        if (ofFirst === 0) ofFirst = failures
        const ofOthers = together === undefined ? 0 : Math.max(0, (await count(together)) - failures)
        const beyond = failures - Math.max(0, free - ofOthers)
        if (beyond <= 0) continue
        const pause = Math.min(signInBackoffFirstMs * 2 ** Math.min(beyond - 1, 20), signInBackoffMaxMs)
        await setBlocked(tx, key, timestamp(now + pause))
      }
      return ofFirst
    },
    { durability: 'relaxed' },
  )

/**
 * The right password: the tries on the account from this network start from zero, and so do those that it has together
 * with others; the network is known to the account for a day. The address does not start anew, or one good account
 * would hide a search; nor do the pauses of other known networks, nor the tries from networks of the other kind.
 */
export const forgiveAccount = (database: Database, clock: Clock, subjects: Subjects, { known }: Throttles) =>
  database.transaction(
    async (tx) => {
      for (const key of [pairOf(subjects), known ? allPairsOf(subjects) : accountOf(subjects)])
        await clearThrottle(tx, key)
      await rememberOrigin(tx, originOf(subjects), timestamp(clock.now()))
    },
    { durability: 'relaxed' },
  )

/**
 * Counts a registration against its address, apart from those who sign in there. 429 `rate_limited` beyond the free
 * ones.
 */
export const countRegistration = async (database: Database, clock: Clock, address: string): Promise<void> => {
  const key = `registration:${networkOf(address)}`
  refuseWhileBlocked(await findThrottles(database.reader, [key]), clock.now(), 'Too many registrations from here.')
  await countAgainst(database, clock, [{ key, free: registrationsFreePerAddress }])
}

/** Forgets tries that are long ago, so many at a time; how many it were. */
export const forgetThrottles = deleteForgottenThrottles
