import { type Content, holdAtOnce } from '../../../content/claims/room.ts'
import { ingest, verified } from '../../../content/ingest/ingest.ts'
import type { Transaction } from '../../../database/database.ts'
import type { HolderKind } from '../../../database/tables/claims.ts'
import type { UploadsTable } from '../../../database/tables/uploads.ts'
import type { Sha256 } from '../../../kernel/digest.ts'
import { Failure } from '../../../kernel/failure.ts'
import { newId } from '../../../kernel/ids.ts'
import { allowanceFor } from '../uploads/allowance.ts'
import { whileRenewing } from '../uploads/lease.ts'
import { transferRow } from '../uploads/rows.ts'
import type { UploadScope } from '../uploads/session.ts'
import type { TransferDeps } from '../uploads/uploads.ts'
import { abandonRawTransfer, closeRawTransfer, openRawTransfer, type RawTransfer } from './raw-transfer.ts'

/** A file that comes in one request. */
export interface WholeFile {
  readonly name: string
  /** What kind of thing it becomes. */
  readonly kind: HolderKind
  /** From Content-Length; null when the body comes in chunks. */
  readonly declaredBytes: number | null
  /** What the bytes must turn out to be, where that is said. */
  readonly digest: Sha256 | null
  readonly pieces: AsyncIterable<Uint8Array>
}

/** What a protocol does with a file that has come. */
export interface Arrival<T> {
  /**
   * Looks at the verified content before anything is stored for good; a value ends the transfer there, and nothing is
   * kept.
   */
  readonly early: (content: Content) => Promise<T | null>
  /**
   * Writes the rows of what was published, in the transaction that makes the bytes its own. `row` has the id that holds
   * them from now on. Throwing takes everything back.
   */
  readonly commit: (tx: Transaction, row: UploadsTable, content: Content, now: string) => Promise<T>
}

/**
 * The bracket around every upload of one request, whatever the protocol: reserve room, keep the reservation alive while
 * bytes come, take them in by the one door, and commit; or give everything back. 413 `body_too_large`, 422 for another
 * length or digest than was said, 507 where there is no room, 503 when the reservation lapsed meanwhile, or what
 * `early` and `commit` throw.
 */
export const receiveWhole = async <T>(
  deps: TransferDeps,
  scope: UploadScope,
  file: WholeFile,
  arrival: Arrival<T>,
): Promise<T> => {
  if (file.declaredBytes !== null && file.declaredBytes > deps.maxObjectBytes)
    throw new Failure('body_too_large', `A file may have at most ${deps.maxObjectBytes} bytes (SVC_MAX_OBJECT_BYTES).`)
  return await deps.smallBodies.gather(file.declaredBytes, file.pieces, ({ whole, pieces }) =>
    whole === null
      ? receiveInRoom(deps, scope, { ...file, pieces }, arrival)
      : receiveAtOnce(deps, scope, file, whole, arrival),
  )
}

/** What is small needs no room of its own before it comes: it is here, and one transaction does all. */
const receiveAtOnce = async <T>(
  deps: TransferDeps,
  scope: UploadScope,
  file: WholeFile,
  whole: Uint8Array,
  arrival: Arrival<T>,
): Promise<T> => {
  await deps.freeSpace.refuseUnlessRoomFor(whole.byteLength)
  const content = verified(deps, whole, { bytes: file.declaredBytes, digest: file.digest })
  const early = await arrival.early(content)
  if (early !== null) return early
  const nowMs = deps.clock.now()
  const row = transferRow(scope, { ...file, ...content }, newId(nowMs), nowMs)
  return await holdAtOnce(
    deps,
    { id: row.id, repository: scope.repository, holder: file.kind },
    { digest: content.digest, whole },
    (tx, found, now) => arrival.commit(tx, row, found, now),
  )
}

const receiveInRoom = async <T>(
  deps: TransferDeps,
  scope: UploadScope,
  file: WholeFile,
  arrival: Arrival<T>,
): Promise<T> => {
  const transfer = await openRawTransfer(deps, scope, {
    name: file.name,
    kind: file.kind,
    bytes: file.declaredBytes,
    digest: file.digest,
  })
  const { room, row, holder } = transfer
  let isKept = false
  const commit = async (tx: Transaction, content: Content, now: string): Promise<T> => {
    const told = await arrival.commit(tx, row, content, now)
    await closeRawTransfer(tx, transfer)
    isKept = true
    return told
  }
  try {
    const told = await whileRenewing(deps, row.id, holder, () =>
      ingest(
        deps,
        {
          room,
          stagingId: holder,
          pieces: file.pieces,
          expected: { bytes: file.declaredBytes, digest: file.digest },
          maxBytes: deps.maxObjectBytes,
          allowMore: () => allowanceFor(deps, row.owner),
        },
        { early: arrival.early, commit },
      ),
    )
    if (!isKept) await abandonRawTransfer(transfer)
    return told
  } catch (error) {
    await giveBack(deps, transfer)
    throw error instanceof Failure && error.code === 'upload_state' ? lapsed(error) : error
  }
}

const giveBack = (deps: TransferDeps, transfer: RawTransfer): Promise<void> =>
  abandonRawTransfer(transfer).catch((error: unknown) =>
    deps.report('a reservation could not be given back; it lapses by itself', error),
  )

/**
 * Upkeep took the transfer for a dead one: the clock jumped, or the process stood still. Nothing is wrong with the
 * request.
 */
const lapsed = (cause: Failure): Failure =>
  new Failure('unavailable', 'The reservation of this transfer lapsed while the file came in. Send it again.', {
    cause,
    retryAfterSeconds: 5,
  })
