import { isKeptWhole, putBackInline } from '../../../content/claims/put-back.ts'
import { type Content, holdAtOnce } from '../../../content/claims/room.ts'
import { ingest, verified, verifyAlone } from '../../../content/ingest/ingest.ts'
import type { Transaction } from '../../../database/database.ts'
import type { HolderKind } from '../../../database/tables/claims.ts'
import type { UploadsTable } from '../../../database/tables/uploads.ts'
import type { Sha256 } from '../../../kernel/digest.ts'
import { Failure, type FailureCode } from '../../../kernel/failure.ts'
import { newId } from '../../../kernel/ids.ts'
import { gatheredFileBytesMax } from '../../../kernel/limits/transfers.ts'
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
  /**
   * More than so many it cannot be, where that is known of one that nobody declared: what is small is taken whole
   * before room is set aside, which is then done at once for what it is.
   */
  readonly mostBytes?: number | undefined
  /** What the bytes must turn out to be, where that is said. */
  readonly digest: Sha256 | null
  readonly pieces: AsyncIterable<Uint8Array>
}

/** What a protocol does with a file that has come. */
export interface Arrival<T> {
  /**
   * What was declared, where it is there already as far as one knows: where there is no room for it, it needs none.
   * What `early` says counts.
   */
  readonly there?: () => Promise<Content | null>
  /**
   * Looks at the verified content before anything is stored for good; a value ends the transfer there, and nothing is
   * kept but what the store has lost of it.
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
  return await deps.smallBodies.gather(
    file.declaredBytes,
    file.pieces,
    async ({ whole, pieces }) => {
      if (whole === null) return await receiveInRoom(deps, scope, { ...file, pieces }, arrival)
      const content = verified(deps, whole, { bytes: file.declaredBytes, digest: file.digest })
      if (deps.smallBodies.isInline(whole.byteLength))
        return await receiveAtOnce(deps, scope, file, { whole, content }, arrival)
      const declared = { ...file, declaredBytes: content.bytes, digest: content.digest, pieces: inOnePiece(whole) }
      return await receiveInRoom(deps, scope, declared, arrival, content)
    },
    gatheredOf(file, deps.maxObjectBytes),
  )
}

const gatheredOf = ({ mostBytes = 0 }: WholeFile, maxObjectBytes: number): number =>
  mostBytes > Math.min(gatheredFileBytesMax, maxObjectBytes) ? 0 : mostBytes

async function* inOnePiece(whole: Uint8Array): AsyncGenerator<Uint8Array> {
  yield whole
}

/** What is small needs no room of its own before it comes: it is here, and one transaction does all. */
const receiveAtOnce = async <T>(
  deps: TransferDeps,
  scope: UploadScope,
  file: WholeFile,
  { whole, content }: { readonly whole: Uint8Array; readonly content: Content },
  arrival: Arrival<T>,
): Promise<T> => {
  await deps.freeSpace.refuseUnlessRoomFor(whole.byteLength)
  const early = await arrival.early(content)
  if (early !== null) {
    await putBackInline(deps, { digest: content.digest, whole })
    return early
  }
  const nowMs = deps.clock.now()
  const row = transferRow(scope, { ...file, ...content }, newId(nowMs), nowMs)
  return await holdAtOnce(
    deps,
    { id: row.id, repository: scope.repository, holder: file.kind },
    { digest: content.digest, whole },
    (tx, found, now) => arrival.commit(tx, row, found, now),
  )
}

/** What is there needs no room: it is verified. */
const receiveThere = async <T>(deps: TransferDeps, file: WholeFile, { early }: Arrival<T>): Promise<T> => {
  const expected = { bytes: file.declaredBytes, digest: file.digest }
  const told = await early(await verifyAlone(deps, { pieces: file.pieces, expected, maxBytes: deps.maxObjectBytes }))
  if (told !== null) return told
  throw new Failure('unavailable', 'What was sent was there and was deleted while it came in. Send it again.', {
    retryAfterSeconds: 1,
  })
}

/** `known` is what all of it is, where it is here already. */
const receiveInRoom = async <T>(
  deps: TransferDeps,
  scope: UploadScope,
  file: WholeFile,
  arrival: Arrival<T>,
  known?: Content,
): Promise<T> => {
  const transfer = await roomFor(deps, scope, file, arrival)
  if (transfer === null) return await receiveThere(deps, file, arrival)
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
          verified: known,
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

const noRoom: ReadonlySet<FailureCode> = new Set(['storage_quota', 'insufficient_space'])

/**
 * Room for a file; null where it needs none, since it is there. Whoever says how much comes is refused where there is
 * no room before a byte comes, and only then is looked: with room of its own a file comes whatever is deleted
 * meanwhile.
 */
const roomFor = async <T>(
  deps: TransferDeps,
  scope: UploadScope,
  { name, kind, declaredBytes, digest }: WholeFile,
  arrival: Arrival<T>,
): Promise<RawTransfer | null> => {
  const isThere = async (): Promise<boolean> => {
    const there = (await arrival.there?.()) ?? null
    return there !== null && (await isKeptWhole(deps, there))
  }
  if (declaredBytes === null && (await isThere())) return null
  try {
    return await openRawTransfer(deps, scope, { name, kind, bytes: declaredBytes, digest })
  } catch (error) {
    if (error instanceof Failure && noRoom.has(error.code) && (await isThere())) return null
    throw error
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
