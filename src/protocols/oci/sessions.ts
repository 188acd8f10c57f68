import { publishAppended } from '../../content/assembly/published-appended.ts'
import type { IncomingBody } from '../../contract/handler.ts'
import type { Transaction } from '../../database/database.ts'
import {
  type AppendedScope,
  appendChunk,
  appendedBytes,
  cancelAppended,
  endAppended,
  hasRoom,
  openAppended,
  withAppended,
} from '../../features/transfers/uploads/appended-session.ts'
import type { UploadLease } from '../../features/transfers/uploads/lease.ts'
import type { UploadDeps } from '../../features/transfers/uploads/uploads.ts'
import { Failure } from '../../kernel/failure.ts'
import { blobUploadMs, blobUploadsPerCallerMax, emptyBlobUploadMs } from '../../kernel/limits/oci.ts'
import { isUuid } from '../../kernel/names.ts'
import { keepBlob, receiveBlob } from './blobs.ts'
import { sizeInvalid, uploadUnknown } from './refusals.ts'
import type { Digest } from './vocabulary.ts'

/**
 * Uploads of blobs. Whoever sends everything with the last request sends a whole file; what comes before that is
 * appended to the upload, which any process goes on with.
 */
export type BlobUploadScope = AppendedScope

/** Where a chunk goes, as its header says; null where it says nothing. */
export interface ChunkRange {
  readonly first: number
  readonly last: number
}

/** The header's form was checked. 400 for a chunk that ends before it begins. */
export const chunkRange = (header: string | undefined): ChunkRange | null => {
  if (header === undefined) return null
  const [, first, last] = /(\d+)-(\d+)/.exec(header) ?? []
  const range = { first: Number(first), last: Number(last) }
  if (range.last < range.first) throw sizeInvalid(`Content-Range: ${header} ends before it begins.`)
  return range
}

/** What `Range` says of so many bytes: clients take nothing for one byte at 0. */
export const rangeOf = (bytes: number): string => `0-${Math.max(0, bytes - 1)}`

/** Begins an upload, and answers its id. */
export const beginBlobUpload = (deps: UploadDeps, scope: BlobUploadScope): Promise<string> =>
  openAppended(deps, scope, { lifetimeMs: emptyBlobUploadMs, perCallerMax: blobUploadsPerCallerMax })

/** How much of it is stored. 404 for what is no upload of this caller, below this name. */
export const blobUploadBytes = (deps: UploadDeps, scope: BlobUploadScope, id: string): Promise<number> =>
  known(id, () => appendedBytes(deps, scope, id))

/** What is no upload for content is told in the words of the wire. */
const known = async <T>(id: string, work: () => Promise<T>): Promise<T> => {
  if (!isUuid(id)) throw uploadUnknown(id)
  try {
    return await work()
  } catch (error) {
    throw error instanceof Failure && error.code === 'not_found' ? uploadUnknown(id) : error
  }
}

/**
 * Appends to an upload, and answers how much is stored then. 416 out of order, which changes nothing; an upload for
 * which there is no room ends.
 */
export const appendToUpload = (
  deps: UploadDeps,
  scope: BlobUploadScope,
  id: string,
  body: IncomingBody,
  range: ChunkRange | null,
): Promise<number> =>
  known(id, async () => {
    const said = asLongAsSaid(body, range)
    return endingWithoutRoom(deps, scope, id, () =>
      withAppended(deps, scope, id, (lease) => appendBody(deps, scope, id, said, range, lease, (tx) => lease.end(tx))),
    )
  })

/** 400 for another length than the range has: at once where it is declared, otherwise when it shows. */
const asLongAsSaid = (body: IncomingBody, range: ChunkRange | null): IncomingBody => {
  if (range === null) return body
  const { declaredBytes, pieces } = body
  const said = range.last - range.first + 1
  if (declaredBytes !== null && said !== declaredBytes)
    throw sizeInvalid(`Content-Range says ${said} bytes, and Content-Length ${declaredBytes}.`)
  return { ...body, pieces: counted(pieces, said) }
}

async function* counted(pieces: AsyncIterable<Uint8Array>, said: number): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const piece of pieces) {
    bytes += piece.byteLength
    if (bytes > said) throw sizeInvalid(`Content-Range says ${said} bytes, and more were sent.`)
    yield piece
  }
  if (bytes < said) throw sizeInvalid(`Content-Range says ${said} bytes, and ${bytes} were sent.`)
}

const appendBody = async (
  deps: UploadDeps,
  scope: BlobUploadScope,
  id: string,
  { pieces }: IncomingBody,
  range: ChunkRange | null,
  lease: UploadLease,
  alongside: (tx: Transaction) => Promise<void>,
): Promise<number> => {
  const chunk = { kind: 'oci-blob', offset: range?.first ?? null, pieces, lifetimeMs: blobUploadMs } as const
  try {
    return await appendChunk(deps, scope, id, chunk, lease, alongside)
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'range_not_satisfiable') throw error
    const headers = { location: uploadLocation(scope, id), range: rangeOf(await appendedBytes(deps, scope, id)) }
    throw new Failure(error.code, error.message, { headers })
  }
}

export const uploadLocation = ({ repository, name }: BlobUploadScope, id: string): string =>
  `/v2/${repository}/${name}/blobs/uploads/${id}`

/** Nobody can go on where the quota ends; what is stored is given back. */
const endingWithoutRoom = async <T>(
  deps: UploadDeps,
  scope: BlobUploadScope,
  id: string,
  work: () => Promise<T>,
): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Failure && error.code === 'storage_quota')
      await cancelAppended(deps, scope, id).catch((second: unknown) =>
        deps.report('an upload without room could not be cancelled; it ends by itself', second),
      )
    throw error
  }
}

/**
 * Ends an upload with what it is said to be, and the rest of its bytes or all of them. 416 out of order, which changes
 * nothing; 400 for another digest: then a rest has been appended, and the upload goes on behind it.
 */
export const completeUpload = (
  deps: UploadDeps,
  scope: BlobUploadScope,
  id: string,
  { digest, body, range }: { readonly digest: Digest; readonly body: IncomingBody; readonly range: ChunkRange | null },
): Promise<void> =>
  known(id, () => {
    const said = asLongAsSaid(body, range)
    return endingWithoutRoom(deps, scope, id, () =>
      withAppended(deps, scope, id, async (lease) => {
        const end = (tx: Transaction): Promise<void> => endAppended(tx, id, lease)
        const isBegun = await hasRoom(deps.database.reader, id)
        if (!isBegun && (range === null || range.first === 0)) return receiveBlob(deps, scope, { digest, ...said }, end)
        if (said.declaredBytes !== 0) await appendBody(deps, scope, id, said, range, lease, async () => {})
        await publishAppended(deps, { claimId: id, said: digest }, lease, async (tx, content, now) => {
          await end(tx)
          const { repository, name } = scope
          await keepBlob(tx, { id, repository, name, sha256: content.digest, size: content.bytes, called: digest }, now)
        })
      }),
    )
  })

/** Cancels an upload. 404 for what is none. */
export const cancelBlobUpload = (deps: UploadDeps, scope: BlobUploadScope, id: string): Promise<void> =>
  known(id, () => cancelAppended(deps, scope, id))
