import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { after, afterEach, before, describe, it } from 'node:test'
import { uploadLifetimeMs, uploadTurnMs } from '../../src/kernel/limits/transfers.ts'
import { hour } from '../../src/kernel/units.ts'
import { digestOf, openBackstage } from '../harness/backstage.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { type Connection, openConnection } from '../harness/connection.ts'
import { forEachEngine } from '../harness/engines.ts'
import { sendPart } from '../harness/parts.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from '../harness/people.ts'
import { newFile, openUpload, sendContent, uploadsOf } from '../harness/publishing.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

const maxObjectBytes = 1_000_000
const capacityBytes = 50_000_000
const nobody = '00000000-0000-7000-8000-000000000000'

after(closeConnections)

forEachEngine((engine) => {
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
    const backstage = await openBackstage(service)
    const places = await backstage.staged()
    await backstage.close()
    return places
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

  describe('opening a session', () => {
    it('answers 201 with the whole record and its place, and 200 with the same when it is repeated', async () => {
      const { descriptor } = newFile('a file', 'content', { labels: ['b', 'a'], metadata: { b: '1', a: '' } })
      const key = randomUUID()
      const first = await open(descriptor, key)
      assert.equal(first.status, 201)
      const { id, createdAt, expiresAt } = first.json
      assert.deepEqual(first.json, {
        id,
        repository: 'one',
        status: 'pending',
        createdAt,
        expiresAt,
        descriptor,
      })
      assert.equal(Date.parse(expiresAt) - Date.parse(createdAt), uploadLifetimeMs)
      assert.equal(first.headers.location, `${uploadsOf('one')}/${id}`)
      const earlier = await left()
      const second = await open(descriptor, key)
      assert.equal(second.status, 200)
      assert.deepEqual(second.json, first.json)
      assert.equal(second.headers.location, first.headers.location)
      assert.deepEqual(await left(), earlier)
      assert.deepEqual((await read(String(first.headers.location))).json, first.json)
    })

    it('gives labels and metadata back as empty when none were given, which is the same description', async () => {
      const { descriptor } = newFile('plain', 'plain')
      const key = randomUUID()
      const first = await open(descriptor, key)
      assert.deepEqual(first.json.descriptor, { ...descriptor, labels: [], metadata: {} })
      assert.equal((await open({ ...descriptor, labels: [], metadata: {} }, key)).status, 200)
    })

    it('does not mind the order of the metadata, and minds that of the labels', async () => {
      const { descriptor } = newFile('ordered', 'ordered')
      const key = randomUUID()
      assert.equal((await open({ ...descriptor, labels: ['x', 'y'], metadata: { a: '1', Z: '2' } }, key)).status, 201)
      assert.equal((await open({ metadata: { Z: '2', a: '1' }, labels: ['x', 'y'], ...descriptor }, key)).status, 200)
      refused(
        await open({ ...descriptor, labels: ['y', 'x'], metadata: { a: '1', Z: '2' } }, key),
        409,
        'idempotency_mismatch',
      )
    })

    it('answers 409 when the key was used for anything else, and changes nothing', async () => {
      const { descriptor } = newFile('first', 'first', { labels: ['l'], metadata: { k: 'v' } })
      const key = randomUUID()
      assert.equal((await open(descriptor, key)).status, 201)
      const earlier = await left()
      for (const change of [
        { name: 'First' },
        { size: '6' },
        { sha256: digestOf('x') },
        { labels: [] },
        { labels: ['l', 'l'] },
        { metadata: {} },
        { metadata: { k: 'V' } },
        { metadata: { k: 'v', l: '' } },
      ])
        refused(await open({ ...descriptor, ...change }, key), 409, 'idempotency_mismatch')
      assert.deepEqual(await left(), earlier)
      assert.equal((await open(descriptor, key)).status, 200)
    })

    it('replays for a session that was cancelled or published, too', async () => {
      const file = newFile('ended', 'ended')
      for (const [end, status] of [
        [(upload: string) => cancel(upload), 'cancelled'],
        [(upload: string) => send(upload, file.bytes), 'available'],
      ] as const) {
        const key = randomUUID()
        const first = await open(file.descriptor, key)
        assert.equal((await end(String(first.headers.location))).status, 200)
        const again = await open(file.descriptor, key)
        assert.equal(again.status, 200)
        assert.deepEqual(again.json, { ...first.json, status })
      }
    })

    it('has keys of its own per caller and per repository', async () => {
      const { descriptor } = newFile('scoped', 'scoped')
      const key = 'scoped'
      const told = [
        await open(descriptor, key),
        await openUpload(service, other.token, 'one', { ...descriptor, name: 'another' }, key),
        await openUpload(service, writer.token, 'two', { ...descriptor, name: 'a third' }, key),
        await openUpload(service, other.token, 'two', descriptor, key),
        await open(descriptor, 'SCOPED'),
      ]
      for (const { status, text } of told) assert.equal(status, 201, text)
      assert.equal(new Set(told.map(({ json }) => json.id)).size, told.length)
    })

    it('needs a key of 1 to 128 letters, digits, _ . : and -', async () => {
      const { descriptor } = newFile('keyed', 'keyed')
      for (const key of ['x', 'A-z_0.9:', `${randomUUID()}${'k'.repeat(128)}`.slice(0, 128)])
        assert.equal((await open(descriptor, key)).status, 201, key)
      const earlier = await left()
      for (const key of ['', 'k'.repeat(129), 'a b', 'a/b', 'a,b', '"a"', 'ä', 'a%20']) {
        const told = await open(descriptor, key)
        refused(told, 400, 'invalid_request')
        assert.equal(told.json.details[0].pointer, '/headers/idempotency-key', key)
      }
      const missing = await service.ask({ path: uploadsOf('one'), credential: writer.token, json: descriptor })
      refused(missing, 400, 'invalid_request')
      assert.equal(missing.json.details[0].pointer, '/headers/idempotency-key')
      assert.deepEqual(await left(), earlier)
    })

    it('gives one session to equal requests that race, and reserves once', async () => {
      for (let round = 0; round < 5; round++) {
        const { descriptor } = newFile(`race ${round}`, `race ${round}`)
        const key = randomUUID()
        const earlier = await left()
        const told = await Promise.all(Array.from({ length: 6 }, () => open(descriptor, key)))
        assert.deepEqual(told.map(({ status }) => status).sort(), [200, 200, 200, 200, 200, 201])
        assert.equal(new Set(told.map(({ json }) => json.id)).size, 1)
        const bytes = Number(descriptor.size)
        // The digest is announced with the reservation.
        assert.deepEqual(await left(), {
          ...earlier,
          uploads: earlier.uploads + 1,
          claims: earlier.claims + 1,
          blobs: earlier.blobs + 1,
          reserved: earlier.reserved + bytes,
          pending: earlier.pending + bytes,
        })
      }
    })

    it('lets one of different descriptions win that race for a key', async () => {
      const key = randomUUID()
      const told = await Promise.all(['a', 'b', 'c', 'd'].map((name) => open(newFile(name, name).descriptor, key)))
      assert.deepEqual(told.map(({ status }) => status).sort(), [201, 409, 409, 409])
    })

    it('needs the right to write: 401, 403 for readers, 404 for those who do not see the repository', async () => {
      const { descriptor } = newFile('mine', 'mine')
      const earlier = await left()
      refused(await openUpload(service, 'x'.repeat(40), 'one', descriptor), 401, 'credential_invalid')
      refused(await openUpload(service, reader.token, 'one', descriptor), 403, 'permission_missing')
      refused(await openUpload(service, stranger.token, 'one', descriptor), 404, 'not_found')
      refused(await openUpload(service, service.recoveryKey, 'one', descriptor), 404, 'not_found')
      refused(await openUpload(service, writer.token, 'missing', descriptor), 404, 'not_found')
      assert.deepEqual(await left(), earlier)
    })
  })

  describe('a description', () => {
    const good = newFile('good', 'good').descriptor
    const entries = (count: number): Record<string, string> =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']))

    it('may go to every limit, counted in characters and not in bytes', async () => {
      for (const change of [
        { name: 'n' },
        { name: 'n'.repeat(240) },
        { name: '\u{1f600}'.repeat(240) },
        { name: ' ../a\\b:c"d;e%41\u202e\ufeff' },
        { size: String(maxObjectBytes) },
        { size: '0' },
        { labels: Array.from({ length: 32 }, () => '\u{10ffff}'.repeat(64)) },
        { metadata: entries(32) },
        { metadata: { a: '\u{1f600}'.repeat(1024), [`b${'_'.repeat(63)}`]: '', 'A.-_9': 'x'.repeat(1024) } },
        { metadata: { constructor: 'c', toString: 's', hasOwnProperty: 'h' } },
      ]) {
        const told = await open({ ...good, ...change })
        assert.equal(told.status, 201, told.text)
        assert.deepEqual(told.json.descriptor, { labels: [], metadata: {}, ...good, ...change })
        assert.deepEqual((await read(String(told.headers.location))).json, told.json)
      }
    })

    it('that is wrong is refused with a pointer to the fault, and leaves nothing', async () => {
      const earlier = await left()
      const key = randomUUID()
      const without = (field: keyof typeof good) =>
        Object.fromEntries(Object.entries(good).filter(([name]) => name !== field))
      for (const [json, pointer] of [
        [without('name'), '/name'],
        [without('size'), '/size'],
        [without('sha256'), '/sha256'],
        [{ ...good, name: '' }, '/name'],
        [{ ...good, name: 'n'.repeat(241) }, '/name'],
        [{ ...good, name: '\u{1f600}'.repeat(241) }, '/name'],
        [{ ...good, name: 7 }, '/name'],
        [{ ...good, name: null }, '/name'],
        ...['\u0000', '\n', '\u001f', '\u007f', '\u0085', '\u009f', '\ud800', '\udfff', '\udc00\ud800'].map(
          (character) => [{ ...good, name: `a${character}b` }, '/name'] as const,
        ),
        ...[7, 4.5, null, '', '-1', '+1', '04', '00', '1.0', '1e3', ' 4', '4 ', '4\n', '٤', '0x4', '4'.repeat(17)].map(
          (size) => [{ ...good, size }, '/size'] as const,
        ),
        ...[String(maxObjectBytes + 1), '9007199254740991', '9999999999999999'].map(
          (size) => [{ ...good, size }, '/size'] as const,
        ),
        ...[
          good.sha256.toUpperCase().replace(/^./, 'F'),
          good.sha256.slice(1),
          `${good.sha256}0`,
          `${good.sha256}\n`,
          1,
        ].map((sha256) => [{ ...good, sha256 }, '/sha256'] as const),
        [{ ...good, labels: Array.from({ length: 33 }, () => 'l') }, '/labels'],
        [{ ...good, labels: 'l' }, '/labels'],
        [{ ...good, labels: null }, '/labels'],
        [{ ...good, labels: { 0: 'l' } }, '/labels'],
        [{ ...good, labels: ['ok', 'l'.repeat(65)] }, '/labels/1'],
        [{ ...good, labels: ['ok', '\u{1f600}'.repeat(65)] }, '/labels/1'],
        [{ ...good, labels: ['ok', 'ok', ''] }, '/labels/2'],
        [{ ...good, labels: [7] }, '/labels/0'],
        [{ ...good, labels: ['a\tb'] }, '/labels/0'],
        [{ ...good, labels: ['\ud83d'] }, '/labels/0'],
        [{ ...good, metadata: entries(33) }, '/metadata'],
        [{ ...good, metadata: [] }, '/metadata'],
        [{ ...good, metadata: 'x' }, '/metadata'],
        [{ ...good, metadata: null }, '/metadata'],
        ...['', '1a', '_a', 'a b', 'a/b', 'a~b', 'ä', 'k'.repeat(65), 'a\n'].map(
          (name) =>
            [
              { ...good, metadata: { [name]: 'v' } },
              `/metadata/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
            ] as const,
        ),
        [{ ...good, metadata: { ok: 'v', long: 'v'.repeat(1025) } }, '/metadata/long'],
        [{ ...good, metadata: { long: '\u{1f600}'.repeat(1025) } }, '/metadata/long'],
        [{ ...good, metadata: { number: 1 } }, '/metadata/number'],
        [{ ...good, metadata: { none: null } }, '/metadata/none'],
        [{ ...good, metadata: { lines: 'a\nb' } }, '/metadata/lines'],
        [{ ...good, metadata: { half: '\ude00' } }, '/metadata/half'],
        [{ ...good, colour: 'red' }, '/colour'],
        [{ ...good, id: nobody }, '/id'],
        [{ ...good, repository: 'two' }, '/repository'],
        [{ ...good, 'a/b~c': 1 }, '/a~1b~0c'],
      ] as const) {
        const told = await open(json, key)
        refused(told, 400, 'invalid_request')
        const pointers = told.json.details.map((detail: { pointer: string }) => detail.pointer)
        assert.ok(pointers.includes(pointer), `${JSON.stringify(json).slice(0, 300)}: ${told.text}`)
      }
      assert.deepEqual(await left(), earlier)
      // The key is still free.
      assert.equal((await open(good, key)).status, 201)
    })

    it('is refused when it is no object or no JSON', async () => {
      const earlier = await left()
      for (const json of [null, [], 'x', 7, true]) refused(await open(json), 400, 'invalid_request')
      const raw = (body: string | Uint8Array, type = 'application/json'): Promise<Told> =>
        service.ask({
          path: uploadsOf('one'),
          credential: writer.token,
          headers: { 'idempotency-key': randomUUID(), 'content-type': type },
          body,
        })
      for (const body of ['', '{', '{"name":}', `${JSON.stringify(good)}x`])
        refused(await raw(body), 400, 'invalid_request')
      const proto = `{"name":"n","size":"4","sha256":"${good.sha256}","metadata":{"__proto__":"v"}}`
      for (const body of [proto, proto.replace('"metadata":{', '"__proto__":{'), Buffer.from([0x22, 0xff, 0x22])])
        refused(await raw(body), 400, 'invalid_request')
      const escaped = await raw(`{"name":"\\ud800","size":"4","sha256":"${good.sha256}"}`)
      refused(escaped, 400, 'invalid_request')
      assert.equal(escaped.json.details[0].pointer, '/name')
      refused(await raw(JSON.stringify(good), 'text/plain'), 415, 'unsupported_media_type')
      refused(await raw(JSON.stringify({ ...good, name: 'n'.repeat(600_000) })), 413, 'body_too_large')
      assert.deepEqual(await left(), earlier)
    })
  })

  describe('a session', () => {
    const file = newFile('session', 'session')

    it('is seen by its creator alone, and only where it is', async () => {
      const upload = await opened(file)
      const elsewhere = upload.replace('/one/', '/two/')
      const earlier = await left()
      for (const [path, credential] of [
        [upload, other.token],
        [elsewhere, writer.token],
        [upload.replace(idOf(upload), nobody), writer.token],
      ] as const) {
        refused(await read(path, credential), 404, 'not_found')
        refused(await cancel(path, credential), 404, 'not_found')
        refused(await sendContent(service, credential, path, file.bytes), 404, 'not_found')
      }
      for (const [credential, status] of [
        [reader.token, 403],
        [stranger.token, 404],
        [service.recoveryKey, 404],
      ] as const)
        for (const told of [
          await read(upload, credential),
          await cancel(upload, credential),
          await sendContent(service, credential, upload, file.bytes),
        ])
          assert.equal(told.status, status, told.text)
      assert.deepEqual(await left(), earlier)
      assert.equal((await read(upload)).json.status, 'pending')
    })

    it('has an id that is a UUID', async () => {
      const upload = await opened(file)
      for (const id of ['x', `${idOf(upload)}0`, `%7B${idOf(upload)}%7D`]) {
        const told = await read(`${uploadsOf('one')}/${id}`)
        refused(told, 400, 'invalid_request')
        assert.equal(told.json.details[0].pointer, '/path/id')
      }
    })

    it('is no artifact before it is published', async () => {
      const upload = await opened(file)
      const artifact = upload.replace('/uploads/', '/artifacts/')
      refused(await read(artifact), 404, 'not_found')
      refused(await read(`${artifact}/content`), 404, 'not_found')
      assert.equal((await send(upload, file.bytes)).status, 200)
      assert.equal((await read(artifact)).status, 200)
    })

    it('is cancelled once and stays so; where nothing came its room is free at once', async () => {
      const upload = await opened(file)
      const earlier = await left()
      const first = await cancel(upload)
      assert.equal(first.status, 200)
      assert.equal(first.json.status, 'cancelled')
      const bytes = file.bytes.byteLength
      const after = {
        ...earlier,
        pending: earlier.pending - bytes,
        reserved: earlier.reserved - bytes,
        claims: earlier.claims - 1,
      }
      assert.deepEqual(await left(), after)
      const second = await cancel(upload)
      assert.equal(second.status, 200)
      assert.deepEqual(second.json, first.json)
      assert.deepEqual((await read(upload)).json, first.json)
      refused(await send(upload, file.bytes), 409, 'upload_state')
      assert.deepEqual(await left(), after)
    })

    it('that is published cannot be cancelled or sent to', async () => {
      const upload = await opened(file)
      const sent = await send(upload, file.bytes)
      assert.equal(sent.status, 200)
      const after = await left()
      for (let round = 0; round < 2; round++) {
        refused(await cancel(upload), 409, 'upload_state')
        refused(await send(upload, file.bytes), 409, 'upload_state')
        refused(await send(upload, 'other bytes'), 409, 'upload_state')
      }
      assert.deepEqual((await read(upload)).json, sent.json)
      assert.deepEqual(await left(), after)
    })
  })

  describe('the whole content', () => {
    const octets = { 'content-type': 'application/octet-stream' }

    it('is published under the id of the session, with one line in the journal, and counted as such', async () => {
      const file = newFile('published', randomUUID(), { labels: ['l'], metadata: { k: 'v' } })
      const bytes = file.bytes.byteLength
      const upload = await opened(file)
      const pending = (await read(upload)).json
      const earlier = await left()
      const told = await send(upload, file.bytes)
      assert.equal(told.status, 200)
      assert.deepEqual(told.json, { ...pending, status: 'available' })
      assert.deepEqual(await left(), {
        ...earlier,
        artifacts: earlier.artifacts + 1,
        journal: earlier.journal + 1,
        pending: earlier.pending - bytes,
        published: earlier.published + bytes,
      })
      const content = await read(`${upload.replace('/uploads/', '/artifacts/')}/content`)
      assert.deepEqual(content.bytes, file.bytes)
      assert.deepEqual(await staged(), [])
    })

    it('that is neither counted nor chunked is empty', async () => {
      const empty = await opened(newFile('none', ''))
      assert.match(await (await byHand(empty, ['Connection: close'], '')).ended(), /^HTTP\/1\.1 200 /)
      const some = await opened(newFile('some', 'some'))
      assert.match(await (await byHand(some, ['Connection: close'], '')).ended(), /^HTTP\/1\.1 422 /)
      assert.equal((await read(some)).json.status, 'pending')
    })

    it('may be empty', async () => {
      const file = newFile('empty', '')
      const upload = await opened(file)
      const told = await send(upload, '')
      assert.equal(told.status, 200, told.text)
      const content = await read(`${upload.replace('/uploads/', '/artifacts/')}/content`)
      assert.equal(content.status, 200)
      assert.equal(content.headers['content-length'], '0')
      const chunked = await opened(file)
      const again = await service.ask({
        method: 'PUT',
        path: `${chunked}/content`,
        credential: writer.token,
        headers: octets,
        body: Readable.from([]),
      })
      assert.equal(again.status, 200, again.text)
      refused(await send(await opened(file), 'x'), 422, 'size_mismatch')
    })

    it('may come in chunks, and from several sessions with the same bytes', async () => {
      const file = newFile('chunks', Buffer.alloc(700_001, randomUUID()))
      const uploads = await Promise.all([opened(file), opened(file), opened(file)])
      const told = await Promise.all(
        uploads.map((upload) =>
          service.ask({
            method: 'PUT',
            path: `${upload}/content`,
            credential: writer.token,
            headers: octets,
            body: Readable.from([
              file.bytes.subarray(0, 1),
              file.bytes.subarray(1, 300_000),
              file.bytes.subarray(300_000),
            ]),
          }),
        ),
      )
      for (const { status, text } of told) assert.equal(status, 200, text)
      for (const upload of uploads)
        assert.deepEqual((await read(`${upload.replace('/uploads/', '/artifacts/')}/content`)).bytes, file.bytes)
    })

    it('of another size or digest is refused, leaves nothing, and a second try works', async () => {
      const file = newFile('mismatch', `mismatch ${randomUUID()}`)
      const { bytes } = file
      const upload = await opened(file)
      const earlier = await left()
      const put = (body: Uint8Array | Readable, headers = {}): Promise<Told> =>
        service.ask({
          method: 'PUT',
          path: `${upload}/content`,
          credential: writer.token,
          headers: { ...octets, ...headers },
          body,
        })
      const wrong = Buffer.from(bytes)
      wrong[3] = 0xff
      for (const [told, code] of [
        [await put(wrong), 'checksum_mismatch'],
        [await put(Readable.from([wrong])), 'checksum_mismatch'],
        [await put(bytes.subarray(1)), 'size_mismatch'],
        [await put(Buffer.concat([bytes, bytes.subarray(0, 1)])), 'size_mismatch'],
        [await put(Buffer.alloc(0)), 'size_mismatch'],
        [await put(Readable.from([bytes.subarray(1)])), 'size_mismatch'],
        [await put(Readable.from([bytes, Buffer.from('x')])), 'size_mismatch'],
        [await put(Readable.from([])), 'size_mismatch'],
      ] as const) {
        refused(told, 422, code)
        assert.deepEqual(await left(), earlier)
        assert.equal((await rowOf(upload)).turn_holder, null)
        assert.deepEqual(await staged(), [])
      }
      const told = await put(bytes)
      assert.equal(told.status, 200, told.text)
    })

    it('that is much longer than declared is refused without being read to its end', async () => {
      const upload = await opened(newFile('long', 'long'))
      const connection = await byHand(upload, ['Transfer-Encoding: chunked'], `3e8\r\n${'x'.repeat(1000)}\r\n`)
      // It never ends, and is answered all the same.
      assert.match(await connection.until(/size_mismatch/), /^HTTP\/1\.1 422 /)
      assert.equal((await send(upload, 'long')).status, 200)
    })

    it('may be refused while much of it is still to come, and the client sees why', async () => {
      const upload = await opened(newFile('short', 'short'))
      for (const length of [100_000, 300_000, 5_000_000])
        for (const body of [Buffer.alloc(length), Readable.from([Buffer.alloc(length), Buffer.alloc(length)])]) {
          const told = await service.ask({
            method: 'PUT',
            path: `${upload}/content`,
            credential: writer.token,
            headers: octets,
            body,
          })
          refused(told, 422, 'size_mismatch')
          assert.equal((await read(upload)).json.status, 'pending')
        }
      assert.equal((await send(upload, 'short')).status, 200)
    })

    it('is asked for only when its length is the declared one', async () => {
      const upload = await opened(newFile('expected', 'expected'))
      const expecting = (length: number): Promise<Connection> =>
        byHand(upload, [`Content-Length: ${length}`, 'Expect: 100-continue', 'Connection: close'], '')
      for (const length of [0, 7, 9, 1_000_000_000_000])
        assert.match(await (await expecting(length)).until(/size_mismatch/), /^HTTP\/1\.1 422 /, String(length))
      assert.equal((await read(upload)).json.status, 'pending')
      const right = await expecting(8)
      await right.until(/^HTTP\/1\.1 100 /)
      right.send('expected')
      assert.match(await right.ended(), /HTTP\/1\.1 200 [\s\S]*"status":"available"/)
    })

    it('is application/octet-stream, else 415', async () => {
      const file = newFile('typed', 'typed')
      const upload = await opened(file)
      const put = (headers: Record<string, string>): Promise<Told> =>
        service.ask({ method: 'PUT', path: `${upload}/content`, credential: writer.token, headers, body: file.bytes })
      refused(await put({}), 415, 'unsupported_media_type')
      for (const type of [
        'application/json',
        'text/plain',
        'multipart/form-data; boundary=x',
        'application/octet-streams',
      ])
        refused(await put({ 'content-type': type }), 415, 'unsupported_media_type')
      assert.equal((await read(upload)).json.status, 'pending')
      const told = await put({ 'content-type': 'Application/Octet-Stream; charset=binary' })
      assert.equal(told.status, 200, told.text)
    })

    it('is sent by one request at a time: another gets 503 busy, and the first goes on', async () => {
      const file = newFile('turns', 'twelve bytes')
      const upload = await opened(file)
      const connection = await begin(upload, 12, 'twelve')
      const busy = await send(upload, file.bytes)
      refused(busy, 503, 'busy')
      assert.equal(busy.headers['retry-after'], '5')
      assert.equal((await read(upload)).json.status, 'pending')
      connection.send(' bytes')
      assert.match(await connection.ended(), /^HTTP\/1\.1 200 [\s\S]*"status":"available"/)
      assert.equal((await read(upload)).json.status, 'available')
    })

    it('is published once when many send at once', async () => {
      for (let round = 0; round < 3; round++) {
        const file = newFile('rush', `rush ${randomUUID()}`)
        const upload = await opened(file)
        const earlier = await left()
        const told = await Promise.all(Array.from({ length: 6 }, () => send(upload, file.bytes)))
        assert.equal(told.filter(({ status }) => status === 200).length, 1)
        for (const one of told)
          if (one.status === 503) refused(one, 503, 'busy')
          else if (one.status !== 200) refused(one, 409, 'upload_state')
        const after = await left()
        assert.deepEqual([after.artifacts, after.journal], [earlier.artifacts + 1, earlier.journal + 1])
      }
    })

    it('that is being sent is not published any more when the session is cancelled meanwhile', async () => {
      const file = newFile('abandoned', `abandoned ${randomUUID()}`)
      const text = Buffer.from(file.bytes).toString()
      const upload = await opened(file)
      const connection = await begin(upload, text.length, text.slice(0, 10))
      const earlier = await left()
      assert.equal((await cancel(upload)).status, 200)
      connection.send(text.slice(10))
      assert.match(await connection.ended(), /^HTTP\/1\.1 409 [\s\S]*"code":"upload_state"/)
      assert.equal((await read(upload)).json.status, 'cancelled')
      refused(await read(upload.replace('/uploads/', '/artifacts/')), 404, 'not_found')
      const after = await left()
      assert.deepEqual(
        [after.artifacts, after.journal, after.published, after.reserved],
        [earlier.artifacts, earlier.journal, earlier.published, earlier.reserved],
      )
      assert.deepEqual(await staged(), [])
    })

    it('and a cancellation that race leave one of both, with nothing half', async () => {
      for (let round = 0; round < 6; round++) {
        const file = newFile('race', `race ${randomUUID()}`)
        const upload = await opened(file)
        const [sent, cancelled] = await Promise.all([send(upload, file.bytes), cancel(upload)])
        const { status } = (await read(upload)).json
        const artifact = await read(upload.replace('/uploads/', '/artifacts/'))
        if (status === 'available') {
          assert.equal(sent.status, 200)
          refused(cancelled, 409, 'upload_state')
          assert.equal(artifact.status, 200)
        } else {
          refused(sent, 409, 'upload_state')
          assert.equal(cancelled.status, 200)
          assert.equal(artifact.status, 404)
        }
      }
    })

    it('whose connection is cut leaves the session as it was, for another try', async () => {
      const file = newFile('cut', 'to be cut')
      const upload = await opened(file)
      const earlier = await left()
      for (const end of ['destroy', 'end', 'resetAndDestroy'] as const) {
        const connection = await begin(upload, 9, 'to be')
        connection.socket[end]()
        await until('the turn is given back', async () => (await rowOf(upload)).turn_holder === null)
        assert.deepEqual(await left(), earlier)
        assert.deepEqual(await staged(), [])
        assert.equal((await read(upload)).json.status, 'pending')
      }
      assert.equal((await send(upload, file.bytes)).status, 200)
    })
  })
  describe('time and room', () => {
    /** Goes on by so much, in which sessions of people end. */
    const later = async (milliseconds: number): Promise<void> => {
      service.clock.advance(milliseconds)
      await signInAgain()
    }
    const has = (table: 'claims' | 'uploads', upload: string): Promise<boolean> =>
      inDatabase(
        service,
        async (q) => (await q.selectFrom(table).select('id').where('id', '=', idOf(upload)).execute()).length > 0,
      )
    /** Upkeep begins with a run when the service starts. */
    const gone = async (table: 'claims' | 'uploads', upload: string): Promise<void> => {
      await service.restart()
      await until(`${upload} is gone from ${table}`, async () => !(await has(table, upload)))
    }

    it('a request that falls silent loses its turn to another, and the file is published once', async () => {
      const file = newFile('silent', 'silent bytes')
      const upload = await opened(file)
      const connection = await begin(upload, 12, 'silent')
      refused(await send(upload, file.bytes), 503, 'busy')
      service.clock.advance(uploadTurnMs)
      assert.equal((await send(upload, file.bytes)).status, 200)
      const earlier = await left()
      connection.send(' bytes')
      assert.match(await connection.ended(), /^HTTP\/1\.1 409 [\s\S]*"code":"upload_state"/)
      assert.deepEqual(await left(), earlier)
      assert.deepEqual(await staged(), [])
    })

    it('reserves within the capacity, 507 beyond it, and gives room back when the grace period is over', async () => {
      const { reserved } = await left()
      await service.restart({ SVC_CAPACITY_BYTES: String(reserved + 1000) })
      // What sessions before this one named is forgotten by the run that begins with the service, and counted below.
      await until('no digest waits to be looked at', () =>
        inDatabase(
          service,
          async (q) => (await q.selectFrom('reclaim_candidates').select('sha256').execute()).length === 0,
        ),
      )
      const sized = (size: number) => ({ ...newFile(`sized ${size}`, randomUUID()).descriptor, size: String(size) })
      const full = async (size: number): Promise<void> => {
        const earlier = await left()
        refused(await open(sized(size)), 507, 'storage_quota')
        assert.deepEqual(await left(), earlier)
      }
      await full(1001)
      const race = await Promise.all([600, 600, 600, 600].map((size) => open(sized(size))))
      assert.deepEqual(race.map(({ status }) => status).sort(), [201, 507, 507, 507])
      const first = String(race.find(({ status }) => status === 201)?.headers.location)
      await full(401)
      const description = sized(400)
      const key = randomUUID()
      const last = await open(description, key)
      assert.equal(last.status, 201)
      const second = String(last.headers.location)
      await full(1)
      // What takes no room is still welcome, and so is a repetition.
      assert.equal((await open(sized(0))).status, 201)
      assert.equal((await open(description, key)).status, 200)

      // Something of each came, which stays until the grace period is over.
      for (const [upload, size] of [
        [first, 600],
        [second, 400],
      ] as const) {
        const part = await sendPart(service, writer.token, upload, 0, Buffer.alloc(size))
        assert.equal(part.status, 204, part.text)
      }
      assert.equal((await cancel(first)).status, 200)
      await full(1)
      await later(hour)
      assert.equal((await cancel(second)).status, 200)
      await full(1)
      await later(23 * hour)
      await service.restart({ SVC_CAPACITY_BYTES: String(reserved + 1000) })
      await until('the first is released', async () => !(await has('claims', first)))
      // The run that released the first saw the second, whose hour is not over.
      assert.equal(await has('claims', second), true)
      assert.equal((await read(first)).json.status, 'cancelled')
      await later(hour)
      await gone('claims', second)
      const { sha256 } = description
      await until('the digest that nobody claims is forgotten', () =>
        inDatabase(
          service,
          async (q) => (await q.selectFrom('blobs').selectAll().where('sha256', '=', sha256).execute()).length === 0,
        ),
      )
      assert.equal((await cancel(second)).status, 200)
      const again = await open(sized(1000))
      assert.equal(again.status, 201, again.text)
    })

    it('takes nothing while the disk is nearly full, and the session waits; an object store has no such end', async () => {
      const file = newFile('no disk', 'no disk')
      const upload = await opened(file)
      await service.restart({ SVC_FREE_SPACE_RESERVE_BYTES: '9000000000000000' })
      if (service.blobStoreUrl === '') {
        const earlier = await left()
        refused(await open(newFile('neither', 'neither').descriptor), 507, 'insufficient_space')
        refused(await send(upload, file.bytes), 507, 'insufficient_space')
        assert.deepEqual(await left(), earlier)
        await service.restart()
      }
      assert.equal((await send(upload, file.bytes)).status, 200)
      await service.restart()
    })

    it('gives a request up that does not end within the deadline, and takes another', async () => {
      const file = newFile('slow', 'slow')
      const upload = await opened(file)
      await service.restart({ SVC_UPLOAD_DEADLINE_SECONDS: '1' })
      const connection = await byHand(upload, ['Content-Length: 4', 'Connection: close'], 'sl')
      assert.match(await connection.ended(), /^HTTP\/1\.1 408 [\s\S]*"code":"upload_deadline"/)
      assert.equal((await rowOf(upload)).turn_holder, null)
      assert.deepEqual(await staged(), [])
      assert.equal((await send(upload, file.bytes)).status, 200)
      await service.restart()
    })

    it('a session that expired takes nothing, is cancelled, and is forgotten after seven more days', async () => {
      const file = newFile('expires', `expires ${randomUUID()}`)
      const key = randomUUID()
      const first = await open(file.descriptor, key)
      const upload = String(first.headers.location)
      const published = await opened(file)
      assert.equal((await send(published, file.bytes)).status, 200)
      await later(uploadLifetimeMs - 60_000)
      assert.equal((await read(upload)).json.status, 'pending')
      await later(60_000)
      refused(await send(upload, file.bytes), 409, 'upload_state')
      await service.restart()
      await until('it is cancelled', async () => (await read(upload)).json.status === 'cancelled')
      refused(await send(upload, file.bytes), 409, 'upload_state')
      const replayed = await open(file.descriptor, key)
      assert.equal(replayed.status, 200)
      assert.deepEqual(replayed.json, { ...first.json, status: 'cancelled' })
      assert.equal((await cancel(upload)).status, 200)

      await later(uploadLifetimeMs)
      await gone('uploads', upload)
      refused(await read(upload), 404, 'not_found')
      const anew = await open(file.descriptor, key)
      assert.equal(anew.status, 201)
      assert.notEqual(anew.json.id, first.json.id)
      // The session of what was published is forgotten, too; the file is not.
      await until('it is forgotten', async () => !(await has('uploads', published)))
      const content = await read(`${published.replace('/uploads/', '/artifacts/')}/content`)
      assert.deepEqual(content.bytes, file.bytes)
    })

    it('a request that began in time may end after the session would have expired', async () => {
      const file = newFile('in time', 'just in time')
      const upload = await opened(file)
      await later(uploadLifetimeMs - 5000)
      const connection = await begin(upload, 12, 'just ')
      service.clock.advance(6000)
      connection.send('in time')
      assert.match(await connection.ended(), /^HTTP\/1\.1 200 [\s\S]*"status":"available"/)
    })
  })

  it('all of this left every counter and every claim as the checks want them', async () => {
    const backstage = await openBackstage(service)
    try {
      await backstage.inOrder()
    } finally {
      await backstage.close()
    }
  })
})
