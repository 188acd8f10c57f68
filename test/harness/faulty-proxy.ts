import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { until } from './until.ts'

/*
 * Stands in front of an object store and does to its traffic what networks and overload do. What happens to a request
 * is for the test to say, when it arrives, by its method, key and query:
 *
 *   proxy.fault = ({ method, target }) => method === 'PUT' && target.includes('/staging/') ? { kind: 'hold' } : null
 *   void send()
 *   const [held] = await proxy.holds()      // the whole request is here, and not at the store; its sender may die now
 *   await held.apply()                      // now it reaches the store: late, once or as often as this is called
 */

/** A request to an object store, as far as a fault may pick it. */
export interface Seen {
  readonly method: string
  /** Path and query. */
  readonly target: string
  /** Copies on the server name their source. */
  readonly copies: boolean
}

export type Fault =
  /** An answer in place of the store's, who never hears of it. */
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }
  /** No answer at all, and nothing reaches the store. */
  | { readonly kind: 'silence' }
  /** The store's answer breaks off after some bytes, or falls silent there. */
  | { readonly kind: 'cut'; readonly afterBytes: number; readonly silently?: boolean }
  /** The store does it, and nobody gets its answer: the connection ends. */
  | { readonly kind: 'lose' }
  /** The store does it, and the sender hears something else. */
  | { readonly kind: 'deny'; readonly status: number; readonly body: string }
  /** Forwarded after a while, whatever became of its sender. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Kept until the test applies it, whatever became of its sender. */
  | { readonly kind: 'hold' }
  /** Forwarded, and kept, so that it can come again. */
  | { readonly kind: 'repeat' }

/** A request that the proxy keeps. */
export interface HeldRequest {
  readonly seen: Seen
  /** Sends it to the store, each time anew. Its sender, where there still is one, gets the first answer. */
  apply(): Promise<{ readonly status: number; readonly body: string }>
}

export interface FaultyProxy {
  readonly url: string
  readonly seen: Seen[]
  /** Decides what happens to each request; null forwards it. */
  fault: (seen: Seen) => Fault | null
  /** What is kept, in the order of arrival. */
  readonly held: HeldRequest[]
  /** Resolves when so many are kept. */
  holds(count?: number): Promise<HeldRequest[]>
  close(): Promise<void>
}

export const startFaultyProxy = async (storeUrl: string): Promise<FaultyProxy> => {
  const store = new URL(storeUrl)
  const seen: Seen[] = []
  const held: HeldRequest[] = []
  const server = createServer((incoming, outgoing) => {
    incoming.on('error', () => {})
    outgoing.on('error', () => {})
    const asked: Seen = {
      method: incoming.method ?? '',
      target: incoming.url ?? '',
      copies: incoming.headers['x-amz-copy-source'] !== undefined,
    }
    seen.push(asked)
    const fault = proxy.fault(asked)
    if (fault?.kind === 'silence') incoming.resume()
    else if (fault?.kind === 'answer') {
      incoming.resume()
      incoming.on('end', () => outgoing.writeHead(fault.status, { 'content-type': 'application/xml' }).end(fault.body))
    } else if (fault?.kind === 'hold' || fault?.kind === 'repeat' || fault?.kind === 'delay')
      void keep(store, incoming, outgoing).then(
        (kept) => {
          if (fault.kind !== 'delay') held.push({ seen: asked, apply: kept })
          if (fault.kind === 'repeat') kept().catch(() => outgoing.destroy())
          if (fault.kind === 'delay') setTimeout(() => kept().catch(() => outgoing.destroy()), fault.ms)
        },
        // Cut before it was whole: there is nothing to keep.
        () => outgoing.destroy(),
      )
    else forward(store, incoming, outgoing, fault)
  })
  // A body may be long under way, and what is held has no answer.
  server.requestTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const proxy: FaultyProxy = {
    url: `http://${store.username}:${store.password}@127.0.0.1:${port}`,
    seen,
    fault: () => null,
    held,
    holds: (count = 1) => until(`the proxy holds ${count}`, () => (held.length >= count ? held : null)),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}

/** Takes the whole request, and hands over how to send it on. */
const keep = async (store: URL, incoming: IncomingMessage, outgoing: ServerResponse): Promise<HeldRequest['apply']> => {
  const { method, url, headers } = incoming
  // Whoever is to answer first lets the sender go on sending.
  if (headers.expect !== undefined) outgoing.writeContinue()
  const body = await buffer(incoming)
  if (!incoming.complete) throw new Error('the request broke off')
  return async () => {
    const { expect: _, ...rest } = headers
    const { hostname, port } = store
    const sent = request({ hostname, port, method, path: url, headers: rest })
    sent.end(body)
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    const bytes = await buffer(answer)
    const status = answer.statusCode ?? 502
    if (!outgoing.headersSent && !outgoing.destroyed) outgoing.writeHead(status, answer.headers).end(bytes)
    return { status, body: bytes.toString() }
  }
}

/** The host that the client signed stays as it is. */
const forward = (store: URL, incoming: IncomingMessage, outgoing: ServerResponse, fault: Fault | null): void => {
  const { hostname, port } = store
  const { method, url, headers } = incoming
  const forwarded = request({ hostname, port, method, path: url, headers }, (answer) => {
    if (fault?.kind === 'lose' || fault?.kind === 'deny') {
      answer.resume()
      answer.on('end', () => {
        if (fault.kind === 'lose') outgoing.destroy()
        else outgoing.writeHead(fault.status, { 'content-type': 'application/xml' }).end(fault.body)
      })
      return
    }
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    if (fault?.kind !== 'cut') {
      answer.pipe(outgoing)
      return
    }
    let left = fault.afterBytes
    answer.on('data', (piece: Buffer) => {
      if (left > 0) outgoing.write(piece.subarray(0, left))
      left -= piece.byteLength
      if (left <= 0 && fault.silently !== true) outgoing.destroy()
    })
    answer.on('end', () => {
      if (fault.silently !== true) outgoing.destroy()
    })
  })
  forwarded.on('error', () => outgoing.destroy())
  outgoing.on('close', () => forwarded.destroy())
  incoming.pipe(forwarded)
}

/** What S3 says in XML of what went wrong. */
export const errorBody = (code: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${code}, as a test has it</Message></Error>`

/** What S3 says in XML of the objects that it has, a page of them; `next`: where the next one begins. */
export const listingPage = (keys: readonly string[], next: string | null): string => {
  const contents = keys.map(
    (key) =>
      `<Contents><Key>${key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>9</Size></Contents>`,
  )
  const goesOn = next === null ? '' : `<NextContinuationToken>${next}</NextContinuationToken>`
  return `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><IsTruncated>${next !== null}</IsTruncated>${goesOn}${contents.join('')}</ListBucketResult>`
}
