import type { FreeSpace } from '../../../content/ingest/free-space.ts'
import type { Database } from '../../../database/database.ts'
import type { Caller } from '../../../kernel/caller.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { tokenEndsSoonMs } from '../../../kernel/limits/identity.ts'
import { attentionMax } from '../../../kernel/limits/process.ts'
import { tokensOf } from '../../identity/tokens/tokens.ts'
import { backupStatusNow } from '../backups/status.ts'
import { figures, ifPossible } from '../health/overview.ts'
import { webhooksStand } from '../webhooks/shown.ts'
import type { Need } from './vocabulary.ts'

export interface AttentionDeps {
  readonly database: Database
  readonly clock: Clock
  readonly freeSpace: FreeSpace
  readonly backupsConfigured: boolean
  readonly role: 'api' | 'reader'
}

interface Line {
  readonly code: Need
  readonly severity: 'warning' | 'critical'
  readonly subject: string | null
  readonly count: number | null
}

const line = (code: Need, more: Partial<Line> = {}): Line => ({
  code,
  severity: 'warning',
  subject: null,
  count: null,
  ...more,
})

/** What the caller ought to do something about; critical lines first. */
export const attentionOf = async (deps: AttentionDeps, caller: Caller): Promise<Line[]> => {
  const lines = [
    ...(caller.administrator ? await ofService(deps) : []),
    ...(caller.kind === 'account' && caller.credential === 'session' ? await ofTokens(deps, caller.id) : []),
  ]
  const isCritical = ({ severity }: Line): boolean => severity === 'critical'
  return [...lines.filter(isCritical), ...lines.filter((each) => !isCritical(each))].slice(0, attentionMax)
}

const ofService = async (deps: AttentionDeps): Promise<Line[]> => {
  const { warnings } = await backupStatusNow(deps)
  const isFull = deps.role === 'api' && (await ifPossible(deps.freeSpace.writable())) === false
  const failed = await figures.failedJobs(deps)
  return [
    ...warnings.map(({ code, severity }) => line(code, { severity })),
    ...(isFull ? [line('not_writable', { severity: 'critical' })] : []),
    ...(failed > 0 ? [line('jobs_failed', { count: failed })] : []),
    ...(await webhooksStand(deps))
      .filter(({ failingSince }) => failingSince !== null)
      .map(({ host }) => line('webhook_failing', { subject: host })),
  ]
}

const ofTokens = async (deps: AttentionDeps, accountId: string): Promise<Line[]> => {
  const nowMs = deps.clock.now()
  const endsSoon = (expiresAt: string): boolean => {
    const leftMs = Date.parse(expiresAt) - nowMs
    return leftMs > 0 && leftMs < tokenEndsSoonMs
  }
  return (await tokensOf(deps, accountId))
    .filter(({ revoked, expiresAt }) => !revoked && endsSoon(expiresAt))
    .map(({ name }) => line('token_ends_soon', { subject: name }))
}
