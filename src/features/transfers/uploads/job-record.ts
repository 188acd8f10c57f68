import Type, { type Static } from 'typebox'
import { fields, nullable, oneOf, RepositoryId, Uuid } from '../../../contract/schemas.ts'
import type { Job } from '../../../jobs/enqueue.ts'
import { jobAttemptsMax, revisionMax } from '../../../kernel/limits.ts'

/** A completion job as its creator sees it. */
export const CompletionJob = fields({
  id: Uuid,
  uploadId: Uuid,
  repository: RepositoryId,
  owner: Type.String(),
  status: oneOf(['queued', 'running', 'completed', 'failed'] as const),
  generation: Type.Integer({ minimum: 0, maximum: revisionMax }),
  attempts: Type.Integer({ minimum: 0, maximum: jobAttemptsMax }),
  credentialId: Type.Optional(Uuid),
  errorCode: nullable(Type.String()),
})

export const jobRecordOf = (job: Job): Static<typeof CompletionJob> => ({
  id: job.id,
  uploadId: job.subject,
  repository: job.repository,
  owner: job.owner,
  status: job.status,
  generation: job.generation,
  attempts: job.attempts,
  ...(job.credential_id === null ? {} : { credentialId: job.credential_id }),
  errorCode: job.error_code,
})
