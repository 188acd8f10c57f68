import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { parse } from 'content-disposition'
import { MiB } from '../../src/kernel/units.ts'
import { artifactReaders } from '../harness/artifact-readers.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { newFile } from '../harness/publishing.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = artifactReaders(engine)
  const { serviceKey, get, head, refused, published } = site

  describe('the content', () => {
    const file = newFile('digits.txt', '0123456789')
    const tag = `"sha256:${file.descriptor.sha256}"`
    const otherTag = `"sha256:${'0'.repeat(64)}"`
    let content: string
    before(async () => {
      content = `${await published(file)}/content`
    })

    it('comes whole, with all that a client and a browser need to know', async () => {
      const told = await get(content, { 'accept-encoding': 'gzip, br, zstd' })
      assert.equal(told.status, 200)
      assert.equal(told.text, '0123456789')
      const wanted = {
        'content-length': '10',
        'content-type': 'application/octet-stream',
        etag: tag,
        'accept-ranges': 'bytes',
        'x-content-type-options': 'nosniff',
        'svc-download-class': 'interactive',
        'content-disposition': 'attachment; filename=digits.txt',
      }
      for (const [name, value] of Object.entries(wanted)) assert.equal(told.headers[name], value, name)
      const policy = String(told.headers['content-security-policy']).split(/;\s*/)
      for (const part of ['sandbox', "default-src 'none'"]) assert.ok(policy.includes(part), policy.join())
      assert.match(String(told.headers['cache-control']), /private/)
      assert.equal(told.headers['content-encoding'], undefined)
    })

    it('answers HEAD with the same headers and no body', async () => {
      const got = await get(content)
      const told = await head(content)
      assert.equal(told.status, 200)
      const own = ({ headers }: Told) => ({ ...headers, date: '', 'x-request-id': '' })
      assert.deepEqual(own(told), own(got))
    })

    it('offers any name, of which the last segment arrives as it was given', async () => {
      for (const name of [
        'plain',
        'with space.txt',
        '"quoted"',
        'a"b',
        'back\\slash',
        '\\',
        '"',
        '\\"',
        'semi;colon; filename=evil.exe',
        'a=b',
        "it's",
        '100%',
        '%41%zz',
        'a%20b',
        'a,b',
        'a/b/c.txt',
        '/etc/passwd',
        '../../up',
        'a/',
        '/',
        'x/ü/y',
        'ünïcödé',
        'ünïcödé"; filename="evil.exe',
        '\u{1f600}.zip',
        '日本語.tar.gz',
        "UTF-8''x%41",
        ' leading and trailing ',
        '\u202egnp.exe',
        '\u2028\u2029',
        'e\u0301',
        'é',
        '.',
        '..',
        '\u{10ffff}'.repeat(240),
        '%'.repeat(240),
        '"'.repeat(240),
      ]) {
        const path = `${await published(newFile(name, 'x'))}/content`
        const told = await get(path)
        assert.equal(told.status, 200, name)
        const header = String(told.headers['content-disposition'])
        assert.match(header, /^attachment; filename[ -~]+$/, name)
        const { type, parameters } = parse(header)
        const saved = name.split('/').findLast((segment) => !['', '.', '..'].includes(segment)) ?? 'download'
        assert.deepEqual([type, parameters['filename']], ['attachment', saved], header)
        assert.deepEqual(
          Object.keys(parameters).filter((parameter) => !['filename', 'filename*'].includes(parameter)),
          [],
        )
      }
    })

    it('comes in the one range that is asked for', async () => {
      for (const [range, text, interval] of [
        ['bytes=0-0', '0', '0-0'],
        ['bytes=0-9', '0123456789', '0-9'],
        ['bytes=2-4', '234', '2-4'],
        ['bytes=9-9', '9', '9-9'],
        ['bytes=5-', '56789', '5-9'],
        ['bytes=0-', '0123456789', '0-9'],
        ['bytes=-1', '9', '9-9'],
        ['bytes=-10', '0123456789', '0-9'],
        ['bytes=-11', '0123456789', '0-9'],
        ['bytes=-9223372036854775807', '0123456789', '0-9'],
        ['bytes=7-10', '789', '7-9'],
        ['bytes=7-9223372036854775807', '789', '7-9'],
        ['bytes=0000000007-000000008', '78', '7-8'],
        ['Bytes=1-2', '12', '1-2'],
      ] as const) {
        const told = await get(content, { range })
        assert.equal(told.status, 206, `${range}: ${told.text}`)
        assert.equal(told.text, text, range)
        assert.equal(told.headers['content-range'], `bytes ${interval}/10`, range)
        assert.equal(told.headers['content-length'], String(text.length), range)
        assert.equal(told.headers.etag, tag)
        assert.equal(told.headers['x-content-type-options'], 'nosniff')
      }
    })

    it('answers 416 with the size to a range that lies outside', async () => {
      for (const range of ['bytes=10-', 'bytes=10-10', 'bytes=9999999999999999-', 'bytes=-0']) {
        const told = await get(content, { range })
        refused(told, 416, 'range_not_satisfiable')
        assert.equal(told.headers['content-range'], 'bytes */10', range)
        assert.equal(told.headers['content-disposition'], undefined)
      }
    })

    it('comes whole for several ranges and for what is no range', async () => {
      for (const range of [
        'bytes=0-1,3-4',
        'bytes=0-0, 9-9',
        'bytes=0-1,',
        'bytes=,0-1',
        'bytes=',
        'bytes=-',
        'bytes=a-b',
        'bytes=1-b',
        'bytes=1',
        'bytes=--1',
        'bytes=1--2',
        'bytes= 1-2',
        'bytes=1 - 2',
        'bytes 1-2',
        'bytes=0x1-2',
        'bytes=1.5-2',
        'bytes=+1-2',
        'octets=1-2',
        'none',
        '1-2',
        'bytes=1-2;x',
      ]) {
        const told = await get(content, { range })
        assert.equal(told.status, 200, range)
        assert.equal(told.text, '0123456789', range)
        assert.equal(told.headers['content-range'], undefined)
      }
    })

    it('answers HEAD as if no range were asked', async () => {
      for (const range of ['bytes=0-1', 'bytes=99-', 'bytes=4-2', 'x']) {
        const told = await head(content, { range })
        assert.equal(told.status, 200, range)
        assert.equal(told.headers['content-length'], '10', range)
        assert.equal(told.headers['content-range'], undefined)
      }
    })

    it('comes in the range only while If-Range is its exact tag', async () => {
      const range = 'bytes=2-3'
      assert.equal((await get(content, { range, 'if-range': tag })).text, '23')
      for (const ifRange of [
        otherTag,
        `W/${tag}`,
        tag.slice(1, -1),
        tag.toUpperCase(),
        `${tag}, ${tag}`,
        '*',
        new Date().toUTCString(),
        new Date(Date.now() + 86_400_000).toUTCString(),
      ]) {
        const told = await get(content, { range, 'if-range': ifRange })
        assert.deepEqual([told.status, told.text], [200, '0123456789'], ifRange)
        // A range that could not be satisfied is none either.
        assert.equal((await get(content, { range: 'bytes=99-', 'if-range': ifRange })).status, 200, ifRange)
      }
      refused(await get(content, { range: 'bytes=99-', 'if-range': tag }), 416, 'range_not_satisfiable')
      assert.equal((await get(content, { 'if-range': tag })).status, 200)
    })

    it('answers 304 to the client that has it already, also for HEAD and before any range', async () => {
      for (const ifNoneMatch of [
        tag,
        `W/${tag}`,
        '*',
        `${otherTag}, ${tag}`,
        `${otherTag},W/${tag}`,
        `"a,b" , ${tag} ,"c"`,
        `${tag}, ${tag}`,
      ])
        for (const ask of [get, head])
          for (const range of [{}, { range: 'bytes=0-1' }, { range: 'bytes=99-' }]) {
            const told = await ask(content, { 'if-none-match': ifNoneMatch, ...range })
            assert.equal(told.status, 304, ifNoneMatch)
            assert.equal(told.bytes.byteLength, 0)
            assert.equal(told.headers.etag, tag)
            assert.equal(told.headers['content-range'], undefined)
            for (const name of ['cache-control', 'x-content-type-options', 'x-request-id'])
              assert.equal(typeof told.headers[name], 'string', name)
          }
      for (const ifNoneMatch of [otherTag, `W/${otherTag}`, '""', `"${tag.slice(1, -2)}"`, '"*"', `,${otherTag},`])
        for (const ask of [get, head])
          assert.equal((await ask(content, { 'if-none-match': ifNoneMatch })).status, 200, ifNoneMatch)
    })

    it('is sent only as the file that If-Match names, which no range of another one is taken for', async () => {
      for (const ask of [get, head]) {
        for (const ifMatch of [tag, '*', `${otherTag}, ${tag}`])
          assert.equal((await ask(content, { 'if-match': ifMatch })).status, 200, ifMatch)
        for (const ifMatch of [otherTag, `W/${tag}`, '"*"'])
          for (const others of [{}, { range: 'bytes=0-1' }, { range: 'bytes=99-' }, { 'if-none-match': tag }]) {
            const told = await ask(content, { 'if-match': ifMatch, ...others })
            assert.equal(told.status, 412, ifMatch)
            assert.equal(told.headers.etag, tag)
          }
        assert.equal((await ask(content, { 'if-match': tag, 'if-none-match': tag })).status, 304)
        assert.equal((await ask(content, { 'if-match': tag.slice(1, -1) })).status, 400)
      }
      assert.equal((await get(content, { 'if-match': tag, range: 'bytes=0-1' })).status, 206)
      refused(await get(content, { 'if-match': otherTag }), 412, 'precondition_failed')
    })

    it('refuses If-None-Match that is no list of tags, and picks none out of it', async () => {
      for (const ifNoneMatch of [
        tag.slice(1, -1),
        'x',
        'x*',
        '"*',
        '**',
        'W/*',
        '',
        `x${tag}`,
        `${tag}x`,
        `w/${tag}`,
        `*, ${tag}`,
        `${tag} ${tag}`,
      ]) {
        const told = await get(content, { 'if-none-match': ifNoneMatch })
        refused(told, 400, 'invalid_request')
        assert.equal(told.json.details[0].pointer, '/headers/if-none-match')
        assert.equal((await head(content, { 'if-none-match': ifNoneMatch })).status, 400, ifNoneMatch)
      }
    })

    it('that is empty comes whole, and has no range', async () => {
      const empty = `${await published(newFile('empty', ''))}/content`
      for (const told of [await get(empty), await head(empty), await get(empty, { range: 'nonsense' })]) {
        assert.equal(told.status, 200)
        assert.equal(told.headers['content-length'], '0')
        assert.equal(told.bytes.byteLength, 0)
      }
      for (const range of ['bytes=0-', 'bytes=0-0', 'bytes=-1', 'bytes=-0']) {
        const told = await get(empty, { range })
        refused(told, 416, 'range_not_satisfiable')
        assert.equal(told.headers['content-range'], 'bytes */0')
      }
    })

    it('takes a Svc-Download-Id of 16 to 64 letters, digits, _ and -, and a ticket of 80 characters', async () => {
      for (const id of ['a'.repeat(16), '-_0Z'.repeat(16), randomUUID()])
        for (const ask of [get, head]) assert.equal((await ask(content, { 'svc-download-id': id })).status, 200, id)
      for (const id of [
        '',
        'a'.repeat(15),
        'a'.repeat(65),
        `${'a'.repeat(16)} b`,
        `${'a'.repeat(16)}.`,
        'ä'.repeat(16),
      ]) {
        const told = await get(content, { 'svc-download-id': id })
        refused(told, 400, 'invalid_request')
        assert.equal(told.json.details[0].pointer, '/headers/svc-download-id', id)
        assert.equal((await head(content, { 'svc-download-id': id })).status, 400)
      }
      for (const ticket of ['', 'wrong', 't'.repeat(80)])
        assert.equal((await get(content, { 'svc-queue-ticket': ticket })).status, 200, ticket)
      refused(await get(content, { 'svc-queue-ticket': 't'.repeat(81) }), 400, 'invalid_request')
    })

    it('is sent in the class of the caller, or in a lower one when it asks for that', async () => {
      for (const [credential, own, lower, higher] of [
        [site.reader.token, 'interactive', ['release', 'bulk', 'background'], []],
        [serviceKey, 'release', ['bulk', 'background'], ['interactive']],
      ] as const) {
        const classOf = async (headers: Record<string, string>): Promise<unknown> => {
          const told = await get(content, headers, credential)
          assert.equal(told.status, 200, told.text)
          return told.headers['svc-download-class']
        }
        assert.equal(await classOf({}), own)
        assert.equal(await classOf({ 'svc-download-class': own }), own)
        for (const asked of lower) assert.equal(await classOf({ 'svc-download-class': asked }), asked)
        for (const asked of higher) assert.equal(await classOf({ 'svc-download-class': asked }), own)
      }
      for (const asked of ['', 'urgent', 'Bulk', 'bulk,release', 'bulk ;x']) {
        const told = await get(content, { 'svc-download-class': asked })
        refused(told, 400, 'invalid_request')
        assert.equal(told.json.details[0].pointer, '/headers/svc-download-class', asked)
      }
      const part = await get(content, { 'svc-download-class': 'bulk', range: 'bytes=1-1' })
      assert.deepEqual([part.status, part.headers['svc-download-class']], [206, 'bulk'])
      const known = await get(content, { 'svc-download-class': 'bulk', 'if-none-match': tag })
      assert.deepEqual([known.status, known.headers['svc-download-class']], [304, 'bulk'])
    })

    it('of several megabytes is exact to the bit, whole and in any range, also for many at once', async () => {
      const large = newFile('large', randomBytes(3 * MiB + 4321))
      const size = large.bytes.byteLength
      const path = `${await published(large)}/content`
      const whole = await get(path)
      assert.ok(whole.bytes.equals(large.bytes))
      const random = (below: number): number => randomBytes(6).readUIntBE(0, 6) % below
      const intervals: [number, number][] = [
        [0, size - 1],
        [size - 1, size - 1],
        [512 * 1024 - 1, 512 * 1024],
        [512 * 1024, MiB - 1],
        [MiB - 1, 2 * MiB],
      ]
      while (intervals.length < 60) {
        const first = random(size)
        intervals.push([first, first + random(size - first)])
      }
      const check = async ([first, last]: [number, number]): Promise<void> => {
        const range = `bytes=${first}-${last}`
        const told = await get(path, { range })
        assert.equal(told.status, 206)
        assert.equal(told.headers['content-length'], String(last - first + 1))
        assert.ok(told.bytes.equals(Buffer.from(large.bytes.subarray(first, last + 1))), range)
      }
      for (const interval of intervals.slice(0, 20)) await check(interval)
      await Promise.all(intervals.slice(20).map(check))
    })
  })
})
