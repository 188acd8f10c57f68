import { Failure } from '../../kernel/failure.ts'
import { queueRetrySecondsMax } from '../../kernel/limits/downloads.ts'

export const closing = (): Failure =>
  new Failure('draining', 'The service is shutting down; try again in a moment.', { retryAfterSeconds: 5 })

export const tooMany = (): Failure =>
  new Failure('busy', 'Too many downloads wait already. Try again later.', { retryAfterSeconds: queueRetrySecondsMax })

export const tooLong = (waitMs: number): Failure =>
  new Failure(
    'busy',
    `No slot became free within ${waitMs / 1000} s. Try again, with a Svc-Download-Id to keep your place.`,
    { retryAfterSeconds: queueRetrySecondsMax },
  )
