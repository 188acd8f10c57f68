import { createHash, hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { partBytesMin } from '../../src/kernel/limits/transfers.ts'
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

export const sha256Of = (bytes: Uint8Array): string => hash('sha256', bytes)

export const fileOf = (path: string, bytes: Buffer): File => ({
  path,
  bytes,
  sha256: sha256Of(bytes),
})

/** Bytes that nobody else has, the same for the same seed. */
export const bytesOf = (seed: string, length: number): Buffer =>
  createHash('shake256', { outputLength: length }).update(seed).digest()

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

/** A session's path, given the answer that tells of it. */
export const uploadPlace = ({ json }: Told): string => `${releases}/uploads/${json.id}`

/** What the service has of a session: the SHA-256 of each part. */
export const storedParts = async (to: Target, upload: string): Promise<Map<number, string>> => {
  const told = await ask(to.url, { path: `${upload}/parts`, credential: to.credential })
  if (told.status !== 200) throw new Error(`${upload}: ${told.status} ${told.text}`)
  return new Map(told.json.items.map(({ index, sha256 }: { index: number; sha256: string }) => [index, sha256]))
}

/** The pieces that a file is sent in, by the size that every session of these tests has. */
export const partsOf = ({ bytes }: Pick<File, 'bytes'>): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.byteLength / partBytesMin) }, (_, index) =>
    bytes.subarray(index * partBytesMin, (index + 1) * partBytesMin),
  )

/** Sends a part; `body` are its bytes unless they come from elsewhere. */
export const sendPart = (
  to: Target,
  upload: string,
  index: number,
  part: Buffer,
  body: Buffer | Readable = part,
): Promise<Told> =>
  ask(to.url, {
    method: 'PUT',
    path: `${upload}/parts/${index}`,
    credential: to.credential,
    headers: {
      'content-type': 'application/octet-stream',
      'content-length': String(part.byteLength),
      'x-content-sha256': sha256Of(part),
    },
    body,
  })

/** Asks for the end of a session in parts: at once, or by a job. */
export const complete = (to: Target, upload: string, how: 'complete' | 'complete-async' = 'complete'): Promise<Told> =>
  ask(to.url, { method: 'POST', path: `${upload}/${how}`, credential: to.credential })

/** Opens the session and sends the parts that are not stored, as a client does that goes on. Then asks for the end. */
const sendInParts = async (
  to: Target,
  file: File,
  { how = 'complete', backwards = false }: { how?: 'complete' | 'complete-async'; backwards?: boolean } = {},
): Promise<Told> => {
  const session = await openSession(to, file)
  if (session.status >= 300 || session.json.status !== 'pending') return session
  const upload = uploadPlace(session)
  const stored = await storedParts(to, upload)
  const parts = [...partsOf(file).entries()]
  for (const [index, part] of backwards ? parts.reverse() : parts) {
    if (stored.has(index)) continue
    const told = await sendPart(to, upload, index, part)
    if (told.status !== 204) return told
  }
  return complete(to, upload, how)
}

export const inParts: Door = {
  name: 'a session in parts',
  send: (to, file) => sendInParts(to, file),
  place: throughSession.place,
}

/** Most object stores give none of it back until it is complete: what comes out of order has to be kept elsewhere. */
export const inPartsBackwards: Door = {
  name: 'a session in parts, the last one first,',
  send: (to, file) => sendInParts(to, file, { backwards: true }),
  place: throughSession.place,
}

/** Answers the job, with `uploadId`, that is to publish the file. */
export const askForCompletion = (to: Target, file: File): Promise<Told> =>
  sendInParts(to, file, { how: 'complete-async' })

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
