import type { Database, Queries, Transaction } from '../../../database/database.ts'
import type { StoragePoliciesTable } from '../../../database/tables/storage-policies.ts'
import { type Actor, changeAuthority } from '../../../journal/security-audit/security-audit.ts'
import { appendStorageEvent } from '../../../journal/storage-events/storage-events.ts'
import type { Caller } from '../../../kernel/caller.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { Failure, type FailureDetail, invalid, notFound } from '../../../kernel/failure.ts'
import { revisionMax } from '../../../kernel/limits/catalog.ts'
import { minute } from '../../../kernel/units.ts'
import {
  findPolicyRow,
  findQuotaRow,
  lockQuotaRow,
  type QuotaRow,
  updateQuota,
  writePolicyRow,
} from './policy.queries.ts'
import { tellOfUsage } from './quota.ts'
import type { Policy } from './vocabulary.ts'

export interface PolicyDeps {
  readonly database: Database
  readonly clock: Clock
}

/** The policy of a repository and how its schedule goes. */
export interface SavedPolicy {
  readonly revision: number
  readonly policy: Policy
  readonly nextRunAt: string | null
  readonly lastRunAt: string | null
  readonly lastDeleted: number
  readonly lastDeletedImages: number
  readonly lastDeletedNpmVersions: number
  readonly lastError: string | null
}

/** Whoever saved a policy. The schedule deletes on the authority of the key. */
interface Saver {
  readonly actor: string
  readonly keyId: string | null
}

/** What a repository begins with: nothing is deleted, and who enables it as it is keeps plenty. */
const rulesAtFirst = {
  enabled: 0,
  grouping: 'package-channel',
  keep_last: 10,
  channels: '[]',
  protected_labels: '[]',
  min_age_hours: 720,
  interval_minutes: 1_440,
  key_id: null,
  next_run_at: null,
  last_run_at: null,
  last_deleted: 0,
  last_deleted_images: 0,
  last_deleted_npm_versions: 0,
  last_error: null,
} as const

const rowAtFirst = (repository: string): StoragePoliciesTable => ({ ...rulesAtFirst, repository, revision: 0 })

const savedPolicy = (row: StoragePoliciesTable, quota: QuotaRow): SavedPolicy => ({
  revision: row.revision,
  policy: {
    enabled: row.enabled === 1,
    grouping: row.grouping,
    keepLast: row.keep_last,
    channels: channelsIn(row.channels),
    protectedLabels: stringsIn(row.protected_labels),
    minAgeHours: row.min_age_hours,
    intervalMinutes: row.interval_minutes,
    quotaBytes: quota.quota_bytes === null ? null : String(quota.quota_bytes),
    warningPercent: quota.warning_percent,
    criticalPercent: quota.critical_percent,
  },
  nextRunAt: row.next_run_at,
  lastRunAt: row.last_run_at,
  lastDeleted: row.last_deleted,
  lastDeletedImages: row.last_deleted_images,
  lastDeletedNpmVersions: row.last_deleted_npm_versions,
  lastError: row.last_error,
})

const listIn = (json: string): unknown[] => {
  const parsed: unknown = JSON.parse(json)
  if (!Array.isArray(parsed)) throw new Error('a stored policy has another form')
  return parsed
}

const stringsIn = (json: string): string[] => listIn(json).map(String)

const channelsIn = (json: string): Policy['channels'] =>
  listIn(json).map((each) => {
    if (typeof each !== 'object' || each === null || !('label' in each) || !('keepLast' in each))
      throw new Error('a stored channel has another form')
    return { label: String(each.label), keepLast: Number(each.keepLast) }
  })

/** The policy, which every repository has: at first it is disabled. */
export const policyOf = async (q: Queries, repository: string): Promise<SavedPolicy> => {
  const quota = await findQuotaRow(q, repository)
  if (quota === undefined) throw notFound('repository')
  return savedPolicy((await findPolicyRow(q, repository)) ?? rowAtFirst(repository), quota)
}

/** What the fields of a policy say of each other. Throws the 400 that fits. */
const refuseContradictions = ({ warningPercent, criticalPercent, channels }: Policy): void => {
  if (warningPercent >= criticalPercent)
    throw invalid('/policy/warningPercent', `must be less than criticalPercent, which is ${criticalPercent}`)
  const repeated: FailureDetail[] = channels.flatMap(({ label }, at) =>
    channels.findIndex((other) => other.label === label) === at
      ? []
      : [{ pointer: `/policy/channels/${at}/label`, message: `names the channel ${JSON.stringify(label)} again` }],
  )
  if (repeated.length > 0)
    throw new Failure('invalid_request', 'Each channel of a policy has one entry.', { details: repeated })
}

/** 409 unless the revision is the expected one. */
export const refuseOtherRevision = (current: number, expected: number): void => {
  if (current === expected) return
  throw new Failure('revision_mismatch', `The policy is at revision ${current}; read it again, then decide.`)
}

/**
 * Replaces the whole policy. While it is enabled its schedule deletes on the authority of the key that saved it last,
 * for the first time one interval from now: whoever changes what is deleted has that long to look at it. `mayDelete` is
 * asked of who enables it, in the same transaction.
 */
export const savePolicy = async (
  deps: PolicyDeps,
  repository: string,
  wanted: { readonly expectedRevision: number; readonly policy: Policy },
  actor: Actor,
  mayDelete: (tx: Transaction, caller: Caller) => Promise<boolean>,
): Promise<SavedPolicy> => {
  const { policy, expectedRevision } = wanted
  refuseContradictions(policy)
  return changeAuthority(deps.database, actor, async (tx, caller) => {
    const saver = { actor: actor.actor, keyId: caller?.kind === 'service-key' ? caller.keyId : null }
    if (policy.enabled && (caller === null || !(await mayDelete(tx, caller))))
      throw new Failure('permission_missing', 'Enabling a policy needs artifact.delete on this repository as well.')
    if (policy.enabled && saver.keyId === null)
      throw new Failure('permission_missing', 'Only a service key can enable a policy: its schedule acts for that key.')
    const { row, quota } = await lockPolicy(tx, repository)
    refuseOtherRevision(row.revision, expectedRevision)
    const nowMs = deps.clock.now()
    const saved: StoragePoliciesTable = {
      ...row,
      revision: row.revision + 1,
      enabled: policy.enabled ? 1 : 0,
      grouping: policy.grouping,
      keep_last: policy.keepLast,
      channels: JSON.stringify(policy.channels),
      protected_labels: JSON.stringify(policy.protectedLabels),
      min_age_hours: policy.minAgeHours,
      interval_minutes: policy.intervalMinutes,
      key_id: policy.enabled ? saver.keyId : null,
      next_run_at: policy.enabled ? nextRun(policy.intervalMinutes, nowMs) : null,
      last_error: null,
    }
    const limits = {
      quota_bytes: policy.quotaBytes === null ? null : Number(policy.quotaBytes),
      warning_percent: policy.warningPercent,
      critical_percent: policy.criticalPercent,
    }
    return write(tx, saved, { ...quota, ...limits }, saver, timestamp(nowMs))
  })
}

export const nextRun = (intervalMinutes: number, nowMs: number): string => timestamp(nowMs + intervalMinutes * minute)

/** Sets the quota in the policy, for the operator: less than is reserved now refuses growth and takes nothing away. */
export const setQuota = (
  { database, clock }: PolicyDeps,
  repository: string,
  quotaBytes: number | null,
  actor: string,
): Promise<SavedPolicy> =>
  database.transaction(async (tx) => {
    const { row, quota } = await lockPolicy(tx, repository)
    if (row.revision === revisionMax) throw new Failure('revision_mismatch', 'The policy has used up its revisions.')
    const saved = { ...row, revision: row.revision + 1 }
    return write(tx, saved, { ...quota, quota_bytes: quotaBytes }, { actor, keyId: null }, timestamp(clock.now()))
  })

const lockPolicy = async (
  tx: Transaction,
  repository: string,
): Promise<{ row: StoragePoliciesTable; quota: QuotaRow }> => {
  const quota = await lockQuotaRow(tx, repository)
  if (quota === undefined) throw notFound('repository')
  return { row: (await findPolicyRow(tx, repository)) ?? rowAtFirst(repository), quota }
}

const write = async (
  tx: Transaction,
  row: StoragePoliciesTable,
  quota: QuotaRow,
  { actor, keyId }: Saver,
  now: string,
): Promise<SavedPolicy> => {
  const { quota_bytes, warning_percent, critical_percent } = quota
  await writePolicyRow(tx, row)
  await updateQuota(tx, row.repository, { quota_bytes, warning_percent, critical_percent })
  await appendStorageEvent(tx, {
    repository: row.repository,
    level: 'info',
    code: 'policy.saved',
    details: {
      revision: row.revision,
      enabled: row.enabled === 1 ? 'true' : 'false',
      actor,
      ...(keyId === null ? {} : { keyId }),
    },
    occurredAt: now,
  })
  await tellOfUsage(tx, quota, now)
  return savedPolicy(row, quota)
}
