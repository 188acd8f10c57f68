import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'

/** A client of this service, for what curl and wrk cannot do: parts, and very many requests that differ. */
export interface SvcClient {
  /** The answer's JSON. Throws for any status but 2xx. */
  ask(method: string, path: string, body?: unknown): Promise<Readonly<Record<string, unknown>>>
  /** `handedOver` is called once all of the body is with the system, which sends it on by itself. */
  send(
    method: string,
    path: string,
    body: Uint8Array | Readable,
    headers: Record<string, string>,
    handedOver?: () => void,
  ): Promise<void>
  /** Milliseconds of a request without a body. Throws for any status but the one that is expected, or 2xx. */
  timed(
    path: string,
    asked?: { readonly method?: 'GET' | 'HEAD'; readonly status?: number; readonly accept?: string },
  ): Promise<number>
  close(): void
}

const api = '/api/v1/repositories/releases'

export const svcClient = (base: string, credential: string, connections: number): SvcClient => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const call = (
    method: string,
    path: string,
    body: Uint8Array | Readable | undefined,
    headers: Record<string, string>,
    { expected, handedOver }: { expected?: number | undefined; handedOver?: (() => void) | undefined } = {},
  ): Promise<string> =>
    new Promise((resolve, reject) => {
      const outgoing = request(`${base}${path}`, {
        agent,
        method,
        headers: { authorization: `Bearer ${credential}`, ...headers },
      })
      outgoing.on('error', reject)
      if (handedOver !== undefined) outgoing.once('finish', handedOver)
      outgoing.on('response', (incoming) => {
        text(incoming).then((answer) => {
          const status = incoming.statusCode ?? 500
          if (expected === undefined ? status < 300 : status === expected) resolve(answer)
          else reject(new Error(`${method} ${path}: ${status} ${answer}`))
        }, reject)
      })
      if (body === undefined || body instanceof Uint8Array) outgoing.end(body)
      else {
        // As curl does: the server gets ready while the first bytes are read.
        outgoing.flushHeaders()
        body.on('error', reject).pipe(outgoing)
      }
    })
  return {
    async ask(method, path, body) {
      const sent = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
      const headers: Record<string, string> =
        sent === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(sent.byteLength) }
      if (path.endsWith('/uploads'))
        headers['idempotency-key'] = createHash('sha256')
          .update(sent ?? '')
          .digest('hex')
      const answer = await call(method, path, sent, headers)
      const told: unknown = answer === '' ? {} : JSON.parse(answer)
      if (typeof told !== 'object' || told === null) throw new Error(`${path}: no object`)
      return Object.fromEntries(Object.entries(told))
    },
    async send(method, path, body, headers, handedOver) {
      await call(method, path, body, headers, { handedOver })
    },
    async timed(path, { method = 'GET', status, accept = '*/*' } = {}) {
      const began = performance.now()
      await call(method, path, undefined, { accept }, { expected: status })
      return performance.now() - began
    },
    close: () => agent.destroy(),
  }
}

/** Opens a session; its path. */
export const openSession = async (client: SvcClient, name: string, size: number, sha256: string): Promise<string> => {
  const { id } = await client.ask('POST', `${api}/uploads`, { name, size: String(size), sha256 })
  return `${api}/uploads/${String(id)}`
}

/** Sends a file whole to a session. Seconds, from the opening to the answer. */
export const sendWhole = async (client: SvcClient, name: string, path: string, sha256: string, bytes: number) => {
  const began = performance.now()
  const session = await openSession(client, name, bytes, sha256)
  const headers = { 'content-type': 'application/octet-stream', 'content-length': String(bytes) }
  await client.send('PUT', `${session}/content`, createReadStream(path, { highWaterMark: 1 << 20 }), headers)
  return (performance.now() - began) / 1000
}

/** Digests of the parts of a file, made before anything is timed. */
export const partDigests = async (path: string, bytes: number, partBytes: number): Promise<string[]> => {
  const file = await open(path)
  const digests: string[] = []
  const buffer = Buffer.alloc(partBytes)
  for (let at = 0; at < bytes; at += partBytes) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(partBytes, bytes - at), at)
    digests.push(createHash('sha256').update(buffer.subarray(0, bytesRead)).digest('hex'))
  }
  await file.close()
  return digests
}

/**
 * Sends a file in parts, one after the other, and completes it. Seconds in all, and milliseconds of completing.
 * The next part is read as soon as the system has one, as a client must that says each one's digest before its bytes.
 */
export const sendInParts = async (
  client: SvcClient,
  name: string,
  path: string,
  sha256: string,
  bytes: number,
  digests: readonly string[],
  partBytes: number,
): Promise<{ seconds: number; completeMs: number }> => {
  const file = await open(path)
  const buffers = [Buffer.alloc(partBytes), Buffer.alloc(partBytes)] as const
  const readPart = async (index: number): Promise<Uint8Array> => {
    const at = index * partBytes
    const { buffer, bytesRead } = await file.read(
      buffers[index % 2 === 0 ? 0 : 1],
      0,
      Math.min(partBytes, bytes - at),
      at,
    )
    return buffer.subarray(0, bytesRead)
  }
  const began = performance.now()
  const session = await openSession(client, name, bytes, sha256)
  let part = await readPart(0)
  for (const [index, digest] of digests.entries()) {
    const headers = {
      'content-type': 'application/octet-stream',
      'content-length': String(part.byteLength),
      'x-content-sha256': digest,
    }
    const handedOver = Promise.withResolvers<void>()
    const sending = client.send('PUT', `${session}/parts/${index}`, part, headers, handedOver.resolve)
    await Promise.race([handedOver.promise, sending])
    if (index + 1 < digests.length) part = await readPart(index + 1)
    await sending
  }
  const sent = performance.now()
  await file.close()
  await client.ask('POST', `${session}/complete`)
  const done = performance.now()
  return { seconds: (done - began) / 1000, completeMs: done - sent }
}

/** Runs `work` for each number below `count`, some at a time. */
export const manyAtOnce = async (
  count: number,
  atOnce: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> => {
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await work(index)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
