import { release } from '../../content/claims.ts'
import { moveCounter } from '../../database/counters.queries.ts'
import type { Database, Queries } from '../../database/database.ts'
import { appendSecurityAudit, changeAuthority, type Doer } from '../../journal/security-audit.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import { Failure, notFound } from '../../kernel/failure.ts'
import {
  deleteGrantsOn,
  deletePolicyOf,
  deleteUploadsOf,
  forgetDeletedIn,
  holdsSomething,
  insertRepository,
  listLive,
  liveAmong,
  lockLive,
  markDeleted,
  repositoryIsLive,
  retiredClaimIds,
} from './repositories.queries.ts'

export interface RepositoryParts {
  readonly database: Database
  readonly clock: Clock
}

export const repositoryExists = (q: Queries, id: string): Promise<boolean> => repositoryIsLive(q, id)

/** Those of the given ids that exist, ordered. */
export const repositoriesAmong = async (q: Queries, ids: string[], limit: number): Promise<string[]> =>
  ids.length === 0 ? [] : (await liveAmong(q, ids, limit)).map((row) => row.id)

export interface RepositoryUsage {
  readonly id: string
  readonly createdAt: string
  readonly publishedBytes: number
  readonly pendingBytes: number
  readonly retiredBytes: number
}

/** All repositories with what they hold, for the operator. */
export const listRepositories = async (
  { database }: Pick<RepositoryParts, 'database'>,
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

/**
 * Creates a repository that nobody has access to yet. 409 `already_exists`. An id that was deleted comes back empty; its
 * journal goes on where it stopped, so that whoever follows it misses nothing.
 */
export const createRepository = ({ database, clock }: RepositoryParts, id: string, doer: Doer): Promise<void> =>
  changeAuthority(database, doer, async (tx) => {
    const occurredAt = timestamp(clock.now())
    if (!(await insertRepository(tx, id, occurredAt)))
      throw new Failure('already_exists', `A repository ${JSON.stringify(id)} exists.`)
    await appendSecurityAudit(tx, doer, { action: 'repository.create', subject: `repository:${id}`, occurredAt })
  })

/** Deletes a repository that holds nothing, with the grants on it. 409 `repository_not_empty`. */
export const deleteRepository = ({ database, clock }: RepositoryParts, id: string, doer: Doer): Promise<void> =>
  changeAuthority(database, doer, async (tx) => {
    const occurredAt = timestamp(clock.now())
    if ((await lockLive(tx, id)) === undefined) throw notFound('repository')
    if (await holdsSomething(tx, id))
      throw new Failure(
        'repository_not_empty',
        'Files are stored or being uploaded there. Delete them first; deleted ones count until their grace period is over.',
      )
    for (const claim of await retiredClaimIds(tx, id)) await release(tx, claim.id, occurredAt)
    await forgetDeletedIn(tx, id)
    await deleteUploadsOf(tx, id)
    await deletePolicyOf(tx, id)
    await moveCounter(tx, 'grants', -(await deleteGrantsOn(tx, id)))
    await markDeleted(tx, id, occurredAt)
    await appendSecurityAudit(tx, doer, { action: 'repository.delete', subject: `repository:${id}`, occurredAt })
  })
