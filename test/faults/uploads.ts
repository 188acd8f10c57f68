import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { ask, type Told } from '../harness/client.ts'

/** A service as its clients see it. */
export interface Target {
  readonly url: string
  /** A key that may read and write in `releases`. */
  readonly credential: string
}

export interface File {
  readonly path: string
  readonly bytes: Buffer
  readonly sha256: string
}

export const fileOf = (path: string, bytes: Buffer): File => ({
  path,
  bytes,
  sha256: createHash('sha256').update(bytes).digest('hex'),
})

/** Bytes that nobody else has, the same for the same seed. */
export const bytesOf = (seed: string, length: number): Buffer => {
  const pieces: Buffer[] = []
  for (let index = 0; index * 64 < length; index++) {
    pieces.push(createHash('sha512').update(`${seed} ${index}`).digest())
  }
  return Buffer.concat(pieces).subarray(0, length)
}

const releases = '/api/v1/repositories/releases'

/** A way to store a file. Sending the same file again is what a client does that got no answer. */
export interface Door {
  readonly name: string
  /** The last answer: of what failed, or of the request that published. */
  send(to: Target, file: File): Promise<Told>
  /** Where the file can be fetched, given the answer that published it. */
  place(file: File, answer: Told): string
}

export const rawPlace = (file: { readonly path: string }): string => `${releases}/raw/${file.path}`

const putRaw = (to: Target, file: File, headers: Record<string, string>, body: Buffer | Readable): Promise<Told> =>
  ask(to.url, { method: 'PUT', path: rawPlace(file), credential: to.credential, headers, body })

const inPieces = (bytes: Buffer): Readable =>
  Readable.from(
    (function* () {
      for (let at = 0; at < bytes.byteLength; at += 16_384) yield bytes.subarray(at, at + 16_384)
    })(),
  )

export const withChecksum: Door = {
  name: 'a raw PUT with a checksum',
  send: (to, file) => putRaw(to, file, { 'x-checksum-sha256': file.sha256 }, file.bytes),
  place: rawPlace,
}

export const inChunks: Door = {
  name: 'a raw PUT in chunks',
  send: (to, file) => putRaw(to, file, {}, inPieces(file.bytes)),
  place: rawPlace,
}

export const throughSession: Door = {
  name: 'a session',
  async send(to, file) {
    const session = await openSession(to, file)
    if (session.status >= 300 || session.json.status !== 'pending') return session
    return ask(to.url, {
      method: 'PUT',
      path: `${releases}/uploads/${session.json.id}/content`,
      credential: to.credential,
      headers: { 'content-type': 'application/octet-stream' },
      body: file.bytes,
    })
  },
  place: (_, answer) => `${releases}/artifacts/${answer.json.id}/content`,
}

/** Opens the session and sends the parts that are not stored, as a client does that goes on. Then asks for the end. */
const sendInParts = async (to: Target, file: File, end: 'complete' | 'complete-async'): Promise<Told> => {
  const session = await openSession(to, file)
  if (session.status >= 300 || session.json.status !== 'pending') return session
  const upload = `${releases}/uploads/${session.json.id}`
  const { credential } = to
  const { json } = await ask(to.url, { path: `${upload}/parts`, credential })
  const stored = new Set(json.items.map(({ index }: { index: number }) => index))
  for (let index = 0; index * json.partBytes < file.bytes.byteLength; index++) {
    if (stored.has(index)) continue
    const body = file.bytes.subarray(index * json.partBytes, (index + 1) * json.partBytes)
    const headers = {
      'content-type': 'application/octet-stream',
      'x-content-sha256': createHash('sha256').update(body).digest('hex'),
    }
    const told = await ask(to.url, { method: 'PUT', path: `${upload}/parts/${index}`, credential, headers, body })
    if (told.status !== 204) return told
  }
  return ask(to.url, { method: 'POST', path: `${upload}/${end}`, credential })
}

export const inParts: Door = {
  name: 'a session in parts',
  send: (to, file) => sendInParts(to, file, 'complete'),
  place: throughSession.place,
}

/** Answers the job, with `uploadId`, that is to publish the file. */
export const askForCompletion = (to: Target, file: File): Promise<Told> => sendInParts(to, file, 'complete-async')

export const openSession = (to: Target, file: File): Promise<Told> =>
  ask(to.url, {
    path: `${releases}/uploads`,
    credential: to.credential,
    headers: { 'idempotency-key': `key-of-${file.path.replaceAll('/', ':')}` },
    json: { name: file.path, size: String(file.bytes.byteLength), sha256: file.sha256 },
  })

export const doors: readonly Door[] = [withChecksum, inChunks, throughSession]

/** The answer, or null when there was none because the service is gone. */
export const answerOrNone = <T>(sending: Promise<T>): Promise<T | null> =>
  sending.catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (['ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes(code)) return null
    throw error
  })

export interface Listed {
  readonly id: string
  readonly name: string
  readonly size: number
  readonly sha256: string
}

/** Every published file. */
export const published = async (on: Target): Promise<Listed[]> => {
  const found: Listed[] = []
  for (let after: string | null = ''; after !== null; ) {
    const path: string = `${releases}/artifacts?limit=100${after === '' ? '' : `&after=${after}`}`
    const { json } = await ask(on.url, { path, credential: on.credential })
    for (const { id, descriptor } of json.items) found.push({ id, ...descriptor, size: Number(descriptor.size) })
    after = json.next
  }
  return found
}

/** The bytes at a place, or null where there is nothing. */
export const fetchBytes = async (on: Target, place: string): Promise<Buffer | null> => {
  const told = await ask(on.url, { path: place, credential: on.credential })
  if (told.status === 404) return null
  if (told.status !== 200) throw new Error(`${place}: ${told.status} ${told.text}`)
  return told.bytes
}
