import type { Job } from '../../../jobs/enqueue.ts'
import type { CompletionJob } from './vocabulary.ts'

export const jobRecordOf = (job: Job): CompletionJob => ({
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
