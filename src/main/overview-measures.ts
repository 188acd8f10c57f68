import { figures, type OverviewDeps } from '../features/operating/health/overview.ts'
import type { Measure } from '../http/metrics/measures.ts'

/**
 * What an alert looks at: the room that is left, and whether what we depend on answers. NaN is what cannot be asked
 * now.
 */
export const overviewMeasures = (deps: OverviewDeps, reserveBytes: number): readonly Measure[] => {
  const gauge = (name: string, help: string, read: () => Promise<number | null>): Measure => ({
    name,
    help,
    kind: 'gauge',
    ofAll: true,
    read: () =>
      read().then(
        (value) => value ?? Number.NaN,
        () => Number.NaN,
      ),
  })
  const ofCatalog = (...measure: Parameters<typeof gauge>): Measure => ({ ...gauge(...measure), ofCatalog: true })
  const { database, freeSpace } = deps
  return [
    gauge('svc_database_up', '1 while the database answers, otherwise 0.', () =>
      database.probe().then(
        () => 1,
        () => 0,
      ),
    ),
    ofCatalog('svc_disk_free_bytes', 'What the disk of the files has left; NaN for an object store.', () =>
      figures.freeBytes(deps),
    ),
    gauge(
      'svc_disk_reserve_bytes',
      'What must stay free there; below it nothing is written.',
      async () => reserveBytes,
    ),
    gauge('svc_writable', '1 while there is room for more files, 0 below the reserve.', async () =>
      (await freeSpace.writable()) ? 1 : 0,
    ),
    ofCatalog('svc_published_bytes', 'Bytes of files that can be fetched, in all repositories.', () =>
      figures.publishedBytes(deps),
    ),
    ofCatalog('svc_reserved_bytes', 'Bytes that are reserved: of published, deleted and coming files.', () =>
      figures.reservedBytes(deps),
    ),
    ofCatalog('svc_upload_sessions_open', 'Upload sessions that are open.', () => figures.openSessions(deps)),
    ofCatalog('svc_jobs_open', 'Jobs that wait or run.', () => figures.openJobs(deps)),
    ofCatalog('svc_jobs_failed', 'Jobs that failed within the last day.', () => figures.failedJobs(deps)),
  ]
}
