import { lockLive, release, retire } from '../../../content/claims/claims.ts'
import { tellWhenGone } from '../../../content/reclaim/reclaim-queue.ts'
import type { Database, Transaction } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import { appendJournalOfMany } from '../../../journal/repository/journal.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { notFound } from '../../../kernel/failure.ts'
import { npmCachedPerDrop } from '../../../kernel/limits/npm-upstream.ts'
import { deleteEmptyPackages, forgetDocuments } from './cached.queries.ts'
import { cachedPackageIds, cachedTarballs, deleteCachedVersions, type Unwanted } from './dropping.queries.ts'

interface DroppingDeps {
  readonly database: Database
  readonly clock: Clock
}

export interface Dropped {
  readonly packages: number
  readonly tarballs: number
  readonly bytes: number
}

/**
 * Drops what came from an upstream, some of it in each transaction: tarballs with their claims, so that their room is
 * free at once, and documents, so that they are asked for anew. Nothing of it can be brought back, nor needs to be.
 * Whoever dies in between leaves less, and the next try goes on. 404 without the repository.
 */
export const dropCached = async (deps: DroppingDeps, unwanted: Unwanted, actor: string): Promise<Dropped> => {
  let [tarballs, bytes] = [0, 0]
  for (;;) {
    const ids = await cachedTarballs(deps.database.reader, unwanted, npmCachedPerDrop)
    if (ids.length === 0) break
    const dropped = await dropTarballs(deps, unwanted.repository, ids, actor)
    tarballs += dropped.length
    bytes += dropped.reduce((sum, { size }) => sum + size, 0)
  }
  let packages = 0
  for (let after = ''; ; ) {
    const ids = await cachedPackageIds(deps.database.reader, unwanted, after, npmCachedPerDrop)
    const last = ids.at(-1)
    if (last === undefined) break
    await deps.database.transaction(async (tx) => {
      await lockHere(tx, unwanted.repository)
      await forgetDocuments(tx, ids)
      await deleteEmptyPackages(tx, ids)
    })
    packages += ids.length
    after = last
  }
  return { packages, tarballs, bytes }
}

const lockHere = async (tx: Transaction, repository: string): Promise<void> => {
  if (!(await lockRepository(tx, repository))) throw notFound('repository')
}

const dropTarballs = ({ database, clock }: DroppingDeps, repository: string, ids: readonly string[], actor: string) =>
  database.transaction(async (tx) => {
    // Claims before the repository, as everywhere.
    for (const id of ids) await lockLive(tx, id)
    await lockHere(tx, repository)
    const now = timestamp(clock.now())
    const gone = await deleteCachedVersions(tx, ids)
    await appendJournalOfMany(
      tx,
      { repository, action: 'package.drop', actor, occurredAt: now },
      gone.map(({ id, name, version }) => ({ artifactId: id, detail: `${name}@${version}` })),
    )
    for (const { id, sha256 } of gone) {
      await retire(tx, id, now)
      await release(tx, id, now)
      await tellWhenGone(tx, sha256, { repository, subject: id })
    }
    return gone
  })
