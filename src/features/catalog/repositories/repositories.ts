import { release } from '../../../content/claims/claims.ts'
import { moveCounter } from '../../../database/counters.queries.ts'
import type { Database, Queries } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import { type Actor, appendSecurityAudit, changeAuthority } from '../../../journal/security-audit/security-audit.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { identityOf, type RepositoryIdentity } from '../../../kernel/repository-identity.ts'
import {
  deleteGrantsOn,
  deletePolicyOf,
  deleteUploadsOf,
  filledAmong,
  forgetDeletedIn,
  forgetNpmPackagesIn,
  forgetPromotionsOfImagesFrom,
  forgetRemovedPathsOf,
  holdsSomething,
  incarnationsAmong,
  insertRepository,
  listLive,
  liveAmong,
  liveIncarnation,
  markDeleted,
  retiredClaimIds,
} from './repositories.queries.ts'

export interface RepositoryDeps {
  readonly database: Database
  readonly clock: Clock
}

/** Which repository has the id now; null when none has. */
export const repositoryWith = async (q: Queries, id: string): Promise<RepositoryIdentity | null> => {
  const incarnation = await liveIncarnation(q, id)
  return incarnation === undefined ? null : identityOf(id, incarnation)
}

/** The repositories that have one of the given ids now, ordered. */
export const repositoriesAmong = async (q: Queries, ids: string[], limit: number): Promise<RepositoryIdentity[]> =>
  ids.length === 0 ? [] : (await liveAmong(q, ids, limit)).map((row) => identityOf(row.id, row.incarnation))

/**
 * Which repository each of these ids means in what is written now: the one that has it, otherwise the next that gets
 * it. Answers its incarnation.
 */
export const incarnationsOf = async (q: Queries, ids: readonly string[]): Promise<(id: string) => number> => {
  const rows = ids.length === 0 ? [] : await incarnationsAmong(q, ids)
  const known = new Map(rows.map((row) => [row.id, row.deleted_at === null ? row.incarnation : row.incarnation + 1]))
  return (id) => known.get(id) ?? 1
}

export interface RepositoryUsage {
  readonly id: string
  readonly createdAt: string
  readonly publishedBytes: number
  readonly pendingBytes: number
  readonly retiredBytes: number
}

/** All repositories with what they hold, for the operator. */
export const listRepositories = async (
  { database }: Pick<RepositoryDeps, 'database'>,
  after: string,
  limit: number,
): Promise<RepositoryUsage[]> =>
  (await listLive(database.reader, after, limit)).map((row) => ({
    id: row.id,
    createdAt: row.created_at,
    publishedBytes: row.published_bytes,
    pendingBytes: row.pending_bytes,
    retiredBytes: row.retired_bytes,
  }))

export interface Filled {
  readonly publishedBytes: string
  readonly lastChangeAt: string | null
}

/** What the cards of these repositories say of what is in them. */
export const filledOf = async (q: Queries, ids: readonly string[]): Promise<(id: string) => Filled | null> => {
  const rows = ids.length === 0 ? [] : await filledAmong(q, ids)
  const found = new Map(
    rows.map(({ id, published_bytes, occurred_at }) => [
      id,
      { publishedBytes: String(published_bytes), lastChangeAt: occurred_at },
    ]),
  )
  return (id) => found.get(id) ?? null
}

/**
 * Creates a repository that nobody has access to yet. 409 `already_exists`. One with the id of a deleted one is another
 * repository: bindings to the old one do not hold for it, and it shows nothing of the old journals. Their sequences go
 * on, so that a cursor of the old ones is told to be lost.
 */
export const createRepository = ({ database, clock }: RepositoryDeps, id: string, actor: Actor): Promise<void> =>
  changeAuthority(database, actor, async (tx) => {
    const occurredAt = timestamp(clock.now())
    if (!(await insertRepository(tx, id, occurredAt)))
      throw new Failure('already_exists', `A repository ${JSON.stringify(id)} exists.`)
    await appendSecurityAudit(tx, actor, { action: 'repository.create', subject: `repository:${id}`, occurredAt })
  })

/** Deletes a repository that holds nothing, with the grants on it. 409 `repository_not_empty`. */
export const deleteRepository = ({ database, clock }: RepositoryDeps, id: string, actor: Actor): Promise<void> =>
  changeAuthority(database, actor, async (tx) => {
    const occurredAt = timestamp(clock.now())
    if (!(await lockRepository(tx, id))) throw notFound('repository')
    if (await holdsSomething(tx, id))
      throw new Failure(
        'repository_not_empty',
        'Files are stored or being uploaded there. Delete them first; deleted ones count until their grace period is over.',
      )
    for (const claim of await retiredClaimIds(tx, id)) await release(tx, claim.id, occurredAt)
    await forgetDeletedIn(tx, id)
    await deleteUploadsOf(tx, id)
    await forgetRemovedPathsOf(tx, id)
    await forgetPromotionsOfImagesFrom(tx, id)
    await forgetNpmPackagesIn(tx, id)
    await deletePolicyOf(tx, id)
    await moveCounter(tx, 'grants', -(await deleteGrantsOn(tx, id)))
    await markDeleted(tx, id, occurredAt)
    await appendSecurityAudit(tx, actor, { action: 'repository.delete', subject: `repository:${id}`, occurredAt })
  })
