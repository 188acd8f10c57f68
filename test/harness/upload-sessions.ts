import assert from 'node:assert/strict'
import { after, afterEach, before } from 'node:test'
import type { Told } from './client.ts'
import { type Connection, openConnection } from './connection.ts'
import type { TestEngine } from './engines.ts'
import { openInspection } from './inspection.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from './people.ts'
import { openUpload, sendContent } from './publishing.ts'
import { inDatabase } from './rows.ts'
import { startService, type TestService } from './service.ts'
import { until } from './until.ts'

export const maxObjectBytes = 1_000_000
export const capacityBytes = 50_000_000

/** A service with two repositories and people who send to them, by sessions and by requests that may end in any way. */
export const uploadSessions = (engine: TestEngine) => {
  let service: TestService
  let writer: Person
  let other: Person
  let reader: Person
  let stranger: Person

  before(async () => {
    service = await startService(engine, {
      settings: { SVC_MAX_OBJECT_BYTES: String(maxObjectBytes), SVC_CAPACITY_BYTES: String(capacityBytes) },
    })
    await createOwner(service)
    for (const id of ['one', 'two']) await createRepository(service, id)
    writer = await createPerson(service, 'writer')
    other = await createPerson(service, 'other')
    reader = await createPerson(service, 'reader')
    stranger = await createPerson(service, 'stranger')
    for (const repository of ['one', 'two'])
      for (const person of [writer, other]) await grant(service, person, repository, 'write')
    await grant(service, reader, 'one', 'read')
  })
  after(() => service.stop())

  /** The clock went on by more than a session of a person lasts. */
  const signInAgain = async (): Promise<void> => {
    const { name, password } = writer
    const told = await service.ask({ method: 'POST', path: '/api/v1/auth/login', json: { name, password } })
    assert.equal(told.status, 200, told.text)
    writer = { ...writer, token: told.json.token }
  }

  const open = (json: unknown, key?: string): Promise<Told> => openUpload(service, writer.token, 'one', json, key)

  /** A new session; its path. */
  const opened = async (file: { descriptor: unknown }): Promise<string> => {
    const told = await open(file.descriptor)
    assert.equal(told.status, 201, told.text)
    return String(told.headers.location)
  }
  const send = (upload: string, bytes: Uint8Array | string): Promise<Told> =>
    sendContent(service, writer.token, upload, bytes)
  const read = (upload: string, credential = writer.token): Promise<Told> => service.ask({ path: upload, credential })
  const cancel = (upload: string, credential = writer.token): Promise<Told> =>
    service.ask({ method: 'DELETE', path: upload, credential })
  const refused = (told: Told, status: number, code: string): void => {
    assert.equal(told.status, status, told.text)
    assert.equal(told.json.code, code, told.text)
  }
  const idOf = (upload: string): string => upload.slice(upload.lastIndexOf('/') + 1)

  const rowOf = (upload: string) =>
    inDatabase(service, (q) =>
      q.selectFrom('uploads').selectAll().where('id', '=', idOf(upload)).executeTakeFirstOrThrow(),
    )

  /** Everything that an upload may leave behind. */
  const left = () =>
    inDatabase(service, async (q) => {
      const count = async (table: 'uploads' | 'claims' | 'artifacts' | 'blobs' | 'journal'): Promise<number> =>
        (await q.selectFrom(table).selectAll().execute()).length
      const repository = await q
        .selectFrom('repositories')
        .select(['published_bytes', 'pending_bytes', 'retired_bytes'])
        .where('id', '=', 'one')
        .executeTakeFirstOrThrow()
      const { value } = await q
        .selectFrom('counters')
        .select('value')
        .where('name', '=', 'reserved_bytes')
        .executeTakeFirstOrThrow()
      return {
        uploads: await count('uploads'),
        claims: await count('claims'),
        artifacts: await count('artifacts'),
        blobs: await count('blobs'),
        journal: await count('journal'),
        reserved: value,
        published: repository.published_bytes,
        pending: repository.pending_bytes,
        retired: repository.retired_bytes,
      }
    })

  const staged = async (): Promise<string[]> => {
    const inspection = await openInspection(service)
    const places = await inspection.staged()
    await inspection.close()
    return places
  }

  /** Sums, claims and bytes are as the checks want them. */
  const inOrder = async (): Promise<void> => {
    const inspection = await openInspection(service)
    try {
      await inspection.inOrder()
    } finally {
      await inspection.close()
    }
  }

  const connections: Connection[] = []
  afterEach(() => {
    for (const { socket } of connections.splice(0)) socket.destroy()
  })

  /** A request by hand, which begins with `first` and may end in any way. */
  const byHand = async (upload: string, headers: readonly string[], first: string): Promise<Connection> => {
    const connection = await openConnection(service.url)
    connections.push(connection)
    const type = 'Content-Type: application/octet-stream'
    const credential = `Authorization: Bearer ${writer.token}`
    const head = [`PUT ${upload}/content HTTP/1.1`, 'Host: localhost', credential, type, ...headers]
    connection.send(`${head.join('\r\n')}\r\n\r\n${first}`)
    return connection
  }

  /** A request that has begun to send and has the turn; what comes next is for the test to say. */
  const begin = async (upload: string, length: number, first: string): Promise<Connection> => {
    const connection = await byHand(upload, [`Content-Length: ${length}`, 'Connection: close'], first)
    await until('the request has its turn', async () => (await rowOf(upload)).turn_holder)
    return connection
  }

  return {
    get service() {
      return service
    },
    get writer() {
      return writer
    },
    get other() {
      return other
    },
    get reader() {
      return reader
    },
    get stranger() {
      return stranger
    },
    signInAgain,
    open,
    opened,
    send,
    read,
    cancel,
    refused,
    idOf,
    rowOf,
    left,
    staged,
    inOrder,
    byHand,
    begin,
  }
}
