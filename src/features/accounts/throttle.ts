import type { Database } from '../../database/database.ts'
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
import { clearThrottle, countFailure, findThrottles, setBlocked } from './throttle.queries.ts'

/** Backoff after wrong tries, per account name and per client address (of IPv6 its network), kept in the database for all processes. */
export interface Subjects {
  readonly name: string | null
  readonly address: string
}

const keysOf = ({ name, address }: Subjects): { key: string; free: number }[] => [
  ...(name === null ? [] : [{ key: `account:${caseless(name)}`, free: signInFreeFailuresPerAccount }]),
  { key: `address:${networkOf(address)}`, free: signInFreeFailuresPerAddress },
]

/** Throws 429 `rate_limited` while one of the subjects has to wait. Asked before a password is looked at. */
export const refuseWhileThrottled = async (database: Database, clock: Clock, subjects: Subjects): Promise<void> => {
  const now = clock.now()
  const rows = await findThrottles(
    database.reader,
    keysOf(subjects).map(({ key }) => key),
  )
  const until = Math.max(0, ...rows.map((row) => (row.blocked_until === null ? 0 : Date.parse(row.blocked_until))))
  if (until <= now) return
  const retryAfterSeconds = Math.ceil((until - now) / 1000)
  throw new Failure('rate_limited', `Too many wrong tries. Wait ${retryAfterSeconds} seconds.`, { retryAfterSeconds })
}

/** Counts a wrong try against each subject. Beyond the free ones each further one doubles the pause. */
export const recordFailure = (database: Database, clock: Clock, subjects: Subjects): Promise<void> =>
  database.transaction(
    async (tx) => {
      const now = clock.now()
      for (const { key, free } of keysOf(subjects)) {
        const failures = await countFailure(tx, key, timestamp(now), timestamp(now - throttleForgottenAfterMs))
        const beyond = failures - free
        if (beyond <= 0) continue
        const pause = Math.min(signInBackoffFirstMs * 2 ** Math.min(beyond - 1, 20), signInBackoffMaxMs)
        await setBlocked(tx, key, timestamp(now + pause))
      }
    },
    { durability: 'relaxed' },
  )

/** The right password: the account starts from zero. The address does not, or one good account would hide a search. */
export const forgiveAccount = (database: Database, name: string): Promise<void> =>
  database.transaction((tx) => clearThrottle(tx, `account:${caseless(name)}`), { durability: 'relaxed' })
