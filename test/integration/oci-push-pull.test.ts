import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { ask as askPlainly, closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { imageSite, imageType, sha256 } from '../harness/images.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = imageSite(engine)
  const { ask, expect, pushBlob, pushImage, newImage, pushManifest } = site

  describe('a registry', () => {
    it('says that it is one, with and without the slash', async () => {
      for (const path of ['/v2/', '/v2']) {
        const told = await askPlainly(site.service.url, { path, credential: site.owner.token })
        assert.equal(told.status, 200)
        assert.equal(told.headers['docker-distribution-api-version'], 'registry/2.0')
        assert.deepEqual(told.json, {})
      }
    })

    it('takes a credential by Bearer and by Basic with any name', async () => {
      const basic = (name: string) => `Basic ${Buffer.from(`${name}:${site.owner.token}`).toString('base64')}`
      for (const authorization of [basic('anyone'), basic(''), `Bearer ${site.owner.token}`])
        assert.equal((await site.service.ask({ path: '/v2/', headers: { authorization } })).status, 200)
    })

    it('answers 401 with a challenge to nobody, and to a wrong credential', async () => {
      for (const credential of [null, 'a'.repeat(64)]) {
        const told = await expect({ path: '/v2/', credential }, 401, 'UNAUTHORIZED')
        assert.match(String(told.headers['www-authenticate']), /^\w+ realm="/)
        assert.equal(told.headers['content-type'], 'application/json')
      }
    })
  })

  describe('an image', () => {
    it('is pulled byte by byte as it was pushed, by tag and by digest', async () => {
      const pushed = await pushImage('releases/team/app', 'v1')
      for (const reference of ['v1', pushed.digest]) {
        const path = `/v2/releases/team/app/manifests/${reference}`
        const got = await expect({ path }, 200)
        assert.equal(got.text, pushed.text)
        assert.equal(got.headers['content-type'], imageType)
        assert.equal(got.headers['docker-content-digest'], pushed.digest)
        assert.equal(got.headers.etag, `"${pushed.digest}"`)
        const head = await expect({ method: 'HEAD', path }, 200)
        for (const header of ['content-type', 'content-length', 'docker-content-digest'])
          assert.equal(head.headers[header], got.headers[header], header)
        for (const tag of [`"${pushed.digest}"`, pushed.digest])
          await expect({ path, headers: { 'if-none-match': tag } }, 304)
      }
      for (const { digest, size } of JSON.parse(pushed.text).layers) {
        const got = await expect({ path: `/v2/releases/team/app/blobs/${digest}` }, 200)
        assert.equal(sha256(got.bytes), digest)
        assert.equal(got.headers['content-length'], String(size))
        assert.equal(got.headers['docker-content-digest'], digest)
      }
    })

    it('keeps its old manifest when its tag is moved', async () => {
      const [first, second] = [await pushImage('releases/moved', 'v1'), await pushImage('releases/moved', 'v1')]
      assert.equal((await expect({ path: '/v2/releases/moved/manifests/v1' }, 200)).text, second.text)
      assert.equal((await expect({ path: `/v2/releases/moved/manifests/${first.digest}` }, 200)).text, first.text)
    })

    it('may be below a name whose components are words of the wire', async () => {
      for (const image of [
        'releases/blobs/x',
        'releases/manifests',
        'releases/a/tags/list',
        'releases/blobs/uploads',
      ]) {
        const pushed = await pushImage(image, 'manifests')
        assert.equal((await expect({ path: `/v2/${image}/manifests/manifests` }, 200)).text, pushed.text)
        assert.deepEqual((await expect({ path: `/v2/${image}/tags/list` }, 200)).json.tags, ['manifests'])
      }
    })

    it('gets a hundred tags with one push, and no more', async () => {
      const image = 'releases/much/tagged'
      const manifest = await newImage(image)
      const of = (count: number) => Array.from({ length: count }, (_, number) => `t${100 + number}`)
      await pushManifest(image, manifest, `${manifest.digest}?tag=${of(100)}`)
      assert.deepEqual((await expect({ path: `/v2/${image}/tags/list` }, 200)).json.tags, of(100))
      const told = await pushManifest(image, manifest, `${manifest.digest}?tag=${of(101)}`, 400)
      assert.equal(told.json.errors[0].code, 'TAG_INVALID')
      await pushManifest(image, manifest, `${manifest.digest}?tag=a&tag=a,a`)
    })

    it('gets several tags with one push, and says which', async () => {
      const manifest = await newImage('releases/tagged')
      const told = await pushManifest('releases/tagged', manifest, `${manifest.digest}?tag=a&tag=b`)
      assert.equal(told.headers['oci-tag'], 'a, b')
      assert.equal(told.headers['docker-content-digest'], manifest.digest)
      assert.equal(told.headers.location, `/v2/releases/tagged/manifests/${manifest.digest}`)
      for (const tag of ['a', 'b'])
        assert.equal((await expect({ path: `/v2/releases/tagged/manifests/${tag}` }, 200)).text, manifest.text)
    })
  })

  describe('a blob', () => {
    it('is sent in ranges, and 416 for what lies outside', async () => {
      const bytes = randomBytes(2048)
      const { digest } = await pushBlob('releases/ranges', bytes)
      const path = `/v2/releases/ranges/blobs/${digest}`
      for (const [range, from, to] of [
        ['bytes=500-1499', 500, 1500],
        ['bytes=500-', 500, 2048],
        ['bytes=-500', 1548, 2048],
        ['bytes=2000-5000', 2000, 2048],
      ] as const) {
        const told = await expect({ path, headers: { range } }, 206)
        assert.ok(told.bytes.equals(bytes.subarray(from, to)), range)
        assert.equal(told.headers['content-range'], `bytes ${from}-${to - 1}/2048`)
      }
      for (const range of ['bytes=5000-10000', 'bytes=500-0']) {
        const told = await expect({ path, headers: { range } }, 416)
        assert.equal(told.headers['content-range'], 'bytes */2048')
        const head = await expect({ method: 'HEAD', path, headers: { range } }, 200)
        assert.equal(head.headers['content-length'], '2048')
      }
      assert.equal((await expect({ path, headers: { range: 'bytes=0-1,5-6' } }, 200)).bytes.byteLength, 2048)
      const plain = await expect({ path, headers: { 'accept-encoding': 'zstd, gzip' } }, 200)
      assert.equal(plain.headers['content-encoding'], undefined)
    })

    it('that is missing is told as one', async () => {
      const path = `/v2/releases/ranges/blobs/${sha256('never')}`
      await expect({ path }, 404, 'BLOB_UNKNOWN')
      assert.equal((await ask({ method: 'HEAD', path })).status, 404)
    })
  })
})
