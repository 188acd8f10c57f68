import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { partBytesMin } from '../../src/kernel/limits/transfers.ts'
import type { Told } from './client.ts'
import { type Connection, openConnection } from './connection.ts'
import { expectAnswer } from './expect.ts'
import { digestOf } from './inspection.ts'
import { type NewFile, newFile, openUpload } from './publishing.ts'
import { inDatabase } from './rows.ts'
import type { TestService } from './service.ts'
import { until } from './until.ts'

/** A file of some whole parts and a short last one. */
export const fileOfParts = (name: string, wholeParts: number, restBytes = 5): NewFile =>
  newFile(name, randomBytes(wholeParts * partBytesMin + restBytes))

export const partOf = (file: NewFile, index: number): Uint8Array =>
  file.bytes.subarray(index * partBytesMin, (index + 1) * partBytesMin)

export const partsIn = (file: NewFile): number => Math.ceil(file.bytes.byteLength / partBytesMin)

/** Opens a session; its path. */
export const openSession = async (
  service: TestService,
  credential: string,
  repository: string,
  file: Pick<NewFile, 'descriptor'>,
): Promise<string> => {
  const told = await openUpload(service, credential, repository, file.descriptor)
  assert.equal(told.status, 201, told.text)
  return String(told.headers.location)
}

/** Sends a body as a part; by default with the digest that it has. */
export const sendPart = (
  service: TestService,
  credential: string,
  upload: string,
  index: number | string,
  body: Uint8Array | Readable,
  headers: Readonly<Record<string, string>> = {},
): Promise<Told> =>
  service.ask({
    method: 'PUT',
    path: `${upload}/parts/${index}`,
    credential,
    headers: {
      'content-type': 'application/octet-stream',
      ...(body instanceof Uint8Array ? { 'x-content-sha256': digestOf(body) } : {}),
      ...headers,
    },
    body,
  })

/** A part whose request has begun and has the lease; the rest of its bytes are for the test to send. */
export const beginPart = async (
  service: TestService,
  credential: string,
  upload: string,
  index: number,
  body: Uint8Array,
  firstBytes: number,
): Promise<Connection> => {
  const connection = await openConnection(service.url)
  const head = [
    `PUT ${upload}/parts/${index} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${credential}`,
    'Content-Type: application/octet-stream',
    `X-Content-SHA256: ${digestOf(body)}`,
    `Content-Length: ${body.byteLength}`,
    'Connection: close',
  ]
  connection.send(`${head.join('\r\n')}\r\n\r\n`)
  connection.send(body.subarray(0, firstBytes))
  const id = upload.slice(upload.lastIndexOf('/') + 1)
  await until('the request has the lease', () =>
    inDatabase(service, async (q) => {
      const row = await q.selectFrom('uploads').select('turn_holder').where('id', '=', id).executeTakeFirst()
      return row?.turn_holder
    }),
  )
  return connection
}

/** Sends parts of a file in this order, and insists on success. */
export const sendParts = async (
  service: TestService,
  credential: string,
  upload: string,
  file: NewFile,
  order: readonly number[] = [...new Array(partsIn(file)).keys()],
): Promise<void> => {
  for (const index of order) {
    const told = await sendPart(service, credential, upload, index, partOf(file, index))
    assert.equal(told.status, 204, told.text)
  }
}

/** Fails unless the artifact of the upload is downloaded as exactly these bytes. */
export const assertPublished = async (
  service: TestService,
  credential: string,
  upload: string,
  file: NewFile,
): Promise<void> => {
  const session = await expectAnswer(service, { path: upload, credential }, 200)
  assert.equal(session.json.status, 'available')
  const path = `${upload.replace('/uploads/', '/artifacts/')}/content`
  const got = await expectAnswer(service, { path, credential }, 200)
  assert.equal(digestOf(got.bytes), file.descriptor.sha256)
}
