import { queueLength } from '../content/reclaim.queries.ts'
import type { ReclaimMeter } from '../content/reclaim-meter.ts'
import type { Database } from '../database/database.ts'
import type { Measure } from '../http/metrics.ts'
import { reclaimQueueCountedMax } from '../kernel/limits.ts'

/** What reclaim did in this process, and what waits for it anywhere. */
export const reclaimMeasures = (database: Database, { seen }: ReclaimMeter): readonly Measure[] => [
  {
    name: 'svc_reclaim_blobs_total',
    help: 'Blobs whose bytes were removed by this process.',
    kind: 'counter',
    read: () => seen.blobs,
  },
  {
    name: 'svc_reclaim_bytes_total',
    help: 'Bytes that this process removed.',
    kind: 'counter',
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
    ofAll: true,
    // Metrics are for bad times: what cannot be counted now does not take the others away.
    read: () => queueLength(database.reader, reclaimQueueCountedMax).catch(() => Number.NaN),
  },
]
