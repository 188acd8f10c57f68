import { createMetrics, type HttpMetrics } from '../../http/metrics/metrics.ts'
import type { JournalWatch } from '../../journal/repository/watch.ts'
import { backupMeasures } from '../backup-measures.ts'
import { databaseMeasures } from '../database-measures.ts'
import { type Downloads, downloadMeasures } from '../downloads.ts'
import type { Engines } from '../engines.ts'
import { inlineMeasures } from '../inline-measures.ts'
import { overviewMeasures } from '../overview-measures.ts'
import { offerMetrics } from '../process-metrics.ts'
import { quarantineMeasures } from '../quarantine-measures.ts'
import { reclaimMeasures } from '../reclaim-measures.ts'
import { transfersNow } from '../transfers-now.ts'
import { upkeepMeasures } from '../upkeep-measures.ts'
import { webhookMeasures } from '../webhook-measures.ts'

/** The metrics of a gateway: its own, and what the parts count. */
export const gatewayMetrics = (
  { database, clock, meter, freeSpace, settings }: Engines,
  downloads: Downloads,
  watch: JournalWatch,
): HttpMetrics => {
  const metrics = createMetrics(Math.floor(clock.now() / 1000))
  offerMetrics(metrics, () => transfersNow(metrics, downloads))
  metrics.show(overviewMeasures({ database, clock, freeSpace }, settings.freeSpaceReserveBytes))
  metrics.show(reclaimMeasures(database, clock, meter))
  metrics.show(upkeepMeasures(database, clock))
  metrics.show(quarantineMeasures(database, clock))
  metrics.show(webhookMeasures({ database, clock }))
  metrics.show(backupMeasures({ database, clock, settings }))
  metrics.show(inlineMeasures(database))
  metrics.show(databaseMeasures(database))
  metrics.show(downloadMeasures(downloads))
  downloads.meter.waited = metrics.timing('svc_download_wait_seconds', 'Time that downloads waited for a slot.')
  metrics.show([
    {
      name: 'svc_changes_waiting',
      help: 'Requests that wait for the next change of a repository.',
      kind: 'gauge',
      read: () => watch.waiting,
    },
  ])
  return metrics
}
