/**
 * Asks addresses that people typed: receivers of webhooks, registries that are looked through to, places to copy from.
 * Nothing else of the service opens a connection to them.
 *
 * What it promises, whatever the address and whoever answers:
 *
 * - it connects to nothing but what it has checked: neither a name that is asked twice and answers differently, nor a
 *   redirect, leads inward
 * - certificates are verified
 * - it takes a bounded time, bounded memory and a bounded number of bytes
 * - it fails with an {@link OutboundFailure} and with nothing else, but for what the taker or the signal throws
 */
export interface OutboundHttp extends AsyncDisposable {
  /**
   * Sends a request and hands the answer to `take` as soon as its head is there, whatever its status. The connection is
   * given back when `take` ends, and cut if it left something of the body.
   */
  ask<T>(request: OutboundRequest, take: (answer: OutboundAnswer) => Promise<T>): Promise<T>
  /** A line to an address, for whoever posts there all the time. Nothing is connected to before it is used. */
  line(url: string): OutboundLine
}

/** One request at a time, and little of it: of the answer the status is told, and nothing is followed. */
export interface OutboundLine {
  /**
   * Posts a body. Resolves with the status as soon as the head of the answer is there. Sent once more, over another
   * connection, where the one that was kept turns out to be closed.
   */
  post(request: PostRequest): Promise<number>
  close(): void
}

export interface PostRequest {
  /** In lower case, without `host`, `user-agent` and those that frame the body. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Until the head of the answer is there, everything before it included. */
  readonly answerMs: number
  readonly signal?: AbortSignal
}

export interface OutboundRequest {
  /** HTTPS; plain HTTP for `localhost`, `127.0.0.1` and `[::1]`, and wherever the door was told to allow it. */
  readonly url: string
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** In lower case. They go along wherever a redirect leads; what is secret stands in `credentials`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Headers for the host of the URL alone: a redirect to another origin goes without them. */
  readonly credentials?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** Redirects that are followed at most; 0 unless it is said. Only GET and HEAD may follow any. */
  readonly redirectsMax?: number
  /** May be sent again where a connection that was kept turns out to be closed, as GET and HEAD may. */
  readonly repeatable?: boolean
  /** Until the head of the answer is there, everything before it included: names, connections, redirects. */
  readonly answerMs: number
  /** A larger body fails, by its announced length before a byte of it is read. */
  readonly bodyBytesMax: number
  readonly signal?: AbortSignal
}

export interface OutboundAnswer {
  /** 2xx, 4xx, 5xx, and of 3xx what leads nowhere (304, 300). */
  readonly status: number
  /** Names in lower case; what came several times is joined by a comma and a space. */
  readonly headers: ReadonlyMap<string, string>
  /** Where it came from in the end. */
  readonly url: string
  /**
   * The body, in pieces as they come. The next one is read when it is asked for: a slow sink slows the sender. A
   * sender that is slower than the door's slowest pace fails with `timeout`; one that is cut off with `network`.
   */
  readonly pieces: AsyncIterable<Uint8Array>
  /** The whole body, of at most `bytesMax`. */
  whole(bytesMax: number): Promise<Uint8Array>
}

/**
 * All that can go wrong, and there is nothing else:
 *
 * - `blocked`: the address is one that may not be asked
 * - `timeout`: it took too long
 * - `network`: there is no such name, nobody took the connection, or it was cut
 * - `tls`: its certificate, or its TLS, is not in order
 * - `redirect`: it leads elsewhere, and that is not followed (any more)
 * - `answer`: what it said is no HTTP, or larger than it may be
 */
export type OutboundTrouble = 'blocked' | 'timeout' | 'network' | 'tls' | 'redirect' | 'answer'

/**
 * Which trouble it is, what was tried, and why it went wrong. Neither has a path, a query or a credential in it: they
 * may be secrets.
 */
export class OutboundFailure extends Error {
  override readonly name = 'OutboundFailure'
  readonly trouble: OutboundTrouble
  /** Such as `https://hooks.example.org (203.0.113.7, port 443)`. */
  readonly tried: string
  readonly why: string
  constructor(trouble: OutboundTrouble, tried: string, why: string, options?: ErrorOptions) {
    super(`${tried}: ${why}`, options)
    this.trouble = trouble
    this.tried = tried
    this.why = why
  }
}
