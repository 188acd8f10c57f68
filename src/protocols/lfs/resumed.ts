import { storedBytes } from '../../content/assembly/appended.ts'
import { meansPartsLost } from '../../content/assembly/assembly.ts'
import { publishAppended } from '../../content/assembly/published-appended.ts'
import type { IncomingBody } from '../../contract/handler.ts'
import {
  type AppendedScope,
  appendChunk,
  endAppended,
  endIdleAppended,
  type OpenAppended,
  openAppended,
  withAppended,
} from '../../features/transfers/uploads/appended-session.ts'
import type { UploadLease } from '../../features/transfers/uploads/lease.ts'
import type { UploadDeps } from '../../features/transfers/uploads/uploads.ts'
import { Failure, type FailureCode } from '../../kernel/failure.ts'
import { resumedUploadMs, resumedUploadsOfObjectMax, resumedUploadsPerCallerMax } from '../../kernel/limits/lfs.ts'
import { isStored, keepObject, type ObjectScope, receiveObject } from './objects.ts'
import { endNeedless, endUnfinished, unfinishedOf, unfinishedScope } from './unfinished.ts'

/**
 * Objects that are sent in several requests, since lines break (tus). Clients remember nothing: an upload is found by
 * the object and by who began it. Where somebody is sending to one, another sender begins another: both come to an end.
 * Whoever begins at the first byte begins anew: what was waited for before is given back, so that one of each object is
 * waited for, however often its line breaks.
 */
interface Wanted {
  readonly oid: string
  readonly size: number
}

type Found = Pick<OpenAppended, 'id' | 'stored'>

/**
 * Where a client goes on: behind what is stored, of the uploads that nobody sends to the furthest. A client believes
 * that an object is there whose last byte is stored, so that of one that was not published yet the last byte is asked
 * for again.
 */
export const offsetOf = async (deps: UploadDeps, scope: ObjectScope, wanted: Wanted): Promise<number> => {
  if (await isStored(deps, scope, wanted)) return wanted.size
  const open = await unfinishedOf(deps, unfinishedScope(scope, wanted.oid))
  return Math.max(0, ...idleOnes(open, wanted).map((each) => nextOffset(each, wanted)))
}

/** One that has more than the object can become nothing. */
const idleOnes = (open: readonly OpenAppended[], { size }: Wanted): readonly Found[] =>
  open.filter(({ isIdle, stored }) => isIdle && stored <= size)

const nextOffset = ({ stored }: Found, { size }: Wanted): number => Math.max(0, Math.min(stored, size - 1))

/**
 * Appends to an object from where {@link offsetOf} said, and answers how much is stored. With its last byte it is
 * verified and there. What came before a line broke is kept. 409 `upload_state` where nothing goes on at the offset,
 * 413 for more than an object may have, 422 where it is another object in the end, and then nothing of it is kept, as
 * where there is no room.
 */
export const appendToObject = async (
  deps: UploadDeps,
  scope: ObjectScope,
  wanted: Wanted,
  offset: number,
  body: IncomingBody,
): Promise<number> => {
  const { oid, size } = wanted
  if (size > deps.maxObjectBytes)
    throw new Failure('body_too_large', `A file may have at most ${deps.maxObjectBytes} bytes (SVC_MAX_OBJECT_BYTES).`)
  if (await isStored(deps, scope, wanted)) {
    await endNeedless(deps, scope, oid)
    return size
  }
  if (body.declaredBytes !== null) refuseBeyond(wanted, offset + body.declaredBytes)
  if (size === 0) {
    // There is nothing to go on with.
    await receiveObject(deps, scope, { oid, size, declaredBytes: body.declaredBytes, pieces: body.pieces })
    return size
  }
  const appended = unfinishedScope(scope, oid)
  for (let tries = 1; ; tries++) {
    let isBegun = false
    const at = await uploadAt(deps, appended, wanted, offset)
    try {
      return await withAppended(deps, appended, at.id, async (lease) => {
        isBegun = true
        const stored = await store(deps, appended, { at, size, offset, pieces: body.pieces }, lease)
        if (stored === size) await publish(deps, scope, wanted, at.id, lease)
        else await deps.database.transaction((tx) => lease.end(tx))
        if (stored === 0) await endUseless(deps, appended, at.id)
        return stored
      })
    } catch (error) {
      // Somebody began to send to the same one a moment before, or has ended it.
      if (!isBegun && offset === 0 && tries < beginningsMax && isTaken(error)) continue
      if (isBegun && (isEnd(error) || !(await isWorthKeeping(deps, scope, wanted, at.id))))
        await endUseless(deps, appended, at.id)
      throw error
    }
  }
}

/** How often a sender looks for an upload to begin with, while others take those that it found. */
const beginningsMax = 3

const isTaken = (error: unknown): boolean =>
  error instanceof Failure && (error.code === 'busy' || error.code === 'not_found')

interface Sent {
  readonly at: Found
  readonly size: number
  /** Of the first byte that comes. */
  readonly offset: number
  readonly pieces: AsyncIterable<Uint8Array>
}

/**
 * Appends what comes behind what is stored, and answers how much is stored then. Where all of it is, the upload may be
 * on its way to be published, and takes nothing any more: the byte that was asked for again is passed over.
 */
const store = async (
  deps: UploadDeps,
  scope: AppendedScope,
  { at, size, offset, pieces }: Sent,
  lease: UploadLease,
): Promise<number> => {
  const rest = behind(pieces, at.stored - offset, (bytes) => refuseBeyond({ size }, offset + bytes))
  if (at.stored === size) {
    for await (const _ of rest);
    return size
  }
  const cut = untilCut(rest)
  const chunk = { kind: 'lfs-object', offset: at.stored, pieces: cut.pieces, lifetimeMs: resumedUploadMs } as const
  const stored = await appendChunk(deps, scope, at.id, chunk, lease, async () => {})
  cut.refuse()
  return stored
}

const refuseBeyond = ({ size }: Pick<Wanted, 'size'>, bytes: number): void => {
  if (bytes > size) throw new Failure('size_mismatch', `The object has ${size} bytes; ${bytes} were sent.`)
}

/** The upload that goes on there; a new one at the beginning. */
const uploadAt = async (deps: UploadDeps, scope: AppendedScope, wanted: Wanted, offset: number): Promise<Found> => {
  const open = await unfinishedOf(deps, scope)
  const found = idleOnes(open, wanted).find((each) => nextOffset(each, wanted) === offset)
  if (found !== undefined) return found
  if (offset > 0)
    throw new Failure('upload_state', `Nothing of this object goes on at byte ${offset}. Ask how much is stored.`)
  if (open.filter(({ isIdle }) => !isIdle).length >= resumedUploadsOfObjectMax)
    throw new Failure('busy', 'You are sending this object already, more often than at once.', { retryAfterSeconds: 5 })
  await endUnfinished(deps, scope)
  const opening = { lifetimeMs: resumedUploadMs, perCallerMax: resumedUploadsPerCallerMax }
  return { id: await openAppended(deps, scope, opening), stored: 0 }
}

/** What comes behind so many bytes. `came` hears how many have come. */
async function* behind(
  pieces: AsyncIterable<Uint8Array>,
  skipped: number,
  came: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const piece of pieces) {
    const rest = piece.subarray(Math.max(0, Math.min(piece.byteLength, skipped - bytes)))
    bytes += piece.byteLength
    came(bytes)
    if (rest.byteLength > 0) yield rest
  }
}

const cuts: readonly FailureCode[] = ['invalid_request', 'upload_deadline']

/** What comes until the line breaks, as if that were the end; `refuse` says afterwards that it was not. */
const untilCut = (pieces: AsyncIterable<Uint8Array>) => {
  let cut: Failure | null = null
  async function* whatComes(): AsyncGenerator<Uint8Array> {
    try {
      yield* pieces
    } catch (error) {
      if (!(error instanceof Failure) || !cuts.includes(error.code)) throw error
      cut = error
    }
  }
  return {
    pieces: whatComes(),
    refuse: (): void => {
      if (cut !== null) throw cut
    },
  }
}

const publish = async (
  deps: UploadDeps,
  scope: ObjectScope,
  { oid }: Wanted,
  id: string,
  lease: UploadLease,
): Promise<void> => {
  const said = { algorithm: 'sha256', hex: oid } as const
  await publishAppended(deps, { claimId: id, said }, lease, async (tx, content, now) => {
    await endAppended(tx, id, lease)
    await keepObject(tx, scope, { id, sha256: content.digest, size: content.bytes }, now)
  })
  await endNeedless(deps, scope, oid)
}

/** Nobody can go on with other bytes, lost ones, more than there may be, or where the quota ends. */
const ends: readonly FailureCode[] = ['checksum_mismatch', 'size_mismatch', 'storage_quota', 'body_too_large']
const isEnd = (error: unknown): boolean =>
  meansPartsLost(error) || (error instanceof Failure && ends.includes(error.code))

/** Something is stored, of an object that is not there by another way meanwhile. */
const isWorthKeeping = async (deps: UploadDeps, scope: ObjectScope, wanted: Wanted, id: string): Promise<boolean> => {
  try {
    return (await storedBytes(deps, id)) > 0 && !(await isStored(deps, scope, wanted))
  } catch (error) {
    deps.report('whether an upload that broke off is worth keeping could not be found out; it is kept', error)
    return true
  }
}

/** What is stored of it is given back. */
const endUseless = (deps: UploadDeps, scope: AppendedScope, id: string): Promise<void> =>
  endIdleAppended(deps, scope, id).catch((error: unknown) =>
    deps.report('an upload that cannot go on could not be ended; it ends by itself', error),
  )
