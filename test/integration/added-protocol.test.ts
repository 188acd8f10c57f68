import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { parcels } from '../fixtures/parcels/slice.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createOwner, createPerson } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

after(closeConnections)

const content = randomBytes(200_000)
const digest = `sha256:${hash('sha256', content)}`
const parcel = `/parcels/releases/some/deep/name/blobs/${digest}`

forEachEngine((engine) => {
  describe('a protocol that is one more line in the list of slices', () => {
    let service: TestService
    let basic: string
    let stranger: string
    before(async () => {
      service = await startService(engine, { slices: [parcels] })
      basic = `Basic ${Buffer.from(`anyone:${(await createOwner(service)).token}`).toString('base64')}`
      stranger = (await createPerson(service, 'stranger')).token
    })
    after(() => service.stop())

    const ask = (given: Ask): Promise<Told> =>
      service.ask({ ...given, headers: { authorization: basic, ...given.headers } })
    const codeOf = ({ json }: Told): string => json.errors[0].code

    it('stores and sends a blob by its digest, under a name with slashes', async () => {
      const put = { method: 'PUT', path: parcel, body: content }
      for (const _ of ['first', 'again']) {
        const told = await ask(put)
        assert.deepEqual([told.status, told.headers.location, told.text], [201, parcel, ''])
      }
      const got = await ask({ path: parcel })
      assert.equal(got.status, 200)
      assert.ok(got.bytes.equals(content))
      assert.equal(got.headers['content-type'], 'application/vnd.example.parcel')
      assert.equal(got.headers['parcel-digest'], digest)
      assert.equal(got.headers['x-content-type-options'], 'nosniff')
      assert.match(String(got.headers['content-security-policy']), /^sandbox; default-src 'none'/)
      assert.match(String(got.headers['content-disposition']), /^attachment/)
      const head = await ask({ method: 'HEAD', path: parcel })
      assert.deepEqual([head.status, head.headers['content-length']], [200, String(content.byteLength)])
      const range = await ask({ path: parcel, headers: { range: 'bytes=10-19' } })
      assert.deepEqual([range.status, range.bytes], [206, content.subarray(10, 20)])
      assert.equal((await ask({ path: parcel, headers: { 'if-none-match': String(got.headers.etag) } })).status, 304)
    })

    it('tells of what went wrong in its own words, with its own challenge', async () => {
      const nobody = await service.ask({ path: parcel })
      assert.deepEqual([nobody.status, codeOf(nobody)], [401, 'CREDENTIAL_MISSING'])
      assert.equal(nobody.headers['www-authenticate'], `Basic realm="${service.url}/parcels"`)
      const hidden = await service.ask({ path: parcel, credential: stranger })
      assert.deepEqual([hidden.status, codeOf(hidden)], [404, 'NOT_FOUND'])
      for (const [given, status, code] of [
        [{ path: parcel.replace(digest, `sha256:${'0'.repeat(64)}`) }, 404, 'NOT_FOUND'],
        [{ path: parcel.replace(digest, 'md5:1') }, 400, 'INVALID_REQUEST'],
        [{ path: parcel.replace('deep', '') }, 400, 'INVALID_REQUEST'],
        [{ path: '/parcels/nothing' }, 404, 'NOT_FOUND'],
        [{ path: parcel, method: 'DELETE' }, 405, 'METHOD_NOT_ALLOWED'],
        [{ path: parcel, method: 'PUT', body: content.subarray(1) }, 422, 'CHECKSUM_MISMATCH'],
      ] as const) {
        const told = await ask(given)
        assert.deepEqual([told.status, codeOf(told)], [status, code], JSON.stringify(given.path))
        if (status === 405) assert.equal(told.headers.allow, 'GET, HEAD, PUT')
      }
    })

    it('takes small bodies as they are sent', async () => {
      const path = '/parcels/releases/some/name/labels/read'
      const body = Buffer.from([0xff, 0, 10])
      const told = await ask({ path, body, headers: { 'content-type': 'text/html; a=b' } })
      assert.deepEqual([told.status, told.bytes, told.headers['content-type']], [200, body, 'text/html; a=b'])
      assert.equal((await ask({ path, body: Buffer.alloc(1025) })).status, 413)
    })

    it('is in what the service says of itself', async () => {
      const { json } = await service.ask({ path: '/api/v1/openapi.json', credential: stranger })
      assert.ok('get' in json.paths['/parcels/{repository}/{name}/blobs/{digest}'])
      const metrics = await service.ask({ path: '/health/metrics', credential: service.healthKey })
      assert.match(metrics.text, /route="\/parcels\/\{repository\}\/\{name\}\/blobs\/\{digest\}"/)
    })
  })
})
