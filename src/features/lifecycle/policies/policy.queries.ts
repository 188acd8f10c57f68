import type { Queries, Transaction } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import type { RepositoriesTable } from '../../../database/tables/repositories.ts'
import type { StoragePoliciesTable } from '../../../database/tables/storage-policies.ts'

export const findPolicyRow = (q: Queries, repository: string): Promise<StoragePoliciesTable | undefined> =>
  q.selectFrom('storage_policies').selectAll().where('repository', '=', repository).executeTakeFirst()

export const writePolicyRow = async (tx: Transaction, row: StoragePoliciesTable): Promise<void> => {
  const { repository: _, ...rest } = row
  await tx
    .insertInto('storage_policies')
    .values(row)
    .onConflict((conflict) => conflict.column('repository').doUpdateSet(rest))
    .execute()
}

export type ScheduleChange = Partial<
  Pick<
    StoragePoliciesTable,
    'next_run_at' | 'last_run_at' | 'last_deleted' | 'last_deleted_images' | 'last_deleted_npm_versions' | 'last_error'
  >
>

export const updateSchedule = async (tx: Transaction, repository: string, to: ScheduleChange): Promise<void> => {
  await tx.updateTable('storage_policies').set(to).where('repository', '=', repository).execute()
}

/** Policies whose time has come, longest due first, after one of them. */
export const duePolicies = (
  q: Queries,
  now: string,
  after: Pick<StoragePoliciesTable, 'repository'> & { readonly next_run_at: string },
  limit: number,
): Promise<StoragePoliciesTable[]> =>
  q
    .selectFrom('storage_policies')
    .selectAll()
    .where('next_run_at', 'is not', null)
    .where('next_run_at', '<=', now)
    .where((eb) => eb(eb.refTuple('next_run_at', 'repository'), '>', eb.tuple(after.next_run_at, after.repository)))
    .orderBy('next_run_at')
    .orderBy('repository')
    .limit(limit)
    .execute()

export type QuotaRow = Pick<
  RepositoriesTable,
  | 'id'
  | 'published_bytes'
  | 'pending_bytes'
  | 'retired_bytes'
  | 'quota_bytes'
  | 'warning_percent'
  | 'critical_percent'
  | 'told_usage'
>

const quotaColumns = [
  'id',
  'published_bytes',
  'pending_bytes',
  'retired_bytes',
  'quota_bytes',
  'warning_percent',
  'critical_percent',
  'told_usage',
] as const

export const findQuotaRow = (q: Queries, repository: string): Promise<QuotaRow | undefined> =>
  q
    .selectFrom('repositories')
    .select(quotaColumns)
    .where('id', '=', repository)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()

/** Takes the lock under which the policy of a repository changes, and what it keeps. */
export const lockQuotaRow = async (tx: Transaction, repository: string): Promise<QuotaRow | undefined> =>
  (await lockRepository(tx, repository)) ? findQuotaRow(tx, repository) : undefined

/** Repositories, in the order of their ids, whose usage has another name than that of none. */
export const quotaRowsAfter = (q: Queries, after: string, limit: number): Promise<QuotaRow[]> =>
  q
    .selectFrom('repositories')
    .select(quotaColumns)
    .where('id', '>', after)
    .where('deleted_at', 'is', null)
    .where((eb) => eb.or([eb('quota_bytes', 'is not', null), eb('told_usage', '!=', 'unlimited')]))
    .orderBy('id')
    .limit(limit)
    .execute()

export const updateQuota = async (
  tx: Transaction,
  repository: string,
  to: Partial<Pick<RepositoriesTable, 'quota_bytes' | 'warning_percent' | 'critical_percent' | 'told_usage'>>,
): Promise<void> => {
  await tx.updateTable('repositories').set(to).where('id', '=', repository).execute()
}

/** Policies that are enabled without a key, or that are due though nobody enabled them. */
export const policiesOnNobodysAuthority = (q: Queries, limit: number) =>
  q
    .selectFrom('storage_policies')
    .select(['repository', 'enabled'])
    .where((eb) =>
      eb.or([
        eb.and([eb('enabled', '=', 1), eb('key_id', 'is', null)]),
        eb.and([eb('enabled', '<>', 1), eb.or([eb('key_id', 'is not', null), eb('next_run_at', 'is not', null)])]),
      ]),
    )
    .limit(limit)
    .execute()
