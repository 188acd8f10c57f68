import Type, { type Static } from 'typebox'
import { fields, nullable, oneOf, RepositoryId, Uuid } from '../../../contract/schemas.ts'
import { revisionMax } from '../../../kernel/limits/catalog.ts'
import { jobAttemptsMax } from '../../../kernel/limits/jobs.ts'

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
export type CompletionJob = Static<typeof CompletionJob>
