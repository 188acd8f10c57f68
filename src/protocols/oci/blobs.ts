import { createHash } from 'node:crypto'
import { lockLive, release, retire } from '../../content/claims/claims.ts'
import { tellWhenGone } from '../../content/reclaim/reclaim-queue.ts'
import type { Database, Transaction } from '../../database/database.ts'
import { lockRepository } from '../../database/locks.ts'
import type { TransferDeps } from '../../features/transfers/uploads/uploads.ts'
import { receiveWhole } from '../../features/transfers/whole/whole.ts'
import { appendJournal } from '../../journal/repository/journal.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import { toSha256 } from '../../kernel/digest.ts'
import { attachBlobs, blobById, deleteBlobRow, findBlob, holdAnew, insertBlob, setSha512 } from './blobs.queries.ts'
import { blobInUse, blobUnknown, digestInvalid } from './refusals.ts'
import { type Digest, sha256Digest } from './vocabulary.ts'

/**
 * Bytes of images, held once in each repository by a claim of their own, whatever names they are pushed below. A blob
 * is there for every name of its repository. What no manifest names is held for an hour after somebody counted on it
 * last, and while its push goes on (`unnamed-blobs.ts`).
 */
export interface ImageScope {
  readonly repository: string
  readonly name: string
  /** Who pushes. */
  readonly owner: string
}

/** Verified bytes that a live claim holds, and what they were called. */
interface Held {
  readonly id: string
  readonly repository: string
  /** Below which name they came. */
  readonly name: string
  readonly sha256: string
  readonly size: number
  /** What they were called by who sent them. */
  readonly called: Digest
}

/**
 * The row of bytes whose claim has just become live. Where the repository has them already, the new claim goes and the
 * old one stands. Answers the id. The caller's transaction has the lock of the repository.
 */
export const keepBlob = async (tx: Transaction, held: Held, now: string): Promise<string> => {
  const { id, repository, name, sha256, size, called } = held
  const sha512 = called.algorithm === 'sha512' ? called.hex : null
  const there = await findBlob(tx, repository, sha256Digest(sha256))
  if (there === undefined) {
    const since = { created_at: now, unused_since: now, sent_below: name, counted_on_at: now }
    await insertBlob(tx, { id, repository, sha256, sha512, size, ...since })
    await attachBlobs(tx, [id])
    return id
  }
  await retire(tx, id, now)
  await release(tx, id, now)
  await countOn(tx, there, name, called, now)
  return there.id
}

/** Somebody sent or mounted a blob that is there. */
const countOn = async (
  tx: Transaction,
  there: { readonly id: string; readonly sha512: string | null },
  name: string,
  called: Digest,
  now: string,
): Promise<void> => {
  if (called.algorithm === 'sha512' && there.sha512 === null) {
    await setSha512(tx, there.id, called.hex)
    await attachBlobs(tx, [there.id])
  }
  await holdAnew(tx, there.id, name, now)
}

/** The same in a transaction of its own; null where the blob is not there any more. */
export const countOnThere = (
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  { repository, name }: ImageScope,
  sought: Digest,
  called: Digest,
  alongside: (tx: Transaction, blobId: string, now: string) => Promise<void>,
): Promise<string | null> =>
  database.transaction(async (tx) => {
    if (!(await lockRepository(tx, repository))) return null
    const there = await findBlob(tx, repository, sought)
    if (there === undefined) return null
    const now = timestamp(clock.now())
    await countOn(tx, there, name, called, now)
    await alongside(tx, there.id, now)
    return there.id
  })

interface IncomingBlob {
  readonly digest: Digest
  /** Another digest that they are known to have. */
  readonly called?: Digest
  readonly declaredBytes: number | null
  readonly pieces: AsyncIterable<Uint8Array>
}

/**
 * Takes a blob in one request. `alongside` runs in the transaction that makes it visible, with its id. Everything that
 * `receiveWhole` throws: another digest is told as it is there.
 */
export const receiveBlob = async (
  deps: TransferDeps,
  scope: ImageScope,
  { digest, called = digest, declaredBytes, pieces }: IncomingBlob,
  alongside: (tx: Transaction, blobId: string, now: string) => Promise<void>,
): Promise<void> => {
  const sum = digest.algorithm === 'sha512' ? createHash('sha512') : null
  const verify = (): void => {
    const found = sum?.copy().digest('hex') ?? digest.hex
    if (found !== digest.hex)
      throw digestInvalid(`What was sent has the digest sha512:${found}; ${digest.text} was declared.`)
  }
  await receiveWhole(
    deps,
    scope,
    {
      name: digest.text,
      kind: 'oci-blob',
      declaredBytes,
      digest: sum === null ? toSha256(digest.hex) : null,
      pieces: sum === null ? pieces : alsoHashed(pieces, sum),
    },
    {
      there: async () => {
        const there = await findBlob(deps.database.reader, scope.repository, digest)
        return there === undefined ? null : { digest: toSha256(there.sha256), bytes: there.size }
      },
      early: async (content) => {
        verify()
        return await countOnThere(deps, scope, sha256Digest(content.digest), called, alongside)
      },
      commit: async (tx, row, content, now) => {
        const { id, repository } = row
        const { name } = scope
        const held = { id, repository, name, sha256: content.digest, size: content.bytes, called }
        const blobId = await keepBlob(tx, held, now)
        await alongside(tx, blobId, now)
        return blobId
      },
    },
  )
}

async function* alsoHashed(
  pieces: AsyncIterable<Uint8Array>,
  sum: { update(piece: Uint8Array): unknown },
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    sum.update(piece)
    yield piece
  }
}

/**
 * Deletes a blob that no manifest names; its room is free at once, its bytes soon after. 404 without one, 405 for one
 * that a manifest names.
 */
export const deleteBlob = async (
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  { repository, owner }: ImageScope,
  digest: Digest,
): Promise<void> => {
  const found = await findBlob(database.reader, repository, digest)
  if (found === undefined) throw blobUnknown(digest.text)
  await database.transaction(async (tx) => {
    const now = timestamp(clock.now())
    const gone = await giveUpBlob(tx, found, now)
    if (gone === 'unknown') throw blobUnknown(digest.text)
    if (gone === 'used')
      throw blobInUse(`A manifest names ${digest.text}; delete the manifest first.`, { digest: digest.text })
    await appendJournal(tx, {
      repository,
      action: 'blob.delete',
      artifactId: found.id,
      detail: digest.text,
      actor: owner,
      occurredAt: now,
    })
  })
}

/**
 * Gives a blob up unless it is named: its row, its claim, and, when reclaim comes to it, its bytes. Takes the locks of
 * the claim and of the repository, and looks under them; the caller has taken none.
 */
export const giveUpBlob = async (
  tx: Transaction,
  { id, repository }: { readonly id: string; readonly repository: string },
  now: string,
): Promise<'gone' | 'used' | 'unknown'> => {
  await lockLive(tx, id)
  await lockRepository(tx, repository)
  const blob = await blobById(tx, id)
  if (blob === undefined) return 'unknown'
  if (blob.unused_since === null) return 'used'
  await deleteBlobRow(tx, id)
  await retire(tx, id, now)
  await release(tx, id, now)
  await tellWhenGone(tx, blob.sha256, { repository, subject: id })
  return 'gone'
}
