import { release, retire } from '../../content/claims/claims.ts'
import { isKeptWhole } from '../../content/claims/put-back.ts'
import type { Database, Queries, Transaction } from '../../database/database.ts'
import { lockRepository } from '../../database/locks.ts'
import type { LfsObjectsTable } from '../../database/tables/lfs.ts'
import type { TransferDeps } from '../../features/transfers/uploads/uploads.ts'
import { receiveWhole } from '../../features/transfers/whole/whole.ts'
import { appendJournal } from '../../journal/repository/journal.ts'
import { toSha256 } from '../../kernel/digest.ts'
import { Failure } from '../../kernel/failure.ts'
import { largeObjectBytes } from '../../kernel/limits/lfs.ts'
import { findObject, insertObject } from './objects.queries.ts'
import { endNeedless } from './unfinished.ts'

/**
 * Objects of Git LFS, known by the SHA-256 of their bytes, each held once in a repository by a claim of its own. What
 * one repository has is not there for another. Nobody knows which commits need an object, so that it stays until
 * somebody deletes it.
 */
export interface ObjectScope {
  readonly repository: string
  /** Who pushes. */
  readonly owner: string
}

interface Pushed {
  readonly id: string
  readonly sha256: string
  readonly size: number
}

/**
 * The row of bytes whose claim has just become live. Where the repository has the object already, the new claim goes
 * and the old one stands: of two who push it at once both are told that it is there.
 */
export const keepObject = async (
  tx: Transaction,
  { repository, owner }: ObjectScope,
  { id, sha256, size }: Pushed,
  now: string,
): Promise<void> => {
  await lockRepository(tx, repository)
  if ((await findObject(tx, repository, sha256)) !== undefined) {
    await retire(tx, id, now)
    await release(tx, id, now)
    return
  }
  await insertObject(tx, { id, repository, sha256, size, pushed_at: now, actor: owner, used_at: now })
  await appendJournal(tx, {
    repository,
    action: 'lfs.push',
    artifactId: id,
    detail: sha256,
    actor: owner,
    occurredAt: now,
  })
}

/** The object of a repository. 404 without one. */
export const objectAt = async (q: Queries, repository: string, oid: string): Promise<LfsObjectsTable> => {
  const found = await findObject(q, repository, oid)
  if (found === undefined) throw objectUnknown(oid)
  return found
}

export const objectUnknown = (oid: string): Failure =>
  new Failure('not_found', `There is no object ${oid} in this repository.`)

interface IncomingObject {
  readonly oid: string
  /** What the batch was told; null where the address does not say it. */
  readonly size: number | null
  readonly declaredBytes: number | null
  readonly pieces: AsyncIterable<Uint8Array>
}

/**
 * Takes an object in one request. 422 where the bytes are others than it is called by, or of another length, and
 * everything that `receiveWhole` throws; nothing is kept then. What its sender had begun to send in pieces is needed no
 * more.
 */
export const receiveObject = async (
  deps: TransferDeps,
  scope: ObjectScope,
  { oid, size, declaredBytes, pieces }: IncomingObject,
): Promise<void> => {
  refuseOtherSize(size, declaredBytes)
  await receiveWhole<true>(
    deps,
    scope,
    { name: oid, kind: 'lfs-object', declaredBytes: declaredBytes ?? size, digest: toSha256(oid), pieces },
    {
      early: async () => ((await isThere(deps, scope, oid)) ? true : null),
      commit: async (tx, row, content, now) => {
        await keepObject(tx, scope, { id: row.id, sha256: content.digest, size: content.bytes }, now)
        return true
      },
    },
  )
  if ((declaredBytes ?? size ?? 0) >= largeObjectBytes) await endNeedless(deps, scope, oid)
}

const isThere = async ({ database }: { readonly database: Database }, { repository }: ObjectScope, oid: string) =>
  (await findObject(database.reader, repository, oid)) !== undefined

/**
 * Whether it is there and the store has it as well, with its length: whoever hears that counts on it, and sends nothing
 * (`content/claims/put-back.ts`). False as well for one of another size.
 */
export const isStored = async (
  deps: Pick<TransferDeps, 'database' | 'store'>,
  { repository }: Pick<ObjectScope, 'repository'>,
  { oid, size }: { readonly oid: string; readonly size: number },
): Promise<boolean> => {
  const found = await findObject(deps.database.reader, repository, oid)
  return found?.size === size && (await isKeptWhole(deps, { digest: toSha256(oid), bytes: size }))
}

const refuseOtherSize = (size: number | null, declared: number | null): void => {
  if (size !== null && declared !== null && size !== declared)
    throw new Failure('size_mismatch', `The object has ${size} bytes, and Content-Length says ${declared}.`)
}

/**
 * Whether the object is there and has the size, the store asked as well. 404 where it is not, 422 where it has another.
 */
export const verifyObject = async (
  deps: Pick<TransferDeps, 'database' | 'store'>,
  repository: string,
  { oid, size }: { readonly oid: string; readonly size: number },
): Promise<void> => {
  const found = await objectAt(deps.database.reader, repository, oid)
  if (found.size !== size)
    throw new Failure('size_mismatch', `The object ${oid} has ${found.size} bytes here, and not ${size}.`)
  if (!(await isStored(deps, { repository }, { oid, size }))) throw objectUnknown(oid)
}
