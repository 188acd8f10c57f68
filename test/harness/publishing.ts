import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Told } from './client.ts'
import { digestOf } from './inspection.ts'
import type { Answering } from './service.ts'

/** A file with its description, as `createUpload` takes it. */
export interface NewFile {
  readonly bytes: Uint8Array
  readonly descriptor: {
    readonly name: string
    readonly size: string
    readonly sha256: string
    readonly labels?: readonly string[]
    readonly metadata?: Readonly<Record<string, string>>
  }
}

export const newFile = (
  name: string,
  content: string | Uint8Array,
  more: Pick<NewFile['descriptor'], 'labels' | 'metadata'> = {},
): NewFile => {
  const bytes = Buffer.from(content)
  return { bytes, descriptor: { name, size: String(bytes.byteLength), sha256: digestOf(bytes), ...more } }
}

export const uploadsOf = (repository: string): string => `/api/v1/repositories/${repository}/uploads`

/** Opens a session with any body, under a key that nobody used unless one is given. */
export const openUpload = (
  service: Answering,
  credential: string,
  repository: string,
  json: unknown,
  key: string = randomUUID(),
): Promise<Told> => service.ask({ path: uploadsOf(repository), credential, headers: { 'idempotency-key': key }, json })

/** Sends the whole file to a session, given by its path. */
export const sendContent = (
  service: Answering,
  credential: string,
  upload: string,
  body: Uint8Array | string,
): Promise<Told> =>
  service.ask({
    method: 'PUT',
    path: `${upload}/content`,
    credential,
    headers: { 'content-type': 'application/octet-stream' },
    body,
  })

/** Publishes a file and answers its id. */
export const publish = async (
  service: Answering,
  credential: string,
  repository: string,
  file: NewFile,
): Promise<string> => {
  const opened = await openUpload(service, credential, repository, file.descriptor)
  assert.equal(opened.status, 201, opened.text)
  const sent = await sendContent(service, credential, String(opened.headers.location), file.bytes)
  assert.equal(sent.status, 200, sent.text)
  return sent.json.id
}
