import type { Database } from '../../../database/database.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { damage, type Finding } from '../../../kernel/finding.ts'
import { leaseToleranceMs } from '../../../kernel/limits/jobs.ts'
import { uploadLeaseMs } from '../../../kernel/limits/transfers.ts'
import { findingsMax } from '../../../kernel/limits/upkeep.ts'
import { leasesAfter, updateUpload } from './uploads.queries.ts'

/** Proves that no request has the lease of an upload for longer than one may. */
export async function* checkUploads(deps: { database: Database; clock: Clock }): AsyncGenerator<Finding> {
  const { database, clock } = deps
  const latest = timestamp(clock.now() + uploadLeaseMs + leaseToleranceMs)
  for (const { id, turn_until } of await leasesAfter(database.reader, latest, findingsMax))
    yield damage(`upload ${id} is taken until ${turn_until}, which is longer than any request may`, () =>
      database.transaction((tx) => updateUpload(tx, id, { turn_until: timestamp(clock.now()) })),
    )
}
