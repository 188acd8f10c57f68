import { lockLive, lockRetired, retire, revive } from '../../content/claims/claims.ts'
import type { Database, Transaction } from '../../database/database.ts'
import { lockRepository } from '../../database/locks.ts'
import type { LfsObjectsTable } from '../../database/tables/lfs.ts'
import { appendJournal } from '../../journal/repository/journal.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import { deletedObjects, findObject, setDeleted } from './objects.queries.ts'
import { type ObjectScope, objectUnknown } from './objects.ts'

interface Deps {
  readonly database: Database
  readonly clock: Clock
}

/**
 * Deletes an object: nobody gets it any more, and whoever has it may push it again. Until the grace period of the
 * repository is over it can be brought back; then its bytes go. 404 without one.
 */
export const deleteObject = async (deps: Deps, scope: ObjectScope, oid: string): Promise<void> => {
  const found = await findObject(deps.database.reader, scope.repository, oid)
  if (found === undefined) throw objectUnknown(oid)
  await deps.database.transaction(async (tx) => {
    // Its claim says what it is, to those as well who bring it back at the same time.
    const isLive = await lockLive(tx, found.id)
    await lockRepository(tx, scope.repository)
    if (!isLive) throw objectUnknown(oid)
    const now = timestamp(deps.clock.now())
    await retire(tx, found.id, now)
    await setDeleted(tx, found.id, now)
    await tell(tx, 'lfs.delete', scope, found, now)
  })
}

/**
 * Brings a deleted object back. Harmless for one that is there, also because somebody pushed it again. 404 when it
 * never was, or its grace period is over.
 */
export const restoreObject = async (deps: Deps, scope: ObjectScope, oid: string): Promise<LfsObjectsTable> => {
  const { repository } = scope
  const candidates = await deletedObjects(deps.database.reader, repository, oid)
  return deps.database.transaction(async (tx) => {
    // In one order, whoever else locks several.
    for (const id of candidates.map((each) => each.id).toSorted()) await lockRetired(tx, id)
    await lockRepository(tx, repository)
    const there = await findObject(tx, repository, oid)
    if (there !== undefined) return there
    for (const deleted of candidates) {
      if (!(await revive(tx, deleted.id))) continue
      await setDeleted(tx, deleted.id, null)
      await tell(tx, 'lfs.restore', scope, deleted, timestamp(deps.clock.now()))
      return { ...deleted, deleted_at: null }
    }
    throw objectUnknown(oid)
  })
}

const tell = (
  tx: Transaction,
  action: 'lfs.delete' | 'lfs.restore',
  { repository, owner }: ObjectScope,
  { id, sha256 }: LfsObjectsTable,
  now: string,
): Promise<void> =>
  appendJournal(tx, { repository, action, artifactId: id, detail: sha256, actor: owner, occurredAt: now })
