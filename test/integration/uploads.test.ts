import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { uploadLifetimeMs } from '../../src/kernel/limits/transfers.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { digestOf } from '../harness/inspection.ts'
import { newFile, openUpload, sendContent, uploadsOf } from '../harness/publishing.ts'
import { maxObjectBytes, uploadSessions } from '../harness/upload-sessions.ts'

const nobody = '00000000-0000-7000-8000-000000000000'

after(closeConnections)

forEachEngine((engine) => {
  const site = uploadSessions(engine)
  const { inOrder, open, opened, send, read, cancel, refused, idOf, left } = site

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
        await openUpload(site.service, site.other.token, 'one', { ...descriptor, name: 'another' }, key),
        await openUpload(site.service, site.writer.token, 'two', { ...descriptor, name: 'a third' }, key),
        await openUpload(site.service, site.other.token, 'two', descriptor, key),
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
      const missing = await site.service.ask({
        path: uploadsOf('one'),
        credential: site.writer.token,
        json: descriptor,
      })
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
      refused(await openUpload(site.service, 'x'.repeat(40), 'one', descriptor), 401, 'credential_invalid')
      refused(await openUpload(site.service, site.reader.token, 'one', descriptor), 403, 'permission_missing')
      refused(await openUpload(site.service, site.stranger.token, 'one', descriptor), 404, 'not_found')
      refused(await openUpload(site.service, site.service.recoveryKey, 'one', descriptor), 404, 'not_found')
      refused(await openUpload(site.service, site.writer.token, 'missing', descriptor), 404, 'not_found')
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
        site.service.ask({
          path: uploadsOf('one'),
          credential: site.writer.token,
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
        [upload, site.other.token],
        [elsewhere, site.writer.token],
        [upload.replace(idOf(upload), nobody), site.writer.token],
      ] as const) {
        refused(await read(path, credential), 404, 'not_found')
        refused(await cancel(path, credential), 404, 'not_found')
        refused(await sendContent(site.service, credential, path, file.bytes), 404, 'not_found')
      }
      for (const [credential, status] of [
        [site.reader.token, 403],
        [site.stranger.token, 404],
        [site.service.recoveryKey, 404],
      ] as const)
        for (const told of [
          await read(upload, credential),
          await cancel(upload, credential),
          await sendContent(site.service, credential, upload, file.bytes),
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

  it('all of this left every counter and every claim as the checks want them', () => inOrder())
})
