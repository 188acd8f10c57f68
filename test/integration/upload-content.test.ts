import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { after, describe, it } from 'node:test'
import { closeConnections, type Told } from '../harness/client.ts'
import type { Connection } from '../harness/connection.ts'
import { forEachEngine } from '../harness/engines.ts'
import { newFile } from '../harness/publishing.ts'
import { until } from '../harness/until.ts'
import { uploadSessions } from '../harness/upload-sessions.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = uploadSessions(engine)
  const { inOrder, opened, send, read, cancel, refused, rowOf, left, staged, byHand, begin } = site

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
      const again = await site.service.ask({
        method: 'PUT',
        path: `${chunked}/content`,
        credential: site.writer.token,
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
          site.service.ask({
            method: 'PUT',
            path: `${upload}/content`,
            credential: site.writer.token,
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
        site.service.ask({
          method: 'PUT',
          path: `${upload}/content`,
          credential: site.writer.token,
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
          const told = await site.service.ask({
            method: 'PUT',
            path: `${upload}/content`,
            credential: site.writer.token,
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
        site.service.ask({
          method: 'PUT',
          path: `${upload}/content`,
          credential: site.writer.token,
          headers,
          body: file.bytes,
        })
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

  it('all of this left every counter and every claim as the checks want them', () => inOrder())
})
