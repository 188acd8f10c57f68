import type { Database } from '../database/database.ts'
import type { Measure } from '../http/metrics/measures.ts'
import { secondsSinceUpkeep } from '../jobs/upkeep.ts'
import type { Clock } from '../kernel/clock.ts'
import { everyUpkeep } from './upkeep.ts'

/** How long each part of the upkeep has not gone well, wherever it runs: also where no worker runs at all. */
export const upkeepMeasures = (database: Database, clock: Clock): Measure[] =>
  everyUpkeep.map(({ name, what }) => ({
    name: `svc_upkeep_${name}_age_seconds`,
    help: `Seconds since ${what} last went well in any process, known to the minute; NaN for never.`,
    kind: 'gauge',
    ofAll: true,
    read: () => secondsSinceUpkeep({ database, clock }, name),
  }))
