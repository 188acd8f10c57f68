import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createHashing } from '../../src/content/hashing/hashing.ts'
import type { Database } from '../../src/database/database.ts'
import { putRaw } from '../../src/features/transfers/raw/raw.ts'
import { createLeftTurns } from '../../src/features/transfers/uploads/left-turns.ts'
import type { TransferParts } from '../../src/features/transfers/uploads/uploads.ts'
import { toSha256 } from '../../src/kernel/digest.ts'
import { noFaults } from '../../src/kernel/fault-points.ts'
import { revisionMax } from '../../src/kernel/limits/catalog.ts'
import { capacityBytesDefault } from '../../src/kernel/limits/transfers.ts'
import { type Backstage, chunked, digestOf, openBackstage } from '../harness/backstage.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { openConnection } from '../harness/connection.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createOwner, type Person } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

const raw = '/api/v1/repositories/releases/raw'
const maxObjectBytes = 65_536
/** Each character percent-encoded, the slash as itself. */
const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

after(closeConnections)

forEachEngine((engine) => {
  let service: TestService
  let backstage: Backstage
  let owner: Person

  before(async () => {
    service = await startService(engine, {
      roles: { gateway: 'api', worker: false },
      settings: { SVC_MAX_OBJECT_BYTES: String(maxObjectBytes) },
    })
    owner = await createOwner(service)
    backstage = await openBackstage(service)
  })
  after(async () => {
    await backstage.close()
    await service.stop()
  })

  let count = 0
  const freshPath = (): string => `fresh/${++count}.bin`
  const put = (path: string, body: Ask['body'], headers: Readonly<Record<string, string>> = {}): Promise<Told> =>
    service.ask({ method: 'PUT', path: `${raw}/${path}`, credential: owner.token, body: body ?? '', headers })
  const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Told> =>
    service.ask({ method, path: `${raw}/${path}`, credential: owner.token, headers })

  /** Everything that a request could leave behind. */
  const traces = async () => {
    const rows = await backstage.database.snapshot(async (q) => ({
      artifacts: await q.selectFrom('artifacts').select('id').orderBy('id').execute(),
      claims: await q.selectFrom('claims').selectAll().orderBy('id').execute(),
      uploads: await q.selectFrom('uploads').select('id').execute(),
      revisions: await q.selectFrom('asset_revisions').select(['path', 'revision']).orderBy('path').execute(),
      journal: await q.selectFrom('journal').select('sequence').execute(),
    }))
    return { rows, sums: await backstage.sums(), staged: await backstage.staged(), stored: await backstage.stored() }
  }
  const leavesNoTrace = async (work: () => Promise<void>): Promise<void> => {
    const before = await traces()
    await work()
    const now = await traces()
    assert.deepEqual(now, before)
    await backstage.inOrder()
  }
  const refused = async (told: Promise<Told>, status: number, code: string): Promise<Told> => {
    const answer = await told
    assert.deepEqual([answer.status, answer.json.code], [status, code], answer.text)
    return answer
  }

  describe('PUT by path', () => {
    for (const checksum of ['none', 'lower', 'UPPER'] as const)
      for (const length of ['declared', 'chunked'] as const)
        it(`stores with checksum ${checksum} and length ${length}, once for the same bytes, again for others`, async () => {
          const path = freshPath()
          const send = (text: string): Promise<Told> => {
            const digest = digestOf(text)
            const headers = { 'x-checksum-sha256': checksum === 'UPPER' ? digest.toUpperCase() : digest }
            return put(path, length === 'chunked' ? chunked(text, 7) : text, checksum === 'none' ? {} : headers)
          }
          const first = await send('the first bytes')
          assert.equal(first.status, 201)
          const { id } = first.json.artifact
          assert.deepEqual(first.json, {
            path,
            revision: 1,
            created: true,
            artifact: { id, size: '15', sha256: digestOf('the first bytes') },
          })
          await leavesNoTrace(async () => {
            const again = await send('the first bytes')
            assert.equal(again.status, 200)
            assert.deepEqual(again.json, { ...first.json, created: false })
          })
          const other = await send('other bytes')
          assert.equal(other.status, 201)
          assert.deepEqual([other.json.revision, other.json.created], [2, true])
          assert.notEqual(other.json.artifact.id, id)
          const back = await send('the first bytes')
          assert.deepEqual([back.status, back.json.revision], [201, 3])
          const got = await get(path)
          assert.equal(got.text, 'the first bytes')
          assert.equal(got.headers['x-svc-artifact-id'], back.json.artifact.id)
          assert.deepEqual(await backstage.staged(), [])
        })

    it('takes any media type, none, and an empty file with or without a length', async () => {
      for (const type of ['application/json', 'text/plain; charset=utf-8', 'multipart/form-data; boundary=x', 'x/y'])
        assert.equal((await put(freshPath(), '{not json', { 'content-type': type })).status, 201, type)
      for (const body of ['', chunked('')]) {
        const path = freshPath()
        const told = await put(path, body, { 'x-checksum-sha256': digestOf('') })
        assert.deepEqual([told.status, told.json.artifact.size], [201, '0'], told.text)
        const got = await get(path)
        assert.deepEqual([got.status, got.text, got.headers['content-length']], [200, '', '0'])
      }
    })

    it('refuses another checksum with 422 and stores nothing, on a new path and on an old one', async () => {
      const old = freshPath()
      await put(old, 'old')
      await leavesNoTrace(async () => {
        for (const path of [freshPath(), old])
          for (const body of ['unexpected', chunked('unexpected', 3)])
            await refused(put(path, body, { 'x-checksum-sha256': digestOf('expected') }), 422, 'checksum_mismatch')
      })
      assert.equal((await get(old)).text, 'old')
    })

    it('refuses what is no checksum with 400', async () => {
      const good = digestOf('x')
      await leavesNoTrace(async () => {
        for (const value of ['', good.slice(1), `${good}0`, `g${good.slice(1)}`, `"${good}"`, `sha256:${good}`])
          await refused(put(freshPath(), 'x', { 'x-checksum-sha256': value }), 400, 'invalid_request')
      })
    })

    it('with If-None-Match: * creates, and is 409 for an existing path even with its very bytes', async () => {
      const path = freshPath()
      const onlyNew = { 'if-none-match': '*' }
      assert.equal((await put(path, 'bytes', onlyNew)).status, 201)
      await leavesNoTrace(async () => {
        for (const body of ['bytes', 'others', chunked('bytes')])
          await refused(put(path, body, onlyNew), 409, 'already_exists')
        for (const value of ['"abc"', `"sha256:${digestOf('bytes')}"`, '**', '*, "a"'])
          await refused(put(path, 'x', { 'if-none-match': value }), 400, 'invalid_request')
      })
    })

    it('takes a file of just the object limit and refuses one byte more with 413', async () => {
      const largest = Buffer.alloc(maxObjectBytes, 'm')
      const longer = Buffer.alloc(maxObjectBytes + 1, 'm')
      for (const body of [() => largest, () => chunked(largest)])
        assert.equal((await put(freshPath(), body())).status, 201)
      await leavesNoTrace(async () => {
        for (const headers of [{}, { 'x-checksum-sha256': digestOf(longer) }])
          for (const body of [longer, chunked(longer)])
            await refused(put(freshPath(), body, headers), 413, 'body_too_large')
      })
    })

    it('refuses a revision after the last with 409, and still takes the bytes that are there', async () => {
      const path = freshPath()
      await put(path, 'last')
      const count = (revision: number) =>
        backstage.database.transaction(async (tx) => {
          for (const table of ['assets', 'asset_revisions'] as const)
            await tx.updateTable(table).set({ revision }).where('path', '=', path).execute()
        })
      await count(revisionMax)
      const same = await put(path, 'last')
      assert.deepEqual([same.status, same.json.revision], [200, revisionMax])
      await refused(put(path, 'one too many'), 409, 'revision_mismatch')
      await count(1)
    })

    it('knows no missing repository', async () => {
      const path = '/api/v1/repositories/missing/raw/a'
      await refused(service.ask({ method: 'PUT', path, credential: owner.token, body: 'x' }), 404, 'not_found')
    })

    it('names the artifact after the last segment, its last 240 characters if it is longer', async () => {
      const four = '😀'
      for (const [path, name] of [
        ['deep/er/name.txt', 'name.txt'],
        ['single', 'single'],
        [`a/${'x'.repeat(240)}`, 'x'.repeat(240)],
        [`a/b${'x'.repeat(240)}`, 'x'.repeat(240)],
        [`a/${four.repeat(240)}`, four.repeat(240)],
        [`a/b${four.repeat(240)}`, four.repeat(240)],
        [`a/${'y'.repeat(300)}.tar.gz`, `${'y'.repeat(233)}.tar.gz`],
      ] as const) {
        const told = await put(encoded(path), 'named')
        assert.equal(told.status, 201, told.text)
        const { id } = told.json.artifact
        const record = await service.ask({
          path: `/api/v1/repositories/releases/artifacts/${id}`,
          credential: owner.token,
        })
        assert.equal(record.json.descriptor.name, name)
      }
    })
  })

  describe('the path', () => {
    it('is refused with 400 for writing and for reading where it breaks a rule', async () => {
      const wrong = [
        '',
        '.',
        '..',
        '%2e',
        '%2E%2e',
        'a/.',
        'a/..',
        'a/./b',
        'a/../b',
        'a/%2e%2e/b',
        '../b',
        '%2e%2e%2fb',
        'a//b',
        'a%2F%2Fb',
        'a/',
        'a%2f',
        '/a',
        '%2Fa',
        '//',
        'a%5Cb',
        'a\\b',
        'a:b',
        'a%3Ab',
        'C%3A/x',
        '%00',
        'a%00b',
        'a%0Ab',
        'a%1fb',
        'a%7Fb',
        'a%C2%80b',
        'a%C2%9Fb',
        'a'.repeat(1025),
        `${'a/'.repeat(512)}b`,
        encoded('😀'.repeat(1025)),
        '%FF',
        'a%C3',
        'a%C0%AFb',
        'a%ED%A0%80b',
        'a%F4%90%80%80',
        'a%',
        'a%zz',
        'a%2',
      ]
      await leavesNoTrace(async () => {
        for (const path of wrong) {
          for (const told of [await put(path, 'x'), await get(path)])
            assert.deepEqual([told.status, told.json.code], [400, 'invalid_request'], `${path}: ${told.text}`)
          assert.equal((await get(path, {}, 'HEAD')).status, 400, path)
        }
      })
    })

    it('may have 1,024 characters, also such of four bytes', async () => {
      for (const path of ['a'.repeat(1024), `${'a/'.repeat(511)}bc`, '😀'.repeat(1024), `${'é/'.repeat(511)}üß`]) {
        const told = await put(encoded(path), path)
        assert.deepEqual([told.status, told.json.path], [201, path], told.text)
        assert.equal((await get(encoded(path))).text, path)
      }
    })

    it('is what the percent-encoding says: %2F is a slash, and what looks like syntax is text', async () => {
      assert.equal((await put('slash%2Fone/two', 'slash')).json.path, 'slash/one/two')
      assert.equal((await get('slash/one%2ftwo')).text, 'slash')
      for (const path of [
        'a b',
        'a+b',
        'a%b',
        'a%20b',
        'a?b',
        'a#b',
        'a;b',
        'a&b=c',
        '...',
        '.a',
        'a..',
        '~',
        '"',
        "'",
      ]) {
        assert.equal((await put(`odd/${encodeURIComponent(path)}`, path)).json.path, `odd/${path}`)
        assert.equal((await get(`odd/${encodeURIComponent(path)}`)).text, path)
      }
      assert.equal((await get('odd/a+b')).text, 'a+b')
    })

    it('is kept byte for byte: neither normalised nor folded', async () => {
      const paths = [
        'é',
        'e\u0301',
        'É',
        'ß',
        'ss',
        'ﬁ',
        'fi',
        '\u200b',
        '\ufeff',
        '\u202e',
        'İ',
        'i',
        'I',
        '\ufffd',
        '日本',
        '\u{10ffff}',
      ]
      for (const path of paths) {
        const told = await put(`uni/${encoded(path)}`, path)
        assert.deepEqual([told.status, told.json.revision, told.json.path], [201, 1, `uni/${path}`])
      }
      for (const path of paths) assert.equal((await get(`uni/${encoded(path)}`)).text, path)
    })
  })

  describe('writers at once', () => {
    const sixteen = Array.from({ length: 16 }, (_, index) => index)

    for (const how of ['a checksum', 'no checksum', 'no length'] as const)
      it(`with the same bytes and ${how} all succeed, and there is one revision`, async () => {
        for (let round = 0; round < 3; round++) {
          const path = freshPath()
          const body = `same ${path}`
          const told = await Promise.all(
            sixteen.map(() =>
              put(
                path,
                how === 'no length' ? chunked(body) : body,
                how === 'a checksum' ? { 'x-checksum-sha256': digestOf(body) } : {},
              ),
            ),
          )
          assert.deepEqual(told.map(({ status }) => status).sort(), [...sixteen.slice(1).map(() => 200), 201])
          const ids = new Set(told.map(({ json }) => `${json.artifact.id} ${json.revision}`))
          assert.equal(ids.size, 1)
          assert.equal((await get(path)).text, body)
          assert.equal((await history(path)).length, 1)
        }
        assert.deepEqual((await backstage.sums()).pending, 0)
        await backstage.inOrder()
      })

    const history = (path: string) =>
      backstage.database.reader
        .selectFrom('asset_revisions')
        .select(['revision', 'artifact_id'])
        .where('path', '=', path)
        .orderBy('revision')
        .execute()

    it('with different bytes make a chain of revisions; who was too late gets 409 revision_mismatch', async () => {
      for (let round = 0; round < 5; round++) {
        const path = freshPath()
        // Some send the same: whoever is told 200 or 201 is told about its own bytes.
        const bodies = sixteen.map((index) => `${path} ${round % 2 === 0 ? index : index % 3}`)
        const told = await Promise.all(bodies.map((body, index) => put(path, index % 2 === 0 ? body : chunked(body))))
        const won: { revision: number; artifact_id: string }[] = []
        for (const [index, { status, json, text }] of told.entries()) {
          if (status === 409) {
            assert.equal(json.code, 'revision_mismatch')
            continue
          }
          assert.ok(status === 200 || status === 201, text)
          assert.equal(json.artifact.sha256, digestOf(bodies[index] ?? ''))
          if (status === 201) won.push({ revision: json.revision, artifact_id: json.artifact.id })
        }
        won.sort((a, b) => a.revision - b.revision)
        assert.deepEqual(
          won.map(({ revision }) => revision),
          won.map((_, index) => index + 1),
        )
        assert.deepEqual(await history(path), won)
        assert.equal((await get(path)).headers['x-svc-artifact-id'], won.at(-1)?.artifact_id)
      }
      assert.equal((await backstage.sums()).pending, 0)
      assert.deepEqual(await backstage.staged(), [])
      await backstage.inOrder()
    })

    it('are told about their own bytes, also when others replace those before the answer is out', async () => {
      const path = freshPath()
      const { database, store } = backstage
      let transactions = 0
      // Another writer stores the same bytes before ours commits, and a third one other bytes right after that failed.
      const interrupted: Database = {
        get patient() {
          return this
        },
        engine: database.engine,
        reader: database.reader,
        snapshot: (work) => database.snapshot(work),
        listen: (listener) => database.listen(listener),
        settled: () => database.settled(),
        probe: () => database.probe(),
        async transaction(work, options) {
          const commits = ++transactions === 2
          if (commits) assert.equal((await put(path, 'same')).status, 201)
          try {
            return await database.transaction(work, options)
          } finally {
            if (commits) assert.equal((await put(path, 'other')).status, 201)
          }
        },
        [Symbol.asyncDispose]: async () => {},
      }
      const parts: TransferParts = {
        database: interrupted,
        store,
        clock: service.clock,
        freeSpace: { writable: async () => true, roomBytes: async () => null, refuseUnlessRoomFor: async () => {} },
        uploadSharePercent: 100,
        hashing: createHashing({ saveable: false, report: assert.fail }),
        capacityBytes: capacityBytesDefault,
        maxObjectBytes,
        reach: noFaults,
        leftTurns: createLeftTurns(),
        report: (message, error) => assert.fail(new Error(message, { cause: error })),
      }
      const expects = { ifMatch: undefined, ifUnmodifiedSince: undefined }
      const file = { path, declaredBytes: 4, digest: toSha256(digestOf('same')), onlyNew: false, expects }
      const scope = { repository: 'releases', owner: `account:${owner.id}` }
      const told = await putRaw(parts, scope, { ...file, pieces: chunked('same') })
      assert.deepEqual([told.created, told.revision, told.artifact.sha256], [false, 1, digestOf('same')])
      assert.equal((await get(path)).text, 'other')
      await backstage.inOrder()
    })

    it('with If-None-Match: * have one winner, whatever their bytes', async () => {
      for (const body of [(_: number) => 'same', (index: number) => String(index)]) {
        const path = freshPath()
        const told = await Promise.all(sixteen.map((index) => put(path, body(index), { 'if-none-match': '*' })))
        const lost = told.filter(({ status }) => status === 409)
        assert.equal(told.filter(({ status }) => status === 201).length, 1)
        assert.equal(lost.length, 15)
        for (const { json } of lost) assert.equal(json.code, 'already_exists')
      }
      await backstage.inOrder()
    })
  })

  describe('a connection that is cut', () => {
    for (const [how, head, reserved] of [
      ['with a length', 'content-length: 50000', 50_000],
      ['in chunks', 'transfer-encoding: chunked', maxObjectBytes],
    ] as const)
      it(`frees its reservation and its place at once (${how})`, async () => {
        const path = freshPath()
        const { pending } = await backstage.sums()
        await leavesNoTrace(async () => {
          const connection = await openConnection(service.url)
          connection.send(
            `PUT ${raw}/${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${owner.token}\r\n${head}\r\n\r\n`,
          )
          connection.send(how === 'in chunks' ? '5\r\nhello\r\n' : 'hello')
          await until('the room is reserved', async () => (await backstage.sums()).pending === pending + reserved)
          // An object store is sent nothing before there is enough of it.
          const inMemory = service.blobStoreUrl !== ''
          await until('its place is there', async () => inMemory || (await backstage.staged()).length === 1)
          connection.socket.destroy()
          await until('the room is free', async () => (await backstage.sums()).pending === pending)
          await until('its place is gone', async () => (await backstage.staged()).length === 0)
        })
        assert.equal((await get(path)).status, 404)
      })
  })

  describe('GET by path', () => {
    it('sends the current bytes with their tag, and HEAD the same headers', async () => {
      const path = 'get/some file.txt'
      const { json } = await put(encoded(path), 'hello')
      const got = await get(encoded(path))
      const head = await get(encoded(path), {}, 'HEAD')
      for (const told of [got, head]) {
        assert.equal(told.status, 200)
        assert.equal(told.headers['x-svc-artifact-id'], json.artifact.id)
        assert.equal(told.headers.etag, `"sha256:${digestOf('hello')}"`)
        assert.equal(told.headers['content-length'], '5')
        assert.match(String(told.headers['content-disposition']), /^attachment; filename="some file\.txt"/)
      }
      assert.equal(got.text, 'hello')
      assert.equal((await get(encoded(path), { 'if-none-match': String(got.headers.etag) })).status, 304)
    })

    it('with Range and If-Range gives the full new body once the file was replaced', async () => {
      const path = freshPath()
      await put(path, '0123456789')
      const etag = String((await get(path)).headers.etag)
      const part = await get(path, { range: 'bytes=4-', 'if-range': etag })
      assert.deepEqual([part.status, part.text, part.headers['content-range']], [206, '456789', 'bytes 4-9/10'])
      await put(path, 'abcdefghijkl')
      const whole = await get(path, { range: 'bytes=4-', 'if-range': etag })
      assert.deepEqual([whole.status, whole.text, whole.headers['content-range']], [200, 'abcdefghijkl', undefined])
      const unasked = await get(path, { range: 'bytes=4-' })
      assert.deepEqual([unasked.status, unasked.text], [206, 'efghijkl'])
      const beyond = await get(path, { range: 'bytes=12-' })
      assert.deepEqual([beyond.status, beyond.headers['content-range']], [416, 'bytes */12'])
    })

    it('is 404 for an unknown path, another case, a prefix or a folder', async () => {
      await put('known/File.txt', 'x')
      for (const path of ['unknown', 'known', 'known/file.txt', 'known/File.tx', 'known/File.txt/more'])
        await refused(get(path), 404, 'not_found')
    })
  })
})
