import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { revisionMax } from '../../src/kernel/limits/catalog.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { chunked, digestOf } from '../harness/inspection.ts'
import { encoded, maxObjectBytes, rawPaths } from '../harness/raw-paths.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = rawPaths(engine)
  const { freshPath, put, get, leavesNoTrace, refused } = site

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
          assert.deepEqual(await site.inspection.staged(), [])
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
        site.inspection.database.transaction(async (tx) => {
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
      await refused(
        site.service.ask({ method: 'PUT', path, credential: site.owner.token, body: 'x' }),
        404,
        'not_found',
      )
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
        const record = await site.service.ask({
          path: `/api/v1/repositories/releases/artifacts/${id}`,
          credential: site.owner.token,
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
      const isFolder = (path: string): boolean => ['', 'a/', 'a%2f'].includes(path)
      await leavesNoTrace(async () => {
        for (const path of wrong) {
          for (const told of isFolder(path) ? [await put(path, 'x')] : [await put(path, 'x'), await get(path)])
            assert.deepEqual([told.status, told.json.code], [400, 'invalid_request'], `${path}: ${told.text}`)
          // A folder is listed, if there is one.
          if (isFolder(path)) assert.ok([200, 404].includes((await get(path)).status), path)
          else assert.equal((await get(path, {}, 'HEAD')).status, 400, path)
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
