import type { Database } from '../../../database/database.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { endedSessionsKeptMs, endedTokensKeptMs, throttleForgottenAfterMs } from '../../../kernel/limits/identity.ts'
import { upkeepBatch } from '../../../kernel/limits/upkeep.ts'
import { upkeepRun } from '../../../kernel/one-by-one.ts'
import { forgetSessions } from '../sessions/sessions.ts'
import { forgetThrottles } from '../sessions/throttle.ts'
import { forgetTokens } from '../tokens/tokens.ts'

/**
 * Forgets sessions and tokens some time after their end (until then their holder is told that they expired), and old
 * throttles.
 */
export const settleSessions = async ({
  database,
  clock,
  report,
}: {
  readonly database: Database
  readonly clock: Clock
  readonly report: (message: string, error: unknown) => void
}): Promise<void> => {
  const run = upkeepRun(report)
  const ended = timestamp(clock.now() - endedSessionsKeptMs)
  await run.attempt('forgetting ended sessions', async () => {
    while ((await database.transaction((tx) => forgetSessions(tx, ended, upkeepBatch))) === upkeepBatch);
  })
  const endedTokens = timestamp(clock.now() - endedTokensKeptMs)
  await run.attempt('forgetting ended tokens', async () => {
    while ((await database.transaction((tx) => forgetTokens(tx, endedTokens, upkeepBatch))) === upkeepBatch);
  })
  const forgotten = timestamp(clock.now() - throttleForgottenAfterMs)
  await run.attempt('forgetting old throttles', async () => {
    while ((await database.transaction((tx) => forgetThrottles(tx, forgotten, upkeepBatch))) === upkeepBatch);
  })
  run.end()
}
