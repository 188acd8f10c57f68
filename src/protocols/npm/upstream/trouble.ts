import { Failure } from '../../../kernel/failure.ts'
import type { OutboundTrouble } from '../../../ports/outbound-http.ts'

/**
 * All that can be wrong with what an upstream says, or with asking it:
 *
 * - those of the door outwards
 * - `http_4xx`, `http_5xx`: it refuses, or fails
 * - `malformed`: its document is none that can be taken
 * - `too_large`: it is larger than one may be
 * - `other_name`: it is of another package than was asked for
 * - `elsewhere`: it says that its tarball is at another host
 * - `mismatch`: the tarball is not what the document says that it is
 */
export const upstreamReasons = [
  'blocked',
  'timeout',
  'network',
  'tls',
  'redirect',
  'answer',
  'http_4xx',
  'http_5xx',
  'malformed',
  'too_large',
  'other_name',
  'elsewhere',
  'mismatch',
] as const satisfies readonly (OutboundTrouble | string)[]
export type UpstreamReason = (typeof upstreamReasons)[number]

/** What passes by itself; for the rest somebody has to do something. */
const passing: ReadonlySet<UpstreamReason> = new Set(['timeout', 'network', 'http_5xx'])

/** What is wrong with the upstream itself, and not with one of its packages. */
const standing: ReadonlySet<UpstreamReason> = new Set(['blocked', 'timeout', 'network', 'tls', 'http_5xx'])

/** Something is wrong with an upstream. `why` is a clause, without a path, a query or a credential. */
export class UpstreamTrouble extends Error {
  override readonly name = 'UpstreamTrouble'
  readonly reason: UpstreamReason
  readonly why: string
  constructor(reason: UpstreamReason, why: string, options?: ErrorOptions) {
    super(why, options)
    this.reason = reason
    this.why = why
  }

  /** Whether whatever is asked there goes wrong now. */
  get stands(): boolean {
    return standing.has(this.reason)
  }

  /** Whether asking again later may go well. */
  get passes(): boolean {
    return passing.has(this.reason)
  }
}

const wayOut: Readonly<Partial<Record<UpstreamReason, string>>> = {
  blocked: 'An operator can allow private addresses (SVC_NPM_UPSTREAM_ALLOW_PRIVATE).',
  http_4xx: 'An operator can give credentials for it (SVC_NPM_UPSTREAM_CREDENTIALS_FILE).',
  mismatch: 'Nothing of it is kept. If that stays so, somebody has changed it.',
}

/** How people are told: what could not be had, why, and what to do. */
export const toldTrouble = (what: string, trouble: UpstreamTrouble): Failure => {
  const { reason, why, passes } = trouble
  const sentence = `${what} is not here, and the upstream registry does not give it: ${why} (${reason}).`
  const advice = passes ? 'Try again later.' : wayOut[reason]
  return new Failure(
    passes ? 'upstream_unavailable' : 'upstream_unusable',
    advice === undefined ? sentence : `${sentence} ${advice}`,
    { cause: trouble, ...(passes ? { retryAfterSeconds: 10 } : {}), forOperator: { reason, why } },
  )
}
