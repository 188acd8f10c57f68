import type { Queries, Transaction } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import type { ArtifactsTable } from '../../../database/tables/artifacts.ts'
import { notFound } from '../../../kernel/failure.ts'
import type { Start } from '../../../kernel/order.ts'
import {
  artifactNameRows,
  countArtifactRows,
  findArtifactRow,
  listArtifactRows,
  publishedIds,
} from './artifacts.queries.ts'

/** Published files of a repository, in the order of their ids, which is that of their creation, or backwards. */
export const artifactsAfter = (
  q: Queries,
  repository: string,
  start: Start,
  limit: number,
): Promise<ArtifactsTable[]> => listArtifactRows(q, repository, start, limit)

/** How many files are published in the repository, up to so many. */
export const countFiles = countArtifactRows

/** A published file. Pending, cancelled and deleted ones are missing ones: 404. */
export const publishedArtifact = async (q: Queries, repository: string, id: string): Promise<ArtifactsTable> => {
  const row = await findArtifactRow(q, repository, id)
  if (row === undefined) throw notFound('artifact')
  return row
}

/** Those of the given ids that are published files of the repository. */
export const publishedAmong = async (
  q: Queries,
  repository: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> => new Set(ids.length === 0 ? [] : await publishedIds(q, repository, ids))

/**
 * What files are called, for lists that know them by id: null for what is no file of the repository, or gone for good.
 */
export const artifactNames = async (
  q: Queries,
  repository: string,
  ids: readonly string[],
): Promise<(id: string) => string | null> => {
  const rows = ids.length === 0 ? [] : await artifactNameRows(q, repository, [...new Set(ids)])
  const names = new Map(rows.map(({ id, name }) => [id, name]))
  return (id) => names.get(id) ?? null
}

/**
 * A published file that stays published until the transaction ends: whoever gives it something that keeps it (a path, a
 * reference, an attachment, a stage) and whoever deletes it take the same lock, so that each sees what the other did.
 */
export const heldArtifact = async (tx: Transaction, repository: string, id: string): Promise<ArtifactsTable> => {
  await lockRepository(tx, repository)
  return publishedArtifact(tx, repository, id)
}
