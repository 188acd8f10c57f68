import type { Failure } from '../kernel/failure.ts'

/** What a request that failed is told, in the words of its protocol. */
export interface Rendered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** What a protocol needs to know of a request to speak of its failure. */
interface FailedRequest {
  readonly requestId: string
  /** `https://host` as the client knows us, or `https://host/svc`. */
  readonly baseUrl: string
  /** A browser asks, and shows its user what it is told. */
  readonly wantsPage: boolean
}

/**
 * How a protocol speaks: where its paths are, how its clients say who they are, and how it tells of a failure. Its
 * operations are those whose paths begin with its prefix; what nobody serves below it is told in its words, too.
 */
export interface Wire {
  readonly name: string
  /** Such as `/v2`. A whole segment or several: `/v2` has `/v2` and `/v2/…`, and not `/v20`. */
  readonly prefix: string
  /**
   * The credential of an `Authorization` header, null when there is none. Throws 401 for another form than its clients
   * use ({@link bearerCredential}, {@link bearerOrBasicCredential}).
   */
  readonly credentialOf: (header: string | undefined) => string | null
  /**
   * A path as the templates of the operations spell it, where clients write some of them in another way. Asked before
   * anything is made of the path.
   */
  readonly spelled?: (path: string) => string
  /** What is told of a path that nobody serves, where people often mean another; null elsewhere. */
  readonly missing?: (path: string) => string | null
  /** A path as the log may show it, where clients write credentials into some of them. */
  readonly shown?: (path: string) => string
  /** With the challenge of a 401 (RFC 9110, section 11.6.1). */
  readonly render: (failure: Failure, request: FailedRequest) => Rendered
}

/** The wire that a path belongs to: the one with the longest prefix. */
export const wireAt = (wires: readonly Wire[], path: string, otherwise: Wire): Wire => {
  let best = otherwise
  for (const wire of wires) if (isBelow(path, wire.prefix) && wire.prefix.length > best.prefix.length) best = wire
  return best
}

const isBelow = (path: string, prefix: string): boolean =>
  path.startsWith(prefix) && /^(?:$|[/?])/.test(path.slice(prefix.length))
