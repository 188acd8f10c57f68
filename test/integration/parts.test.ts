import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, afterEach, before, describe, it } from 'node:test'
import { partBytesMin, uploadLeaseMs, uploadLifetimeMs } from '../../src/kernel/limits/transfers.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import type { Connection } from '../harness/connection.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { chunked, digestOf, type Inspection, openInspection } from '../harness/inspection.ts'
import { assertPublished, beginPart, fileOfParts, openSession, partOf, sendPart, sendParts } from '../harness/parts.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from '../harness/people.ts'
import { type NewFile, newFile, sendContent } from '../harness/publishing.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

forEachEngine((engine) => {
  let service: TestService
  let inspection: Inspection
  let writer: Person
  let other: Person
  let reader: Person

  before(async () => {
    service = await startService(engine)
    inspection = await openInspection(service)
    await createOwner(service)
    await createRepository(service, 'one')
    writer = await createPerson(service, 'writer')
    other = await createPerson(service, 'other')
    reader = await createPerson(service, 'reader')
    for (const person of [writer, other]) await grant(service, person, 'one', 'write')
    await grant(service, reader, 'one', 'read')
  })
  after(async () => {
    await inspection.close()
    await service.stop()
  })

  const connections: Connection[] = []
  afterEach(async () => {
    for (const { socket } of connections.splice(0)) socket.destroy()
    await inspection.inOrder()
  })

  const opened = (file: Pick<NewFile, 'descriptor'>): Promise<string> => openSession(service, writer.token, 'one', file)
  const send = (
    upload: string,
    index: number | string,
    body: Parameters<typeof sendPart>[4],
    headers?: Record<string, string>,
  ): Promise<Told> => sendPart(service, writer.token, upload, index, body, headers)
  const sendAll = (upload: string, file: NewFile, order?: readonly number[]): Promise<void> =>
    sendParts(service, writer.token, upload, file, order)
  const complete = (upload: string): Promise<Told> =>
    service.ask({ method: 'POST', path: `${upload}/complete`, credential: writer.token })
  const listed = async (upload: string): Promise<{ partBytes: number; items: unknown[] }> =>
    (await expectAnswer(service, { path: `${upload}/parts`, credential: writer.token }, 200)).json
  const published = (upload: string, file: NewFile): Promise<void> =>
    assertPublished(service, writer.token, upload, file)
  const idOf = (upload: string): string => upload.slice(upload.lastIndexOf('/') + 1)
  const refused = (told: Told, status: number, code: string): void => {
    assert.equal(told.status, status, told.text)
    assert.equal(told.json.code, code, told.text)
  }

  const begin = async (upload: string, index: number, body: Uint8Array, firstBytes: number): Promise<Connection> => {
    const connection = await beginPart(service, writer.token, upload, index, body, firstBytes)
    connections.push(connection)
    return connection
  }

  describe('parts', () => {
    it('are taken in any order, listed as they are stored, and published as the whole', async () => {
      const file = fileOfParts('any order', 2)
      const upload = await opened(file)
      assert.deepEqual(await listed(upload), { partBytes: partBytesMin, items: [] })
      const item = (index: number) => ({
        index,
        size: partOf(file, index).byteLength,
        sha256: digestOf(partOf(file, index)),
      })
      await sendAll(upload, file, [2])
      assert.deepEqual(await listed(upload), { partBytes: partBytesMin, items: [item(2)] })
      await sendAll(upload, file, [0, 1])
      assert.deepEqual(await listed(upload), { partBytes: partBytesMin, items: [0, 1, 2].map(item) })
      const told = await complete(upload)
      assert.equal(told.status, 200, told.text)
      assert.equal(told.json.status, 'available')
      await published(upload, file)
      assert.deepEqual(await listed(upload), { partBytes: partBytesMin, items: [] })
    })

    it('may be one alone, as short as a byte', async () => {
      const file = fileOfParts('a byte', 0, 1)
      const upload = await opened(file)
      await sendAll(upload, file)
      assert.equal((await complete(upload)).status, 200)
      await published(upload, file)
    })

    it('come in chunks of unknown length as well', async () => {
      const file = fileOfParts('chunks', 1)
      const upload = await opened(file)
      for (const index of [0, 1]) {
        const bytes = partOf(file, index)
        const told = await send(upload, index, chunked(bytes), { 'x-content-sha256': digestOf(bytes) })
        assert.equal(told.status, 204, told.text)
      }
      assert.equal((await complete(upload)).status, 200)
      await published(upload, file)
    })

    it('are the same however often they are sent, and never change', async () => {
      const file = fileOfParts('again', 1)
      const upload = await opened(file)
      await sendAll(upload, file, [0, 0])
      const another = randomBytes(partBytesMin)
      refused(await send(upload, 0, another), 409, 'part_mismatch')
      refused(
        await send(upload, 0, another, { 'x-content-sha256': digestOf(partOf(file, 0)) }),
        422,
        'checksum_mismatch',
      )
      await sendAll(upload, file, [1, 0, 1])
      assert.equal((await complete(upload)).status, 200)
      await published(upload, file)
    })

    it('of another size or digest than was said are refused, count for nothing, and may be sent again', async () => {
      const file = fileOfParts('wrong', 1)
      const upload = await opened(file)
      const [first, last] = [partOf(file, 0), partOf(file, 1)]
      refused(await send(upload, 0, first, { 'x-content-sha256': digestOf(last) }), 422, 'checksum_mismatch')
      refused(await send(upload, 0, first.subarray(1)), 422, 'size_mismatch')
      refused(await send(upload, 1, Buffer.concat([last, last])), 422, 'size_mismatch')
      for (const body of [first.subarray(1), Buffer.concat([first, last])])
        refused(await send(upload, 0, chunked(body), { 'x-content-sha256': digestOf(body) }), 422, 'size_mismatch')
      assert.deepEqual((await listed(upload)).items, [])
      await sendAll(upload, file)
      assert.equal((await complete(upload)).status, 200)
      await published(upload, file)
    })

    it('need their digest, an index of theirs, and the right media type', async () => {
      const file = fileOfParts('asked wrongly', 1)
      const upload = await opened(file)
      const body = partOf(file, 1)
      const pointer = (told: Told): string => told.json.details[0].pointer
      for (const digest of ['', 'x', digestOf(body).toUpperCase(), `${digestOf(body)}0`]) {
        const told = await send(upload, 1, body, { 'x-content-sha256': digest })
        refused(told, 400, 'invalid_request')
        assert.equal(pointer(told), '/headers/x-content-sha256')
      }
      const missing = await service.ask({
        method: 'PUT',
        path: `${upload}/parts/1`,
        credential: writer.token,
        headers: { 'content-type': 'application/octet-stream' },
        body,
      })
      refused(missing, 400, 'invalid_request')
      for (const index of ['2', '9999', '10000', '-1', '01', '1.0', 'x', '%31x']) {
        const told = await send(upload, index, body)
        refused(told, 400, 'invalid_request')
        assert.equal(pointer(told), '/path/index', index)
      }
      refused(await send(upload, 1, body, { 'content-type': 'text/plain' }), 415, 'unsupported_media_type')
      assert.deepEqual((await listed(upload)).items, [])
    })

    it('are the business of the creator alone', async () => {
      const file = fileOfParts('private', 0, 10)
      const upload = await opened(file)
      const body = partOf(file, 0)
      refused(await sendPart(service, other.token, upload, 0, body), 404, 'not_found')
      refused(await sendPart(service, reader.token, upload, 0, body), 403, 'permission_missing')
      for (const request of [
        { path: `${upload}/parts` },
        { method: 'POST', path: `${upload}/complete` },
        { method: 'POST', path: `${upload}/complete-async` },
      ])
        refused(await service.ask({ ...request, credential: other.token }), 404, 'not_found')
      assert.deepEqual((await listed(upload)).items, [])
    })

    it('and a whole file exclude each other, and what has ended takes neither', async () => {
      const file = fileOfParts('either', 0, 10)
      const inParts = await opened(file)
      await sendAll(inParts, file)
      refused(await sendContent(service, writer.token, inParts, file.bytes), 409, 'upload_state')
      assert.equal((await complete(inParts)).status, 200)
      refused(await send(inParts, 0, partOf(file, 0)), 409, 'upload_state')
      const cancelled = await opened(file)
      await sendAll(cancelled, file)
      await expectAnswer(service, { method: 'DELETE', path: cancelled, credential: writer.token }, 200)
      refused(await send(cancelled, 0, partOf(file, 0)), 409, 'upload_state')
      refused(await complete(cancelled), 409, 'upload_state')
      assert.deepEqual((await listed(cancelled)).items, [])
    })

    it('refused before they were read leave a whole file possible', async () => {
      const file = fileOfParts('whole after all', 0, 10)
      const upload = await opened(file)
      refused(await send(upload, 0, Buffer.alloc(9)), 422, 'size_mismatch')
      refused(await send(upload, 0, Buffer.alloc(10), { 'x-content-sha256': digestOf('') }), 422, 'checksum_mismatch')
      assert.equal((await sendContent(service, writer.token, upload, file.bytes)).status, 200)
      await published(upload, file)
    })
  })

  describe('one request at a time', () => {
    it('sends to an upload; others are told that it is busy', async () => {
      const file = fileOfParts('busy', 1)
      const upload = await opened(file)
      const body = partOf(file, 0)
      const sending = await begin(upload, 0, body, 1_000_000)
      refused(await send(upload, 1, partOf(file, 1)), 503, 'busy')
      refused(await complete(upload), 503, 'busy')
      refused(await sendContent(service, writer.token, upload, file.bytes), 503, 'busy')
      sending.send(body.subarray(1_000_000))
      assert.match(await sending.ended(), /^HTTP\/1\.1 204 /)
      await sendAll(upload, file, [1])
      assert.equal((await complete(upload)).status, 200)
      await published(upload, file)
    })

    it('is over when its client goes, and the part can be sent again', async () => {
      const file = fileOfParts('gone', 1)
      const upload = await opened(file)
      const sending = await begin(upload, 0, partOf(file, 0), 3_000_000)
      sending.socket.destroy()
      await until('the turn is free', async () => (await send(upload, 0, partOf(file, 0))).status === 204)
      await sendAll(upload, file, [1])
      assert.equal((await complete(upload)).status, 200)
      await published(upload, file)
    })

    it('loses its turn when it was silent for too long, and writes no more into the part of its successor', async () => {
      const file = fileOfParts('taken over', 1)
      const upload = await opened(file)
      const lie = randomBytes(partBytesMin)
      const stalled = await begin(upload, 0, lie, 3_000_000)
      service.clock.advance(uploadLeaseMs + 1)
      await sendAll(upload, file, [0])
      stalled.send(lie.subarray(3_000_000))
      assert.match(await stalled.ended(), /^HTTP\/1\.1 503 /)
      await sendAll(upload, file, [1])
      assert.equal((await complete(upload)).status, 200)
      await published(upload, file)
    })
  })

  describe('completing', () => {
    it('with parts missing names the first of them', async () => {
      const file = fileOfParts('missing', 2)
      const upload = await opened(file)
      const missing = async (index: number): Promise<void> => {
        for (const path of [`${upload}/complete`, `${upload}/complete-async`]) {
          const told = await service.ask({ method: 'POST', path, credential: writer.token })
          refused(told, 409, 'parts_incomplete')
          assert.match(told.json.detail, new RegExp(`^Part ${index} of 3 is missing`))
        }
      }
      await missing(0)
      await sendAll(upload, file, [0, 2])
      await missing(1)
      await sendAll(upload, file, [1])
      assert.equal((await complete(upload)).status, 200)
    })

    it('answers the same when it is repeated', async () => {
      const file = fileOfParts('repeated', 1)
      const upload = await opened(file)
      await sendAll(upload, file)
      const told = await complete(upload)
      assert.equal(told.status, 200, told.text)
      assert.deepEqual((await complete(upload)).json, told.json)
    })

    it('an empty file needs no parts, and takes none', async () => {
      const file = newFile('empty', '')
      const upload = await opened(file)
      refused(await send(upload, 0, Buffer.alloc(0)), 400, 'invalid_request')
      assert.equal((await complete(upload)).status, 200)
      await published(upload, file)
    })

    it('what is not what was declared is refused each time; the session can only be cancelled', async () => {
      const file = fileOfParts('other content', 1)
      const upload = await opened({ descriptor: { ...file.descriptor, sha256: digestOf('something else') } })
      await sendAll(upload, file)
      for (let n = 0; n < 2; n++) refused(await complete(upload), 422, 'checksum_mismatch')
      const session = await expectAnswer(service, { path: upload, credential: writer.token }, 200)
      assert.equal(session.json.status, 'pending')
      await expectAnswer(service, { method: 'DELETE', path: upload, credential: writer.token }, 200)
    })

    it('works after a restart in the middle, although what was hashed is forgotten', async () => {
      const file = fileOfParts('restarted', 2)
      const upload = await opened(file)
      await sendAll(upload, file, [0, 1])
      await service.restart()
      await sendAll(upload, file, [2])
      assert.equal((await complete(upload)).status, 200)
      await published(upload, file)
    })

    it('works with parts that came through different processes', async () => {
      const second = await startService(engine, { on: service, roles: { gateway: 'api', worker: false } })
      try {
        const file = fileOfParts('two doors', 3)
        const upload = await opened(file)
        for (const index of [0, 1, 2, 3])
          await sendParts(index % 2 === 0 ? service : second, writer.token, upload, file, [index])
        const told = await second.ask({ method: 'POST', path: `${upload}/complete`, credential: writer.token })
        assert.equal(told.status, 200, told.text)
        await published(upload, file)
      } finally {
        await second.stop()
      }
    })

    it('the same content by many at once publishes it for everyone, once', async () => {
      const file = fileOfParts('the same', 1)
      const staged = await inspection.staged()
      const uploads = await Promise.all(Array.from({ length: 16 }, () => opened(file)))
      await Promise.all(
        uploads.map(async (upload) => {
          await sendAll(upload, file)
          assert.equal((await complete(upload)).status, 200)
        }),
      )
      for (const upload of uploads) await published(upload, file)
      assert.equal((await inspection.stored()).filter((digest) => digest === file.descriptor.sha256).length, 1)
      assert.deepEqual(await inspection.staged(), staged, 'those who came later leave nothing')
    })
  })

  describe('a session of ten terabytes', () => {
    it('is planned in 10,000 parts, which are listed and counted without a file of that size', async () => {
      const bytes = 10_000 * 1024 ** 3
      const upload = await opened({ descriptor: { name: 'huge', size: '1', sha256: digestOf('huge') } })
      // No disk here holds what is promised to such a session, so that it grows behind the service's back.
      await inDatabase(service, (q) =>
        q.updateTable('uploads').set({ size: bytes }).where('id', '=', idOf(upload)).execute(),
      )
      const partBytes = 1024 ** 3
      assert.deepEqual(await listed(upload), { partBytes, items: [] })
      const sha256 = digestOf('a part')
      const claim_id = idOf(upload)
      const missing = 7_777
      await inDatabase(service, async (q) => {
        await q
          .insertInto('assemblies')
          .values({ claim_id, place: claim_id, stored_bytes: 0, hashed_parts: 0, hash_state: null, verified: 0 })
          .execute()
        const rows = [...new Array(10_000).keys()]
          .filter((index) => index !== missing)
          .map((part_index) => ({ claim_id, part_index, sha256, receipt: '' }))
        for (let at = 0; at < rows.length; at += 500)
          await q
            .insertInto('assembly_parts')
            .values(rows.slice(at, at + 500))
            .execute()
      })
      const { items } = await listed(upload)
      assert.equal(items.length, 9_999)
      assert.deepEqual(items[missing], { index: missing + 1, size: partBytes, sha256 })
      const told = await complete(upload)
      refused(told, 409, 'parts_incomplete')
      assert.match(told.json.detail, /^Part 7777 of 10000 is missing/)
      await expectAnswer(service, { method: 'DELETE', path: upload, credential: writer.token }, 200)
    })
  })

  describe('what is left of parts', () => {
    it('goes when the session is cancelled or expires; its room is given back after the grace period', async () => {
      const file = fileOfParts('left over', 1)
      const [cancelled, expiring] = [await opened(file), await opened(file)]
      for (const upload of [cancelled, expiring]) await sendAll(upload, file, [0])
      await expectAnswer(service, { method: 'DELETE', path: cancelled, credential: writer.token }, 200)
      await inspection.upkeep()
      assert.equal((await inspection.staged()).length, 1)
      service.clock.advance(uploadLifetimeMs + 1)
      await inspection.upkeep()
      assert.deepEqual(await inspection.staged(), [])
      const statusOf = (upload: string) =>
        inDatabase(service, (q) =>
          q.selectFrom('uploads').select('status').where('id', '=', idOf(upload)).executeTakeFirst(),
        )
      assert.deepEqual(await statusOf(expiring), { status: 'cancelled' })
      const parts = await inDatabase(service, (q) => q.selectFrom('assembly_parts').selectAll().execute())
      assert.deepEqual(parts, [])
    })
  })
})
