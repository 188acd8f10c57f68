import type { FailureCode } from './generated.ts'

/** One field of a request that was refused: where it is, as a JSON pointer, and why. */
export interface Fault {
  readonly pointer: string
  readonly message: string
}

/**
 * Ours: nobody answered; a file was changed or taken away while it was read; an upload was not what it was said to be; a
 * sign-out that the service did not hear of.
 */
export type ProblemCode = FailureCode | 'offline' | 'file_changed' | 'completion_failed' | 'still_signed_in'

/** What the service said no with, or that it said nothing. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly status: number
  readonly code: ProblemCode
  readonly requestId: string | null
  readonly faults: readonly Fault[]
  readonly retryAfterSeconds: number | null

  constructor(status: number, code: ProblemCode, detail: string, more: Partial<Problem> = {}) {
    super(detail)
    this.status = status
    this.code = code
    this.requestId = more.requestId ?? null
    this.faults = more.faults ?? []
    this.retryAfterSeconds = more.retryAfterSeconds ?? null
  }
}

interface Told {
  readonly code?: FailureCode
  readonly detail?: string
  readonly requestId?: string
  readonly retryAfterSeconds?: number
  readonly details?: readonly Fault[]
}

/** What an answer with a status of refusal says. A proxy in between may have written it, in words of its own. */
export const problemOf = (status: number, text: string): Problem => {
  const told = toldIn(text)
  const { code = status === 404 ? 'not_found' : status >= 500 ? 'unavailable' : 'invalid_request' } = told
  return new Problem(status, code, told.detail ?? text.slice(0, 200), {
    requestId: told.requestId ?? null,
    faults: told.details ?? [],
    retryAfterSeconds: told.retryAfterSeconds ?? null,
  })
}

const toldIn = (text: string): Told => {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? parsed : {}
  } catch {
    return {}
  }
}

export const isProblem = (error: unknown): error is Problem => error instanceof Problem

/** Somebody saved meanwhile: forms say so in their own words. */
export const isConflict = (error: unknown): boolean => isProblem(error) && error.code === 'revision_mismatch'
