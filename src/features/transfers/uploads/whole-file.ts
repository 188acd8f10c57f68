import { hasParts } from '../../../content/assembly/assembly.ts'
import { roomOf } from '../../../content/claims/room.ts'
import { ingest } from '../../../content/ingest/ingest.ts'
import { toSha256 } from '../../../kernel/digest.ts'
import { Failure } from '../../../kernel/failure.ts'
import type { ArtifactRecord } from '../../catalog/artifacts/vocabulary.ts'
import { type UploadLease, withLease } from './lease.ts'
import { publishSession } from './publish-session.ts'
import { recordOf, type Session, type UploadScope } from './session.ts'
import type { UploadDeps } from './uploads.ts'

/**
 * Takes the whole file in one request and publishes it under the session's id. 422 when size or digest differ, 409
 * `upload_state` when the session is not pending or has parts, 503 `busy` while another request sends to it. After a
 * failure the session is as before and takes another try.
 */
export const putContent = (
  deps: UploadDeps,
  scope: UploadScope,
  id: string,
  body: { declaredBytes: number | null; pieces: AsyncIterable<Uint8Array> },
): Promise<ArtifactRecord> =>
  withLease(deps, scope, id, async (session, lease) => {
    if (await hasParts(deps.database.reader, id))
      throw new Failure('upload_state', 'Parts of this upload are stored; send the others and complete it.')
    if (body.declaredBytes !== null && body.declaredBytes !== session.size)
      throw new Failure(
        'size_mismatch',
        `Content-Length is ${body.declaredBytes}; the session declares ${session.size}.`,
      )
    await deps.freeSpace.refuseUnlessRoomFor(session.size)
    await publishWhole(deps, session, lease, body.pieces)
    return { ...recordOf(session), status: 'available' }
  })

/** Takes bytes in from one stream and publishes them as the session's artifact. */
export const publishWhole = async (
  deps: UploadDeps,
  session: Session,
  lease: UploadLease,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> =>
  ingest(
    deps,
    {
      room: await roomOf(deps, session.id),
      stagingId: lease.holder,
      pieces,
      expected: { bytes: session.size, digest: toSha256(session.sha256) },
      maxBytes: deps.maxObjectBytes,
    },
    { commit: (tx, _content, now) => publishSession(tx, session, lease, now) },
  )
