import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'

/** One HTTP request exactly as written: nothing is normalised, followed or decoded. */
export interface Ask {
  readonly method?: string
  /** Path and query as they go over the wire. */
  readonly path: string
  readonly credential?: string | null
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent as it is; a Readable goes in chunks unless a Content-Length is given. */
  readonly body?: string | Uint8Array | Readable
}

export interface Told {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
  /** The body as JSON; throws where it is none. What is in it is for the test to say. */
  readonly json: ReturnType<typeof JSON.parse>
}

/** The method that a request goes out with: POST when it has a body and says nothing else. */
export const methodOf = ({ method, json, body }: Ask): string =>
  method ?? (json === undefined && body === undefined ? 'GET' : 'POST')

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

/** Ends idle connections, so that a test file can end. */
export const closeConnections = (): void => agent.destroy()

export const ask = (baseUrl: string, asked: Ask, through = agent): Promise<Told> =>
  new Promise((resolve, reject) => {
    const { path, credential, headers, json, body } = asked
    const sent = json === undefined ? body : JSON.stringify(json)
    const plain = typeof sent === 'string' ? Buffer.from(sent) : sent
    const outgoing = httpRequest(
      new URL(baseUrl),
      {
        agent: through,
        path,
        method: methodOf(asked),
        headers: {
          ...(credential === undefined || credential === null ? {} : { authorization: `Bearer ${credential}` }),
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...(plain instanceof Uint8Array ? { 'content-length': String(plain.byteLength) } : {}),
          // Said here, because Node's client would leave it out with DELETE.
          ...(plain === undefined || plain instanceof Uint8Array || headers?.['content-length'] !== undefined
            ? {}
            : { 'transfer-encoding': 'chunked' }),
          ...headers,
        },
      },
      (incoming) => {
        buffer(incoming).then((bytes) => {
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            bytes,
            // When asked for: decoding what is no text takes longer than sending it.
            get text() {
              return bytes.toString()
            },
            get json() {
              return JSON.parse(bytes.toString())
            },
          })
        }, reject)
      },
    )
    outgoing.on('error', reject)
    if (plain === undefined || plain instanceof Uint8Array) outgoing.end(plain)
    else plain.on('error', (error) => outgoing.destroy(error)).pipe(outgoing)
  })
