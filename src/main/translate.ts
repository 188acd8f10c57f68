import { DatabaseUnavailable } from '../database/unavailable.ts'
import { Failure } from '../kernel/failure.ts'
import { BlobStoreFull, BlobStoreUnavailable } from '../ports/blob-store.ts'

/** Known conditions of what we depend on, as answers; null for what is none. */
export const translate = (error: unknown): Failure | null => {
  if (error instanceof BlobStoreFull || (error instanceof DatabaseUnavailable && error.diskFull))
    return new Failure('insufficient_space', 'The disk is full. Stored files stay readable.', { cause: error })
  if (error instanceof DatabaseUnavailable && error.outcomeUnknown)
    return new Failure(
      'unavailable',
      'The database went away while it stored this: it may be stored or not. Look first.',
      {
        cause: error,
        retryAfterSeconds: 5,
      },
    )
  if (error instanceof DatabaseUnavailable)
    return new Failure('unavailable', 'The database does not answer.', { cause: error, retryAfterSeconds: 5 })
  if (error instanceof BlobStoreUnavailable)
    return new Failure('unavailable', 'The blob store does not answer.', { cause: error, retryAfterSeconds: 5 })
  return null
}
