import { meansPartsLost } from '../../content/assembly/assembly.ts'
import { publishAppended } from '../../content/assembly/published-appended.ts'
import type { IncomingBody } from '../../contract/handler.ts'
import {
  type AppendedScope,
  appendChunk,
  cancelAppended,
  endAppended,
  type IdleAppended,
  idleAppended,
  openAppended,
  withAppended,
} from '../../features/transfers/uploads/appended-session.ts'
import type { UploadLease } from '../../features/transfers/uploads/lease.ts'
import type { UploadDeps } from '../../features/transfers/uploads/uploads.ts'
import { Failure, type FailureCode } from '../../kernel/failure.ts'
import { resumedUploadMs, resumedUploadsOfObjectMax, resumedUploadsPerCallerMax } from '../../kernel/limits/lfs.ts'
import { findObject } from './objects.queries.ts'
import { keepObject, type ObjectScope } from './objects.ts'

/**
 * Objects that are sent in several requests, since lines break (tus). Clients remember nothing: an upload is found by
 * the object and by who began it. Where somebody is sending to one, another sender begins another: both come to an end.
 */
interface Wanted {
  readonly oid: string
  readonly size: number
}

const scopeOf = ({ repository, owner }: ObjectScope, { oid }: Wanted): AppendedScope => ({
  repository,
  owner,
  name: `lfs:${oid}`,
})

/**
 * Where a client goes on: behind what is stored, of the uploads that nobody sends to the furthest. A client believes
 * that an object is there whose last byte is stored, so that of one that was not published yet the last byte is asked
 * for again.
 */
export const offsetOf = async (deps: UploadDeps, scope: ObjectScope, wanted: Wanted): Promise<number> => {
  if (await isThere(deps, scope, wanted)) return wanted.size
  const open = await idleAppended(deps, scopeOf(scope, wanted), resumedUploadsOfObjectMax)
  return Math.max(0, ...open.map((each) => nextOffset(each, wanted)))
}

const isThere = async (
  { database }: Pick<UploadDeps, 'database'>,
  { repository }: ObjectScope,
  { oid, size }: Wanted,
): Promise<boolean> => (await findObject(database.reader, repository, oid))?.size === size

const nextOffset = ({ stored }: IdleAppended, { size }: Wanted): number => Math.max(0, Math.min(stored, size - 1))

/**
 * Appends to an object from where {@link offsetOf} said, and answers how much is stored. With its last byte it is
 * verified and there. What came before a line broke is kept. 409 `upload_state` where nothing goes on at the offset,
 * 422 where it is another object in the end, and then nothing of it is kept, as where there is no room.
 */
export const appendToObject = async (
  deps: UploadDeps,
  scope: ObjectScope,
  wanted: Wanted,
  offset: number,
  body: IncomingBody,
): Promise<number> => {
  const { size } = wanted
  if (await isThere(deps, scope, wanted)) return size
  if (body.declaredBytes !== null) refuseBeyond(wanted, offset + body.declaredBytes)
  const appended = scopeOf(scope, wanted)
  let isBegun = false
  const sendTo = (at: IdleAppended): Promise<number> =>
    endingWhereUseless(deps, appended, at.id, () =>
      withAppended(deps, appended, at.id, async (lease) => {
        isBegun = true
        const stored = await store(deps, appended, { at, size, offset, pieces: body.pieces }, lease)
        if (stored === size) await publish(deps, scope, wanted, at.id, lease)
        else await deps.database.transaction((tx) => lease.end(tx))
        return stored
      }),
    )
  try {
    return await sendTo(await uploadAt(deps, appended, wanted, offset))
  } catch (error) {
    // Somebody began to send to the same one a moment before.
    if (isBegun || offset > 0 || !(error instanceof Failure) || error.code !== 'busy') throw error
    return await sendTo(await newUpload(deps, appended))
  }
}

interface Sent {
  readonly at: IdleAppended
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
const uploadAt = async (
  deps: UploadDeps,
  scope: AppendedScope,
  wanted: Wanted,
  offset: number,
): Promise<IdleAppended> => {
  const open = await idleAppended(deps, scope, resumedUploadsOfObjectMax)
  const found = open.find((each) => nextOffset(each, wanted) === offset)
  if (found !== undefined) return found
  if (offset > 0)
    throw new Failure('upload_state', `Nothing of this object goes on at byte ${offset}. Ask how much is stored.`)
  return newUpload(deps, scope)
}

const newUpload = async (deps: UploadDeps, scope: AppendedScope): Promise<IdleAppended> => {
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

const publish = (
  deps: UploadDeps,
  scope: ObjectScope,
  { oid }: Wanted,
  id: string,
  lease: UploadLease,
): Promise<void> =>
  publishAppended(deps, { claimId: id, said: { algorithm: 'sha256', hex: oid } }, lease, async (tx, content, now) => {
    await endAppended(tx, id, lease)
    await keepObject(tx, scope, { id, sha256: content.digest, size: content.bytes }, now)
  })

const useless: readonly FailureCode[] = ['checksum_mismatch', 'size_mismatch', 'storage_quota']

/** Nobody can go on with other bytes, lost ones, or where the quota ends: what is stored is given back. */
const endingWhereUseless = async <T>(
  deps: UploadDeps,
  scope: AppendedScope,
  id: string,
  work: () => Promise<T>,
): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (meansPartsLost(error) || (error instanceof Failure && useless.includes(error.code)))
      await cancelAppended(deps, scope, id).catch((second: unknown) =>
        deps.report('an upload that cannot go on could not be cancelled; it ends by itself', second),
      )
    throw error
  }
}
