import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { fileOfParts, openSession, partOf } from '../harness/parts.ts'
import { createOwner, type Person } from '../harness/people.ts'
import { newFile } from '../harness/publishing.ts'
import { startService, type TestService } from '../harness/service.ts'

after(closeConnections)

const raw = '/api/v1/repositories/releases/raw'
const digest = (algorithm: string, bytes: Uint8Array): Buffer => createHash(algorithm).update(bytes).digest()

forEachEngine((engine) => {
  describe('what the headers of a body say', () => {
    let service: TestService
    let owner: Person
    before(async () => {
      service = await startService(engine)
      owner = await createOwner(service)
    })
    after(() => service.stop())

    let count = 0
    /** Each route that takes a stream, with a body that it takes and how that is sent with headers of one's own. */
    const routes = {
      'a PUT by path': async () => {
        const body = randomBytes(300_000)
        const path = `${raw}/file-${count++}`
        return { body, path, headers: {}, status: 201 }
      },
      'the whole file of an upload': async () => {
        const file = newFile(`whole-${count++}`, randomBytes(300_000))
        const path = `${await openSession(service, owner.token, 'releases', file)}/content`
        return { body: file.bytes, path, headers: {}, status: 200 }
      },
      'a part of an upload': async () => {
        const file = fileOfParts(`parts-${count++}`, 1)
        const path = `${await openSession(service, owner.token, 'releases', file)}/parts/1`
        const body = partOf(file, 1)
        return { body, path, headers: { 'x-content-sha256': digest('sha256', body).toString('hex') }, status: 204 }
      },
    } as const

    const send = (path: string, body: Uint8Array, headers: Record<string, string>): Promise<Told> =>
      service.ask({
        method: 'PUT',
        path,
        credential: owner.token,
        headers: { 'content-type': 'application/octet-stream', ...headers },
        body,
      })

    const sayings = (body: Uint8Array): Record<string, string> => {
      const [md5, sha1, sha256, sha512] = ['md5', 'sha1', 'sha256', 'sha512'].map((name) => digest(name, body))
      return {
        'content-md5': `${md5?.toString('base64')}`,
        'content-digest': `sha-256=:${sha256?.toString('base64')}:, unixsum=:AAA=:, constructor=:AAA=:, sha=:${sha1?.toString('base64')}:`,
        'repr-digest': `sha-512=:${sha512?.toString('base64')}:`,
        digest: `SHA-256=${sha256?.toString('base64')},MD5=${md5?.toString('base64')}`,
        'x-checksum-md5': `${md5?.toString('hex')}`,
        'x-checksum-sha1': `${sha1?.toString('hex').toUpperCase()}`,
        'x-checksum-sha256': `${sha256?.toString('hex')}`,
        'x-checksum-sha512': `${sha512?.toString('hex')}`,
      }
    }

    for (const [name, open] of Object.entries(routes))
      it(`is held against ${name}: wrong digests are 422, none at all 400, and nothing is stored`, async () => {
        const { body, path, headers, status } = await open()
        const [wrong, right] = [sayings(Buffer.from('another body')), sayings(body)]
        for (const [header, value] of Object.entries(wrong)) {
          const told = await send(path, body, { ...headers, [header]: value })
          assert.deepEqual([told.status, told.json.code], [422, 'checksum_mismatch'], `${header}: ${told.text}`)
        }
        for (const [header, value] of [
          ['content-md5', 'AAAA'],
          ['content-md5', `${right['content-md5']}, ${right['content-md5']}`],
          ['content-md5', `${right['content-md5']}!`],
          ['content-md5', `!${right['content-md5']}`],
          ['content-md5', `${right['content-md5']}`.slice(0, -2)],
          ['content-md5', `${right['content-md5']}`.replace(/.==$/, '/==')],
          ['content-md5', Buffer.from(`${right['content-md5']}`, 'base64').toString('base64url')],
          ['content-digest', 'constructor=:AAAA:'],
          ['digest', '__proto__=AAAA'],
          ['digest', 'hasOwnProperty=AAAA'],
          ['repr-digest', `${right['repr-digest']}`.replace('==:', ':')],
          ['content-digest', 'sha-256=:AAAA:'],
          ['content-digest', 'sha-256'],
          ['repr-digest', 'unixsum=:AAA=:'],
          ['digest', 'crc32=00'],
          ['x-checksum-md5', 'zz'],
          ['x-checksum-sha1', 'abc'],
          ['content-range', 'bytes 5-299999/300000'],
          ['content-range', 'bytes */300000'],
        ] as const) {
          const told = await send(path, body, { ...headers, [header]: value })
          assert.deepEqual([told.status, told.json.code], [400, 'invalid_request'], `${header}: ${told.text}`)
          assert.match(told.json.details[0].pointer, new RegExp(`^/headers/${header}$`))
          assert.doesNotMatch(told.text, /undefined|function|object/i)
        }
        const unexpected = await send(path, body, { ...headers, 'if-match': '*' })
        assert.deepEqual([unexpected.status, unexpected.json.code], [412, 'precondition_failed'])
        if (path.startsWith(raw)) assert.equal((await service.ask({ path, credential: owner.token })).status, 404)
        const stored = await send(path, body, { ...headers, ...right })
        assert.equal(stored.status, status, stored.text)
      })

    it('If-Match and If-Unmodified-Since on a path are as RFC 9110 has them', async () => {
      const path = `${raw}/expected`
      const put = (body: string, headers: Record<string, string>): Promise<Told> =>
        send(path, Buffer.from(body), headers)
      const etag = (body: string): string => `"sha256:${digest('sha256', Buffer.from(body)).toString('hex')}"`
      assert.equal((await put('one', {})).status, 201)
      for (const [headers, status] of [
        [{ 'if-match': etag('two') }, 412],
        [{ 'if-match': `W/${etag('one')}` }, 412],
        [{ 'if-match': etag('one').slice(1, -1) }, 400],
        [{ 'if-match': `nonsense ${etag('one')}` }, 400],
        [{ 'if-match': `${etag('one')}"` }, 400],
        [{ 'if-match': `${etag('two')}, *` }, 400],
        [{ 'if-match': '' }, 400],
        [{ 'if-unmodified-since': new Date(Date.now() - 3_600_000).toUTCString() }, 412],
        [{ 'if-unmodified-since': 'Sunday, 06-Nov-94 08:49:37 GMT' }, 412],
        [{ 'if-unmodified-since': 'Sun Nov  6 08:49:37 1994' }, 412],
        [{ 'if-match': etag('two'), 'if-unmodified-since': new Date(Date.now() + 3_600_000).toUTCString() }, 412],
      ] as const) {
        const told = await put('refused', headers)
        assert.deepEqual(
          [told.status, told.json.code],
          [status, status === 400 ? 'invalid_request' : 'precondition_failed'],
          JSON.stringify(headers),
        )
      }
      assert.equal((await service.ask({ path, credential: owner.token })).text, 'one')
      for (const [body, headers] of [
        ['two', { 'if-match': etag('one') }],
        ['three', { 'if-match': `"other", ${etag('two')}` }],
        ['four', { 'if-match': '*' }],
        ['five', { 'if-unmodified-since': new Date(Date.now() + 3_600_000).toUTCString() }],
        ['six', { 'if-unmodified-since': 'no date' }],
        ['seven', { 'if-match': etag('six'), 'if-unmodified-since': new Date(0).toUTCString() }],
      ] as const) {
        const told = await put(body, headers)
        assert.deepEqual([told.status, (await service.ask({ path, credential: owner.token })).text], [201, body])
      }
    })

    it('an expectation has one winner among many writers; the others are told 412', async () => {
      const path = `${raw}/contested`
      assert.equal((await send(path, Buffer.from('first'), {})).status, 201)
      const { headers } = await service.ask({ path, credential: owner.token })
      const etag = String(headers['etag'])
      const told = await Promise.all(
        Array.from({ length: 8 }, (_, writer) => send(path, Buffer.from(`of writer ${writer}`), { 'if-match': etag })),
      )
      assert.deepEqual(told.map(({ status }) => status).sort(), [201, 412, 412, 412, 412, 412, 412, 412])
    })
  })
})
