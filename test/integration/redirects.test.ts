import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { closeConnections, type Told } from '../harness/client.ts'
import { onPostgres, onSqlite } from '../harness/engines.ts'
import { createOwner, type Person } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

after(closeConnections)

const raw = '/api/v1/repositories/releases/raw'
const file = randomBytes(300_000)

onPostgres((engine) => {
  describe('downloads from the object store itself, where the operator allows it', () => {
    let service: TestService
    let owner: Person
    before(async () => {
      service = await startService(engine, { settings: { SVC_REDIRECT_DOWNLOADS: 'true', SVC_DOWNLOAD_SLOTS: '1' } })
      owner = await createOwner(service)
      for (const [path, body] of [
        ['big', file],
        ['small', file.subarray(0, 65_536)],
        ['"quoted" naïve', file.subarray(1)],
      ] as const) {
        const put = { method: 'PUT', path: `${raw}/${encodeURIComponent(path)}`, credential: owner.token, body }
        assert.equal((await service.ask(put)).status, 201)
      }
    })
    after(() => service.stop())

    const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Told> =>
      service.ask({ method, path: `${raw}/${encodeURIComponent(path)}`, credential: owner.token, headers })

    it('are fetched from there without a credential, whole and in ranges, as an attachment of their name', async () => {
      const told = await get('big')
      assert.deepEqual([told.status, told.bytes.byteLength], [307, 0])
      assert.equal(told.headers['svc-download-class'], 'interactive')
      const address = String(told.headers.location)
      const whole = await fetch(address)
      assert.ok(Buffer.from(await whole.arrayBuffer()).equals(file))
      assert.equal(whole.headers.get('content-type'), 'application/octet-stream')
      assert.match(String(whole.headers.get('content-disposition')), /^attachment; filename="?big"?$/)
      const part = await fetch(address, { headers: { range: 'bytes=100-199' } })
      assert.equal(part.status, 206)
      assert.ok(Buffer.from(await part.arrayBuffer()).equals(file.subarray(100, 200)))
      const odd = await fetch(String((await get('"quoted" naïve')).headers.location))
      assert.ok(Buffer.from(await odd.arrayBuffer()).equals(file.subarray(1)))
    })

    it('cannot be turned into another download', async () => {
      const address = new URL(String((await get('big')).headers.location))
      const changed = new URL(address)
      changed.searchParams.set('response-content-type', 'text/html')
      assert.equal((await fetch(changed)).status, 403)
      const other = new URL(address)
      other.pathname = other.pathname.replace(/[0-9a-f]{64}/, '0'.repeat(64))
      assert.equal((await fetch(other)).status, 403)
      assert.ok(Number(address.searchParams.get('X-Amz-Expires')) <= 300)
    })

    it('need no slot, while small files, HEAD and conditions are answered as ever', async () => {
      const answers = await Promise.all(Array.from({ length: 5 }, () => get('big')))
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([307]))
      assert.equal((await get('small')).status, 200)
      assert.equal((await get('big', { range: 'bytes=0-9' })).status, 206)
      const head = await get('big', {}, 'HEAD')
      assert.deepEqual([head.status, head.headers['content-length']], [200, String(file.byteLength)])
      assert.equal((await get('big', { 'if-none-match': String(head.headers.etag) })).status, 304)
      assert.equal((await get('big', { range: 'bytes=300000-' })).status, 416)
    })

    it('of layers are sent there as well, and tell their digest; manifests come from here', async () => {
      const sha256 = (bytes: Uint8Array): string => `sha256:${hash('sha256', bytes)}`
      const image = '/v2/releases/app'
      const ask = (method: string, path: string, more: object = {}): Promise<Told> =>
        service.ask({ method, path: image + path, credential: owner.token, ...more })
      const digest = sha256(file)
      assert.equal((await ask('POST', `/blobs/uploads/?digest=${digest}`, { body: file })).status, 201)
      const told = await ask('GET', `/blobs/${digest}`, { headers: { range: 'bytes=1000-200999' } })
      assert.deepEqual([told.status, told.bytes.byteLength], [307, 0])
      assert.equal(told.headers['docker-content-digest'], digest)
      const got = await fetch(String(told.headers.location), { headers: { range: 'bytes=1000-200999' } })
      assert.ok(Buffer.from(await got.arrayBuffer()).equals(file.subarray(1000, 201_000)))
      const config = { mediaType: 'application/vnd.oci.empty.v1+json', digest, size: file.byteLength }
      const type = 'application/vnd.oci.image.manifest.v1+json'
      const annotations = { long: 'x'.repeat(100_000) }
      const body = JSON.stringify({ schemaVersion: 2, mediaType: type, config, layers: [], annotations })
      assert.equal((await ask('PUT', '/manifests/1', { body, headers: { 'content-type': type } })).status, 201)
      const manifest = await ask('GET', '/manifests/1')
      assert.deepEqual([manifest.status, manifest.text], [200, body])
    })

    it('stay here for a client that says so, such as a page that may read from nowhere else', async () => {
      const told = await get('big', { 'svc-redirect': 'never' })
      assert.equal(told.status, 200)
      assert.ok(told.bytes.equals(file))
      assert.equal((await get('big', { 'svc-redirect': 'always' })).status, 400)
    })

    it('are refused to who may not read them', async () => {
      assert.equal((await service.ask({ path: `${raw}/big` })).status, 401)
    })
  })
})

onSqlite((engine) => {
  it('downloads cannot be sent to a folder', async () => {
    const started = startService(engine, { settings: { SVC_REDIRECT_DOWNLOADS: 'true' } })
    await assert.rejects(started, /SVC_REDIRECT_DOWNLOADS: only an object store has addresses/)
  })
})
