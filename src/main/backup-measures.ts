import type { Database } from '../database/database.ts'
import { healedSince } from '../features/operating/backups/healing.queries.ts'
import { backupStatusNow } from '../features/operating/backups/status.ts'
import { type Status, warningCodes } from '../features/operating/backups/vocabulary.ts'
import type { Measure } from '../http/metrics/measures.ts'
import { type Clock, timestamp } from '../kernel/clock.ts'
import { healedKeptMs } from '../kernel/limits/backups.ts'
import type { Settings } from './settings/rules.ts'

interface Deps {
  readonly database: Database
  readonly clock: Clock
  readonly settings: Pick<Settings, 'backupVault'>
}

/** How backups stand, whichever process takes them. Where no vault is named there is nothing to tell but that. */
export const backupMeasures = ({ database, clock, settings }: Deps): Measure[] => {
  const backupsConfigured = settings.backupVault !== null
  let reading: Promise<Status> | null = null
  /** All that are asked for at once are of one look. */
  const status = (): Promise<Status> => {
    reading ??= backupStatusNow({ database, clock, backupsConfigured }).finally(() => {
      reading = null
    })
    return reading
  }
  const gauge = (name: string, help: string, of: (status: Status) => number): Measure => ({
    name,
    help,
    kind: 'gauge',
    ofAll: true,
    ofCatalog: true,
    read: () => status().then(of, () => Number.NaN),
  })
  const seconds = (at: string | null | undefined): number => (typeof at === 'string' ? Date.parse(at) / 1000 : 0)
  return [
    {
      name: 'svc_backup_warning',
      help: '1 for each warning of backups that stands, by code; without a vault only that there is none.',
      kind: 'gauge',
      ofAll: true,
      ofCatalog: true,
      labels: ['code', 'severity'],
      read: async () => {
        const warnings = await status().then(
          ({ warnings: all }) => all,
          () => [],
        )
        return warnings.map(({ code, severity }) => ({ labels: { code, severity }, value: 1 }))
      },
    },
    gauge(
      'svc_backup_warnings',
      `Warnings that stand, of ${warningCodes.length} kinds.`,
      ({ warnings }) => warnings.length,
    ),
    gauge('svc_backup_point_timestamp_seconds', 'The moment that the newest point shows; 0 for none.', (found) =>
      seconds(found.lastCompleted?.snapshotAt),
    ),
    gauge('svc_backup_point_bytes', 'Bytes of the files of the newest point.', ({ lastCompleted }) =>
      Number(lastCompleted?.contentBytes ?? 0),
    ),
    gauge(
      'svc_backup_proven_timestamp_seconds',
      'When a restore was last proven by a rehearsal; 0 for never.',
      ({ lastProven }) => seconds(lastProven?.provenAt),
    ),
    gauge('svc_backup_rehearsal_failed', '1 where the last rehearsal failed.', ({ rehearsalError }) =>
      rehearsalError === null ? 0 : 1,
    ),
    gauge('svc_backup_agent_online', '1 while a backup agent tells that it is there.', ({ agent }) =>
      agent.online ? 1 : 0,
    ),
    gauge('svc_backup_vault_free_bytes', 'Room in the vault; NaN where that is not known.', ({ vault }) =>
      Number(vault.freeBytes ?? Number.NaN),
    ),
    {
      name: 'svc_scrub_healed_blobs',
      help: 'Files of the store that were brought back from the vault within the last year.',
      kind: 'gauge',
      ofAll: true,
      read: () => healedSince(database.reader, timestamp(clock.now() - healedKeptMs)).catch(() => Number.NaN),
    },
  ]
}
