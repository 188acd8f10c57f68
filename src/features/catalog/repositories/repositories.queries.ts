import { sql } from 'kysely'
import type { Queries, Transaction } from '../../../database/database.ts'
import { type Parameters, prepareQuery } from '../../../database/prepared.ts'
import { quotaCriticalPercent, quotaWarningPercent } from '../../../kernel/limits/lifecycle.ts'

const liveRepository = prepareQuery(
  (q, p: Parameters<{ id: string }>) =>
    q.selectFrom('repositories').select('incarnation').where('id', '=', p('id')).where('deleted_at', 'is', null),
  { planned: 'once' },
)

/** Undefined when there is none. */
export const liveIncarnation = async (q: Queries, id: string): Promise<number | undefined> =>
  (await liveRepository(q, { id }))[0]?.incarnation

export const incarnationsAmong = (q: Queries, ids: readonly string[]) =>
  q.selectFrom('repositories').select(['id', 'incarnation', 'deleted_at']).where('id', 'in', ids).execute()

export const liveAmong = (q: Queries, ids: string[], limit: number) =>
  q
    .selectFrom('repositories')
    .select(['id', 'incarnation'])
    .where('id', 'in', ids)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .limit(limit)
    .execute()

export const listLive = (q: Queries, after: string, limit: number) =>
  q
    .selectFrom('repositories')
    .select(['id', 'created_at', 'published_bytes', 'pending_bytes', 'retired_bytes'])
    .where('deleted_at', 'is', null)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()

/** How full these are, and the last line of each journal, as far as that is kept. */
export const filledAmong = (q: Queries, ids: readonly string[]) =>
  q
    .selectFrom('repositories')
    .select((eb) => [
      'id',
      'published_bytes',
      eb
        .selectFrom('journal')
        .select('occurred_at')
        .whereRef('journal.repository', '=', 'repositories.id')
        .whereRef('journal.sequence', '>', 'repositories.journal_base')
        .orderBy('journal.sequence', 'desc')
        .limit(1)
        .as('occurred_at'),
    ])
    .where('id', 'in', ids)
    .execute()

/** The end of what the latest restore passed over: a repository of this name may have been told of before it. */
const latestGap = sql<number>`(select coalesce(max("through"), 0) from journal_gaps)`

/**
 * Makes a new row, or takes up that of a deleted one for another repository. Its journals begin one beyond where the
 * old ones ended, so that nobody's cursor of the old ones fits the new. False when it is there already.
 */
export const insertRepository = async (tx: Transaction, id: string, now: string): Promise<boolean> => {
  const row = await tx
    .insertInto('repositories')
    .values({
      id,
      created_at: now,
      deleted_at: null,
      incarnation: 1,
      journal_head: latestGap,
      journal_base: latestGap,
      published_bytes: 0,
      pending_bytes: 0,
      retired_bytes: 0,
      quota_bytes: null,
      grace_hours: null,
      cleanup_revision: 0,
      warning_percent: quotaWarningPercent,
      critical_percent: quotaCriticalPercent,
      told_usage: 'unlimited',
      storage_event_head: 0,
      storage_event_base: 0,
    })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet((eb) => ({
          created_at: now,
          deleted_at: null,
          incarnation: eb('repositories.incarnation', '+', 1),
          journal_head: eb('repositories.journal_head', '+', 1),
          journal_base: eb('repositories.journal_head', '+', 1),
          storage_event_head: eb('repositories.storage_event_head', '+', 1),
          storage_event_base: eb('repositories.storage_event_head', '+', 1),
          quota_bytes: null,
          grace_hours: null,
          cleanup_revision: 0,
          warning_percent: quotaWarningPercent,
          critical_percent: quotaCriticalPercent,
          told_usage: 'unlimited',
        }))
        .where('repositories.deleted_at', 'is not', null),
    )
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Something whose bytes are stored or on their way. */
export const holdsSomething = async (tx: Transaction, id: string): Promise<boolean> =>
  (await tx
    .selectFrom('claims')
    .select('claims.id')
    .leftJoin('blobs', 'blobs.sha256', 'claims.sha256')
    .where('repository', '=', id)
    .where((eb) => eb.or([eb('claims.state', 'in', ['pending', 'live']), eb('blobs.state', '=', 'stored')]))
    .limit(1)
    .executeTakeFirst()) !== undefined

export const retiredClaimIds = (tx: Transaction, id: string) =>
  tx.selectFrom('claims').select('id').where('repository', '=', id).execute()

/** With the jobs that completed them. */
export const deleteUploadsOf = async (tx: Transaction, id: string): Promise<void> => {
  await tx.deleteFrom('jobs').where('repository', '=', id).execute()
  await tx.deleteFrom('uploads').where('repository', '=', id).execute()
}

/** Nothing of a deleted repository can be brought back, nor what was attached to it. */
export const forgetDeletedIn = async (tx: Transaction, id: string): Promise<void> => {
  const deleted = tx.selectFrom('deleted_artifacts').select('id').where('repository', '=', id)
  for (const table of [
    'annotation_revisions',
    'annotations',
    'attachments',
    'attachment_revisions',
    'freed_packages',
  ] as const)
    await tx.deleteFrom(table).where('artifact_id', 'in', deleted).execute()
  await tx.deleteFrom('promotions').where('copy_id', 'in', deleted).execute()
  await tx.deleteFrom('deleted_artifacts').where('repository', '=', id).execute()
  await tx.deleteFrom('lfs_objects').where('repository', '=', id).execute()
}

/** A repository that comes back has images of the same names, and promoted none of them. */
export const forgetPromotionsOfImagesFrom = async (tx: Transaction, id: string): Promise<void> => {
  await tx.deleteFrom('oci_promotions').where('source_repository', '=', id).execute()
}

/** A repository that comes back has npm packages of the same names, and none of their versions was there before. */
export const forgetNpmPackagesIn = async (tx: Transaction, id: string): Promise<void> => {
  const packages = tx.selectFrom('npm_packages').select('id').where('repository', '=', id)
  const versions = tx.selectFrom('npm_versions').select('id').where('repository', '=', id)
  await tx
    .deleteFrom('npm_promotions')
    .where((eb) => eb.or([eb('source_repository', '=', id), eb('copy_id', 'in', versions)]))
    .execute()
  for (const table of ['npm_tags', 'npm_documents', 'npm_versions', 'npm_pieces'] as const)
    await tx.deleteFrom(table).where('package_id', 'in', packages).execute()
  const cached = tx.selectFrom('npm_cached_packages').select('id').where('repository', '=', id)
  await tx.deleteFrom('npm_cached_pieces').where('package_id', 'in', cached).execute()
  for (const table of [
    'npm_cached_versions',
    'npm_cached_packages',
    'npm_fetches',
    'npm_upstreams',
    'npm_packages',
  ] as const)
    await tx.deleteFrom(table).where('repository', '=', id).execute()
  await tx.deleteFrom('npm_taken_versions').where('repository', '=', id).execute()
}

/** Whose files are gone, their history is as well; a repository that comes back numbers paths from the first. */
export const forgetRemovedPathsOf = async (tx: Transaction, id: string): Promise<void> => {
  await tx.deleteFrom('removed_paths').where('repository', '=', id).execute()
}

/** A repository that comes back under the same id begins without a policy, immutable tags and locks. */
export const deletePolicyOf = async (tx: Transaction, id: string): Promise<void> => {
  await tx.deleteFrom('storage_policies').where('repository', '=', id).execute()
  await tx.deleteFrom('oci_immutable_tags').where('repository', '=', id).execute()
  await tx.deleteFrom('lfs_settings').where('repository', '=', id).execute()
  await tx.deleteFrom('lfs_locks').where('repository', '=', id).execute()
  await tx.deleteFrom('usage_samples').where('repository', '=', id).execute()
}

export const deleteGrantsOn = async (tx: Transaction, id: string): Promise<number> => {
  const result = await tx.deleteFrom('group_grants').where('repository', '=', id).executeTakeFirst()
  return Number(result.numDeletedRows)
}

export const markDeleted = async (tx: Transaction, id: string, now: string): Promise<void> => {
  await tx.updateTable('repositories').set({ deleted_at: now }).where('id', '=', id).execute()
}
