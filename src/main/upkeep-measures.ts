import type { Database } from '../database/database.ts'
import type { Measure } from '../http/metrics.ts'
import { secondsSinceUpkeep, type UpkeepName, upkeepNames } from '../jobs/upkeep.ts'
import type { Clock } from '../kernel/clock.ts'

/** How long each part of the upkeep has not gone well, wherever it runs: also where no worker runs at all. */
export const upkeepMeasures = (database: Database, clock: Clock): Measure[] => {
  const names = Object.keys(upkeepNames).filter((name): name is UpkeepName => Object.hasOwn(upkeepNames, name))
  return names.map((name) => ({
    name: `svc_upkeep_${name}_age_seconds`,
    help: `Seconds since ${upkeepNames[name]} last went well in any process, known to the minute; NaN for never.`,
    kind: 'gauge',
    ofAll: true,
    read: () => secondsSinceUpkeep({ database, clock }, name),
  }))
}
