import { queueLength } from '../content/reclaim/reclaim.queries.ts'
import type { ReclaimMeter } from '../content/reclaim/reclaim-meter.ts'
import { oldestRemoval, removalCount } from '../content/reclaim/removal.queries.ts'
import type { Database } from '../database/database.ts'
import type { Measure } from '../http/metrics/measures.ts'
import type { Clock } from '../kernel/clock.ts'
import { reclaimQueueCountedMax } from '../kernel/limits/upkeep.ts'

/** What reclaim did in this process, and what waits for it anywhere. */
export const reclaimMeasures = (database: Database, clock: Clock, { seen }: ReclaimMeter): readonly Measure[] => [
  {
    name: 'svc_reclaim_blobs_total',
    help: 'Blobs whose bytes were removed by this process.',
    kind: 'counter',
    ofCatalog: true,
    read: () => seen.blobs,
  },
  {
    name: 'svc_reclaim_bytes_total',
    help: 'Bytes that this process removed.',
    kind: 'counter',
    ofCatalog: true,
    read: () => seen.bytes,
  },
  {
    name: 'svc_reclaim_failures_total',
    help: 'Removals that failed in this process and are tried again.',
    kind: 'counter',
    read: () => seen.failures,
  },
  {
    name: 'svc_reclaim_last_run_timestamp_seconds',
    help: 'When this process last went through the queue, in seconds since the Unix epoch; 0 for never.',
    kind: 'gauge',
    ofAll: true,
    read: () => seen.lastRunMs / 1000,
  },
  {
    name: 'svc_reclaim_queue_length',
    help: `Digests that wait for reclaim to look at them, counted up to ${reclaimQueueCountedMax}; NaN while the database is away.`,
    kind: 'gauge',
    ofCatalog: true,
    ofAll: true,
    // Metrics are for bad times: what cannot be counted now does not take the others away.
    read: () => queueLength(database.reader, reclaimQueueCountedMax).catch(() => Number.NaN),
  },
  {
    name: 'svc_reclaim_removals',
    help: `Blobs that were given up and whose bytes are still to be removed, counted up to ${reclaimQueueCountedMax}; NaN while the database is away.`,
    kind: 'gauge',
    ofCatalog: true,
    ofAll: true,
    read: () => removalCount(database.reader, reclaimQueueCountedMax).catch(() => Number.NaN),
  },
  {
    name: 'svc_reclaim_oldest_removal_seconds',
    help: 'How long the oldest of them has been waiting; 0 where there is none, NaN while the database is away.',
    kind: 'gauge',
    ofAll: true,
    read: async () => {
      try {
        const since = await oldestRemoval(database.reader)
        return since === undefined ? 0 : Math.max(0, (clock.now() - Date.parse(since)) / 1000)
      } catch {
        return Number.NaN
      }
    },
  },
]
