import type { Database } from '../../../database/database.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { endedLinkKeysKeptMs } from '../../../kernel/limits/identity.ts'
import { upkeepBatch } from '../../../kernel/limits/upkeep.ts'
import { deleteLinkKeysEndedBefore } from './link-keys.queries.ts'

/** Forgets keys some time after their last link ended; until then its holder is told that it expired. */
export const settleLinkKeys = async ({ database, clock }: { database: Database; clock: Clock }): Promise<void> => {
  const ended = timestamp(clock.now() - endedLinkKeysKeptMs)
  while ((await database.transaction((tx) => deleteLinkKeysEndedBefore(tx, ended, upkeepBatch))) === upkeepBatch);
}
