import { setTimeout as pause } from 'node:timers/promises'
import { bytesToRead, publishAssembly } from '../../../content/assembly/assembled.ts'
import { firstMissingPart, meansPartsLost } from '../../../content/assembly/assembly.ts'
import { partCount } from '../../../content/assembly/part-plan.ts'
import type { Queries } from '../../../database/database.ts'
import { enqueue, type Job, type JobFault, readJobOf } from '../../../jobs/enqueue.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { completionInlineBytesMax, completionWaitMs } from '../../../kernel/limits/transfers.ts'
import type { ArtifactRecord } from '../../catalog/artifacts/vocabulary.ts'
import { type UploadLease, withLease } from './lease.ts'
import { publishSession } from './publish-session.ts'
import { blobOf, ended, lockOwn, recordOf, type Session, sessionOf, type UploadScope } from './session.ts'
import { findUpload } from './uploads.queries.ts'
import type { UploadDeps } from './uploads.ts'
import { publishWhole } from './whole-file.ts'

/** Who asks for a completion. */
export interface Asker extends UploadScope {
  /** Id of the managed key, if it is one. */
  readonly credentialId: string | null
}

const find = async (deps: UploadDeps, scope: UploadScope, id: string): Promise<Session> => {
  const row = await findUpload(deps.database.reader, scope.repository, id, scope.owner)
  if (row === undefined) throw notFound('upload')
  return sessionOf(deps.database.reader, row)
}

/**
 * Publishes a session whose parts are all stored. Asking again for a published one answers the same. 409
 * `parts_incomplete`, 422 `checksum_mismatch`, 503 `busy` while a part is being sent, or when reading the parts again
 * takes longer than a request may wait: the worker is at it, and asking again joins it.
 */
export const completeUpload = async (deps: UploadDeps, asker: Asker, id: string): Promise<ArtifactRecord> => {
  const session = await find(deps, asker, id)
  if (session.status === 'available') return recordOf(session)
  if (session.status !== 'pending') throw ended(session)
  const job = await readJobOf(deps.database.reader, 'completion', id)
  if (job !== undefined && job.ended_at === null) return outcomeOf(deps, asker, id)
  if ((await bytesToRead(deps, blobOf(session))) > completionInlineBytesMax) {
    await requestCompletion(deps, asker, id)
    return outcomeOf(deps, asker, id)
  }
  return withLease(deps, asker, id, async (held, lease) => {
    await publishParts(deps, held, lease)
    return { ...recordOf(held), status: 'available' }
  })
}

/**
 * Asks the worker to complete a session; asking again answers the same job. 409 `parts_incomplete`, 507 `queue_full`.
 */
export const requestCompletion = async (deps: UploadDeps, asker: Asker, id: string): Promise<Job> => {
  const job = await deps.database.transaction(async (tx) => {
    const session = await lockOwn(tx, asker, id)
    if (session.status !== 'pending') throw ended(session)
    await refuseIncomplete(tx, session)
    const { repository, owner, credentialId } = asker
    return enqueue(tx, { kind: 'completion', subject: id, repository, owner, credentialId }, deps.clock.now())
  })
  deps.jobsWaiting.raise()
  return job
}

/** Waits for the job of a session as long as a request may. */
const outcomeOf = async (deps: UploadDeps, asker: Asker, id: string): Promise<ArtifactRecord> => {
  const until = performance.now() + completionWaitMs
  for (let waitMs = 10; performance.now() < until; waitMs = Math.min(waitMs * 2, 500)) {
    const session = await find(deps, asker, id)
    if (session.status === 'available') return recordOf(session)
    const job = await readJobOf(deps.database.reader, 'completion', id)
    if (session.status !== 'pending') throw ended(session)
    if (job === undefined)
      throw new Failure('upload_state', 'The job that was to complete the upload is gone. Ask again.')
    if (job.status === 'failed') throw failureOf(job)
    await pause(waitMs)
  }
  throw new Failure('busy', 'The upload is being completed, which takes longer than this request may. Ask again.', {
    retryAfterSeconds: 5,
  })
}

const failureOf = (job: Job): Failure => {
  switch (job.error_code) {
    case 'integrity_mismatch':
      return new Failure(
        'checksum_mismatch',
        'The parts together have another SHA-256 than was declared. Cancel the upload.',
      )
    case 'parts_lost':
      return new Failure('upload_state', 'Stored parts of this upload are gone. Cancel it and send it anew.')
    default:
      return new Failure('unavailable', `Completing the upload failed (${job.error_code}). Ask again.`)
  }
}

const refuseIncomplete = async (q: Queries, session: Session): Promise<void> => {
  const blob = blobOf(session)
  const missing = await firstMissingPart(q, session.id, blob)
  if (missing !== null)
    throw new Failure(
      'parts_incomplete',
      `Part ${missing} of ${partCount(blob)} is missing; list the parts and send the rest.`,
    )
}

const publishParts = async (deps: UploadDeps, session: Session, lease: UploadLease): Promise<void> => {
  await refuseIncomplete(deps.database.reader, session)
  // Nothing has no parts, and is complete.
  if (session.size === 0) return publishWhole(deps, session, lease, nothing())
  await publishAssembly(deps, blobOf(session), lease, (tx, _content, now) => publishSession(tx, session, lease, now))
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** What a completion job does. */
export const runCompletion = (deps: UploadDeps, job: Job): Promise<void> =>
  withLease(deps, { repository: job.repository, owner: job.owner }, job.subject, (session, lease) =>
    publishParts(deps, session, lease),
  )

/**
 * What a failed attempt means: whether another may do better, and what the job says of it. Takes failures; what is none
 * is a bug.
 */
export const judgeCompletion = (error: unknown): JobFault => {
  if (meansPartsLost(error)) return { errorCode: 'parts_lost', lastingly: true }
  if (!(error instanceof Failure)) return { errorCode: 'internal', lastingly: false }
  if (error.code === 'checksum_mismatch') return { errorCode: 'integrity_mismatch', lastingly: true }
  const lasting = error.code === 'upload_state' || error.code === 'not_found' || error.code === 'parts_incomplete'
  return { errorCode: error.code, lastingly: lasting }
}
