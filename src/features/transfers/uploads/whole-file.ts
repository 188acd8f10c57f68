import { hasParts } from '../../../content/assembly/assembly.ts'
import { roomOf } from '../../../content/claims/room.ts'
import { ingest } from '../../../content/ingest/ingest.ts'
import { toSha256 } from '../../../kernel/digest.ts'
import { Failure } from '../../../kernel/failure.ts'
import type { ArtifactRecord } from '../../catalog/artifacts/vocabulary.ts'
import { publishSession } from './publish-session.ts'
import { recordOf, type Session, type UploadScope } from './session.ts'
import { type Turn, withTurn } from './turn.ts'
import type { UploadParts } from './uploads.ts'

/**
 * Takes the whole file in one request and publishes it under the session's id. 422 when size or digest differ, 409
 * `upload_state` when the session is not pending or has parts, 503 `busy` while another request sends to it. After a
 * failure the session is as before and takes another try.
 */
export const putContent = (
  parts: UploadParts,
  scope: UploadScope,
  id: string,
  body: { declaredBytes: number | null; pieces: AsyncIterable<Uint8Array> },
): Promise<ArtifactRecord> =>
  withTurn(parts, scope, id, async (session, turn) => {
    if (await hasParts(parts.database.reader, id))
      throw new Failure('upload_state', 'Parts of this upload are stored; send the others and complete it.')
    if (body.declaredBytes !== null && body.declaredBytes !== session.size)
      throw new Failure(
        'size_mismatch',
        `Content-Length is ${body.declaredBytes}; the session declares ${session.size}.`,
      )
    await parts.freeSpace.refuseUnlessRoomFor(session.size)
    await publishWhole(parts, session, turn, body.pieces)
    return { ...recordOf(session), status: 'available' }
  })

/** Takes bytes in from one stream and publishes them as the session's artifact. */
export const publishWhole = async (
  parts: UploadParts,
  session: Session,
  turn: Turn,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> =>
  ingest(
    parts,
    {
      room: await roomOf(parts, session.id),
      stagingId: turn.holder,
      pieces,
      expected: { bytes: session.size, digest: toSha256(session.sha256) },
      maxBytes: parts.maxObjectBytes,
    },
    { commit: (tx, _content, now) => publishSession(tx, session, turn, now) },
  )
