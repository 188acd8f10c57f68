import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request to an object store, as far as a fault may pick it. */
export interface Seen {
  readonly method: string
  /** Path and query. */
  readonly target: string
  /** Copies on the server name their source. */
  readonly copies: boolean
}

/**
 * What happens to a request: an answer in place of the store's, no answer at all, an answer that breaks off after some
 * bytes, one that the store gave and nobody gets, or one that is forwarded as it is.
 */
export type Fault =
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }
  | { readonly kind: 'silence' }
  | { readonly kind: 'cut'; readonly afterBytes: number }
  | { readonly kind: 'lose' }

export interface FaultyProxy {
  readonly url: string
  readonly seen: Seen[]
  /** Decides what happens to each request; null forwards it. */
  fault: (seen: Seen) => Fault | null
  close(): Promise<void>
}

/** Stands in front of an object store and does to its traffic what networks and overload do. */
export const startFaultyProxy = async (storeUrl: string): Promise<FaultyProxy> => {
  const store = new URL(storeUrl)
  const seen: Seen[] = []
  const server = createServer((incoming, outgoing) => {
    incoming.on('error', () => {})
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
    } else forward(store, incoming, outgoing, fault)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const proxy: FaultyProxy = {
    url: `http://${store.username}:${store.password}@127.0.0.1:${port}`,
    seen,
    fault: () => null,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}

/** The host that the client signed stays as it is. */
const forward = (store: URL, incoming: IncomingMessage, outgoing: ServerResponse, fault: Fault | null): void => {
  const { hostname, port } = store
  const { method, url, headers } = incoming
  const forwarded = request({ hostname, port, method, path: url, headers }, (answer) => {
    if (fault?.kind === 'lose') {
      answer.resume()
      answer.on('end', () => outgoing.destroy())
      return
    }
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    if (fault?.kind !== 'cut') {
      answer.pipe(outgoing)
      return
    }
    let left = fault.afterBytes
    answer.on('data', (piece: Buffer) => {
      outgoing.write(piece.subarray(0, left))
      left -= piece.byteLength
      if (left <= 0) outgoing.destroy()
    })
    answer.on('end', () => outgoing.destroy())
  })
  forwarded.on('error', () => outgoing.destroy())
  outgoing.on('close', () => forwarded.destroy())
  incoming.pipe(forwarded)
}

/** What S3 says in XML of what went wrong. */
export const errorBody = (code: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${code}, as a test has it</Message></Error>`
