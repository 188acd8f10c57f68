import type { Database, Queries } from '../../../database/database.ts'
import type { BackupAgentsTable } from '../../../database/tables/backups.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { agentOnlineMs, lowSpaceBytes, lowSpacePercent, staleAfterMs } from '../../../kernel/limits/backups.ts'
import { isOfFuture } from './keeping.ts'
import { findAgentRow } from './plan.queries.ts'
import { nextRunOf, planRow } from './plan.ts'
import type { PointRow } from './points.queries.ts'
import { isLying, pointsOfVault } from './points.ts'
import { provenRestore } from './rehearsals.ts'
import { type BackupJob, lastEnded, runningBackup } from './requests.ts'
import { jobView, planView, pointView } from './views.ts'
import type { Status, Warning, warningCodes } from './vocabulary.ts'

interface StatusDeps {
  readonly database: Database
  readonly clock: Clock
  /** Whether the settings name a vault. */
  readonly backupsConfigured: boolean
}

/** How backups stand: what an operator has to know and to do. No paths, no secrets. */
export const backupStatus = ({ database, clock, backupsConfigured }: StatusDeps): Promise<Status> =>
  database.snapshot((q) => statusOf(q, clock.now(), backupsConfigured))

/** The same of whatever commits there are by now: it waits for nothing, also while a disk does not answer. */
export const backupStatusNow = ({ database, clock, backupsConfigured }: StatusDeps): Promise<Status> =>
  statusOf(database.reader, clock.now(), backupsConfigured)

const statusOf = async (q: Queries, nowMs: number, configured: boolean): Promise<Status> => {
  const agent = (await findAgentRow(q)) ?? null
  const plan = await planRow(q)
  const online = agent !== null && isSince(agent.last_seen_at, nowMs - agentOnlineMs, nowMs)
  const vaultId = agent?.vault_id ?? null
  const points = configured && vaultId !== null ? await pointsOfVault(q, vaultId) : []
  const newest = points.find(isLying) ?? null
  const running = await runningBackup(q)
  const next = nextRunOf(plan)
  const available = configured && online && agent.vault_available === 1
  return {
    vault: {
      configured,
      id: configured ? vaultId : null,
      available,
      encrypted: configured && vaultId !== null ? agent?.encrypted === 1 : null,
      freeBytes: configured ? decimal(agent?.free_bytes) : null,
      totalBytes: configured ? decimal(agent?.total_bytes) : null,
    },
    agent: { online, lastSeenAt: agent?.last_seen_at ?? null, version: agent?.version.slice(0, 64) ?? null },
    plan: planView(plan),
    lastCompleted: newest === null ? null : pointView(newest),
    nextRunAt: next === null ? null : timestamp(next),
    running: running === null ? null : jobView(running),
    ...(await provenRestore(q, configured ? vaultId : null, nowMs)),
    warnings: warningsOf({
      configured,
      online,
      available,
      enabled: plan.enabled === 1,
      points,
      agent,
      lastCapture: await lastEnded(q, 'capture', nowMs),
      lastRetention: await lastEnded(q, 'retention', nowMs),
      nowMs,
    }),
  }
}

const decimal = (bytes: number | null | undefined): string | null =>
  bytes === null || bytes === undefined ? null : String(bytes)

interface Known {
  readonly configured: boolean
  readonly online: boolean
  readonly available: boolean
  readonly enabled: boolean
  /** Newest first. */
  readonly points: readonly PointRow[]
  readonly agent: BackupAgentsTable | null
  readonly lastCapture: BackupJob | null
  readonly lastRetention: BackupJob | null
  readonly nowMs: number
}

/** What needs a person. Where there is no vault, nothing else is worth saying. */
export const warningsOf = ({
  configured,
  online,
  available,
  enabled,
  points: known,
  agent,
  lastCapture,
  lastRetention,
  nowMs,
}: Known): Warning[] => {
  if (!configured) return [{ code: 'vault_not_configured', severity: 'critical' }]
  const points = known.filter(isLying)
  const newest = points[0]
  const found: [(typeof warningCodes)[number], Warning['severity'], boolean][] = [
    ['agent_offline', 'critical', !online],
    ['vault_unavailable', 'critical', online && !available],
    ['schedule_disabled', 'warning', !enabled],
    ['no_backup_yet', 'critical', newest === undefined],
    [
      'backup_stale',
      'critical',
      newest !== undefined && !points.some((point) => isSince(point.snapshot_at, nowMs - staleAfterMs, nowMs)),
    ],
    ['last_run_failed', 'critical', lastCapture?.state === 'failed' || lastCapture?.state === 'interrupted'],
    ['vault_low_space', 'warning', isLow(agent)],
    [
      'verify_failed',
      'critical',
      // Retention reads the lists of all points: it may come upon what nobody has verified yet.
      known.some((point) => point.verify_error !== null || !isLying(point)) ||
        lastRetention?.error_code?.startsWith('point_') === true,
    ],
    [
      'never_deep_verified',
      'warning',
      newest !== undefined && !points.some((point) => point.verify_depth === 'deep' && point.verify_error === null),
    ],
  ]
  return found.filter(([, , holds]) => holds).map(([code, severity]) => ({ code, severity }))
}

/** Since a moment, and not by a clock that was ahead. */
const isSince = (at: string, sinceMs: number, nowMs: number): boolean =>
  Date.parse(at) >= sinceMs && !isOfFuture(at, nowMs)

const isLow = (agent: BackupAgentsTable | null): boolean => {
  const free = agent?.free_bytes ?? null
  const total = agent?.total_bytes ?? null
  return free !== null && total !== null && (free < lowSpaceBytes || free * 100 < total * lowSpacePercent)
}
