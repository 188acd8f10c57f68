import { receivePart, storedParts } from '../../../content/assembly/assembly.ts'
import { partCount, partLength } from '../../../content/assembly/part-plan.ts'
import type { Sha256 } from '../../../kernel/digest.ts'
import { Failure, invalid, notFound } from '../../../kernel/failure.ts'
import { withLease } from './lease.ts'
import { blobOf, described, type UploadScope } from './session.ts'
import { findUpload } from './uploads.queries.ts'
import type { UploadDeps } from './uploads.ts'

/**
 * Stores one part of a session; when it resolves the part survives a power cut. Parts come in any order, the same one
 * as often as it takes. 422 when size or digest differ, 409 `part_mismatch` for another content under a stored index,
 * `upload_state` when the session is not pending, 503 `busy` while another request sends to it.
 */
export const putPart = (
  deps: UploadDeps,
  scope: UploadScope,
  id: string,
  index: number,
  body: { digest: Sha256; declaredBytes: number | null; pieces: AsyncIterable<Uint8Array> },
): Promise<void> =>
  withLease(deps, scope, id, async (session, lease) => {
    const blob = blobOf(session)
    const count = partCount(blob)
    if (index >= count)
      throw invalid('/path/index', `must be below ${count}: the upload has ${count} parts of ${blob.partBytes} bytes`)
    const length = partLength(blob, index)
    if (body.declaredBytes !== null && body.declaredBytes !== length)
      throw new Failure('size_mismatch', `Content-Length is ${body.declaredBytes}; part ${index} has ${length} bytes.`)
    const incoming = { index, digest: body.digest, pieces: body.pieces }
    await receivePart(deps, blob, incoming, lease, (tx) => lease.end(tx))
  })

/** Stored parts of a session in order, as they are read: there may be ten thousand. 404 for others' uploads. */
export const listParts = async (
  deps: UploadDeps,
  scope: UploadScope,
  id: string,
): Promise<{ partBytes: number; items: AsyncIterable<{ index: number; size: number; sha256: string }> }> => {
  const row = await findUpload(deps.database.reader, scope.repository, id, scope.owner)
  if (row === undefined) throw notFound('upload')
  const blob = blobOf(described(row))
  const items = async function* () {
    // Of what has ended no part is left, or will be soon.
    if (row.status !== 'pending') return
    for await (const { index, digest } of storedParts(deps.database.reader, id))
      yield { index, size: partLength(blob, index), sha256: digest }
  }
  return { partBytes: blob.partBytes, items: items() }
}
