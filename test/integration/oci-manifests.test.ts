import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import {
  configType,
  described,
  imageSite,
  imageType,
  indexType,
  layerType,
  manifestOf,
  type Pushed,
  sha256,
  sha512,
} from '../harness/images.ts'
import { openInspection } from '../harness/inspection.ts'

after(closeConnections)

const image = 'releases/manifests/of'
const dockerType = 'application/vnd.docker.distribution.manifest.v2+json'
const dockerListType = 'application/vnd.docker.distribution.manifest.list.v2+json'
const foreignType = 'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip'

forEachEngine((engine) => {
  const site = imageSite(engine, { roles: { gateway: 'api', worker: false } })
  const { expect, pushBlob, pushManifest, newImage, pushImage } = site

  const put = (reference: string, body: string | Uint8Array, status: number, code?: string, type: string = imageType) =>
    expect(
      { method: 'PUT', path: `/v2/${image}/manifests/${reference}`, headers: { 'content-type': type }, body },
      status,
      code,
    )
  const isPulled = async (reference: string, { text, type }: Pushed): Promise<void> => {
    const got = await expect({ path: `/v2/${image}/manifests/${reference}` }, 200)
    assert.equal(got.text, text)
    assert.equal(got.headers['content-type'], type)
  }

  describe('a manifest', () => {
    it('may have no layers, no children, fields that nobody knows, and data in it', async () => {
      const config = await pushBlob(image, '{}')
      const bare = manifestOf({ config, layers: [] })
      const odd = manifestOf({ config: { ...config, data: 'e30=' }, layers: [], 'org.example': { deep: [1, null] } })
      const empty = manifestOf({ manifests: [] }, indexType)
      for (const manifest of [bare, odd, empty]) {
        await pushManifest(image, manifest, 'bare')
        await isPulled('bare', manifest)
      }
    })

    it('may be one of Docker, and is never made into another', async () => {
      const made = await newImage(image)
      const docker = manifestOf(JSON.parse(made.text.replaceAll(imageType, dockerType)), dockerType)
      await pushManifest(image, docker, 'docker')
      await isPulled('docker', docker)
      const list = manifestOf({ manifests: [described(docker.text, dockerType)] }, dockerListType)
      await pushManifest(image, list, 'list')
      for (const accept of ['*/*', 'application/json', imageType])
        assert.equal((await expect({ path: `/v2/${image}/manifests/list`, headers: { accept } }, 200)).text, list.text)
    })

    it('may be an index of indexes', async () => {
      const inner = manifestOf({ manifests: [described((await pushImage(image, 'one')).text, imageType)] }, indexType)
      await pushManifest(image, inner, inner.digest)
      const outer = manifestOf({ manifests: [described(inner.text, indexType)] }, indexType)
      await pushManifest(image, outer, 'outer')
      await isPulled('outer', outer)
      await isPulled(inner.digest, inner)
    })

    it('may say its type in the header alone, or with parameters', async () => {
      const config = await pushBlob(image, '{}')
      const silent = JSON.stringify({ schemaVersion: 2, config, layers: [] })
      await put('silent', silent, 201)
      await isPulled('silent', { text: silent, digest: sha256(silent), type: imageType })
      const said = manifestOf({ config, layers: [] })
      await put('said', said.text, 201, undefined, `${imageType}; charset=utf-8`)
      await isPulled('said', said)
    })

    it('is known by its SHA-512 to who pushed it so', async () => {
      const manifest = await newImage(image)
      const digest = sha512(manifest.text)
      const told = await pushManifest(image, manifest, `${digest}?tag=by512`)
      assert.equal(told.headers['docker-content-digest'], digest)
      assert.equal(told.headers.location, `/v2/${image}/manifests/${digest}`)
      const head = await expect({ method: 'HEAD', path: `/v2/${image}/manifests/${digest}` }, 200)
      assert.equal(head.headers['docker-content-digest'], digest)
      await isPulled('by512', manifest)
      const index = manifestOf({ manifests: [described(manifest.text, imageType, digest)] }, indexType)
      await pushManifest(image, index, 'of512')
      const called = sha512(index.text)
      assert.equal((await pushManifest(image, index, called)).headers['docker-content-digest'], called)
      await isPulled(called, index)
    })

    it('needs what it names, and is told of each that is missing', async () => {
      const config = described('no config', configType)
      const layer = described('no layer', layerType)
      const told = await put('missing', manifestOf({ config, layers: [layer] }).text, 400, 'MANIFEST_BLOB_UNKNOWN')
      assert.deepEqual(
        told.json.errors.map(({ detail }: { detail: { digest: string } }) => detail.digest),
        [config.digest, layer.digest],
      )
      const elsewhere = await pushBlob('second/other', 'only there')
      const there = manifestOf({ config: elsewhere, layers: [] }).text
      await put('missing', there, 400, 'MANIFEST_BLOB_UNKNOWN')
      const index = manifestOf({ manifests: [described('no manifest', imageType)] }, indexType)
      await put('missing', index.text, 400, 'MANIFEST_BLOB_UNKNOWN', indexType)
      await expect({ path: `/v2/${image}/manifests/missing` }, 404, 'MANIFEST_UNKNOWN')
    })

    it('may name layers that lie elsewhere', async () => {
      const config = await pushBlob(image, '{}')
      const layers = [
        { ...described('far', layerType), urls: ['https://example.org/far'] },
        described('never', foreignType),
        described('never', 'application/vnd.oci.image.layer.nondistributable.v1.tar+gzip'),
      ]
      await put('foreign', manifestOf({ config, layers }).text, 201)
    })

    it('of almost 4 MiB is taken, a larger one is not', async () => {
      const config = await pushBlob(image, '{}')
      const of = (length: number) => manifestOf({ config, layers: [], annotations: { long: 'x'.repeat(length) } })
      const long = of(3_900_000)
      await pushManifest(image, long, 'long')
      await isPulled('long', long)
      await put('longer', of(5_000_000).text, 413, 'SIZE_INVALID')
    })

    it('that is none is refused with what is wrong', async () => {
      const config = await pushBlob(image, '{}')
      const good = { schemaVersion: 2, mediaType: imageType, config, layers: [] }
      const bad: Record<string, unknown> = {
        'a list': [],
        'a text': 'manifest',
        nothing: null,
        'of the first schema': { ...good, schemaVersion: 1 },
        'of no schema': { ...good, schemaVersion: undefined },
        'of another type': { ...good, mediaType: indexType },
        'of a type that is none': { ...good, mediaType: 7 },
        'without a config': { ...good, config: undefined },
        'with a config of no digest': { ...good, config: { ...config, digest: 'sha256:short' } },
        'with a config of no size': { ...good, config: { ...config, size: -1 } },
        'with a config of another size': { ...good, config: { ...config, size: 3 } },
        'with a config of no type': { ...good, config: { ...config, mediaType: undefined } },
        'with layers that are none': { ...good, layers: {} },
        'with a layer that is none': { ...good, layers: [7] },
        'with annotations that are no texts': { ...good, annotations: { a: 1 } },
        'with a subject that is none': { ...good, subject: 'sha256:x' },
        'with an artifactType that is none': { ...good, artifactType: {} },
        'with too many layers': { ...good, layers: new Array(3_000).fill(config) },
      }
      for (const [what, value] of Object.entries(bad)) {
        const told = await put('bad', JSON.stringify(value), 400)
        assert.equal(told.json.errors[0].code, 'MANIFEST_INVALID', what)
        assert.ok(told.json.errors[0].message.length > 10, what)
      }
      for (const body of ['', '{', '{"schemaVersion":2,"schemaVersion":2}', Buffer.from([0xff]), '['.repeat(100_000)])
        await put('bad', body, 400, 'MANIFEST_INVALID')
      await put(
        'bad',
        JSON.stringify(good),
        400,
        'MANIFEST_INVALID',
        'application/vnd.docker.distribution.manifest.v1+prettyjws',
      )
    })

    it('is refused under another digest, and under what is no tag', async () => {
      const { text } = await newImage(image)
      await put(sha256(text), `${text} `, 400, 'DIGEST_INVALID')
      await put(sha512(text), `${text} `, 400, 'DIGEST_INVALID')
      for (const reference of ['sha256:baddigeststring', 'sha1:aa', ':', 'sha256:'])
        await put(encodeURIComponent(reference), text, 400, 'DIGEST_INVALID')
      for (const tag of ['.hidden', '-x', 'a'.repeat(129), 'ü', 'a b', 'latest ', '%00'])
        await put(tag === '%00' ? tag : encodeURIComponent(tag), text, 400, 'TAG_INVALID')
      await put(`${sha256(text)}?tag=fine&tag=.bad`, text, 400, 'TAG_INVALID')
      await expect({ path: `/v2/${image}/manifests/fine` }, 404)
    })

    it('that is not there is told as one, under whatever name', async () => {
      for (const reference of ['never', '.INVALID_MANIFEST_NAME', sha256('never'), '%00'])
        for (const method of ['GET', 'HEAD', 'DELETE']) {
          const credential = site.key
          const path = `/v2/${image}/manifests/${reference}`
          const told = await site.ask({ method, path, credential: method === 'DELETE' ? credential : site.owner.token })
          assert.ok([404, 403].includes(told.status), `${method} ${reference} ${told.text}`)
          if (method === 'GET') assert.equal(told.json.errors[0].code, 'MANIFEST_UNKNOWN')
        }
      await expect({ path: `/v2/${image}/manifests/sha256:nonsense` }, 400, 'DIGEST_INVALID')
    })
  })

  describe('a name', () => {
    it('that is none is 400, and a repository that nobody has 404', async () => {
      for (const name of ['Upper', 'a//b', 'a/-b', 'a..b', 'a/', 'ü', '%00', 'a'.repeat(300)]) {
        const path = `/v2/releases/${encodeURI(name).replace('%2500', '%00')}/manifests/latest`
        await expect({ path }, 400, 'NAME_INVALID')
      }
      for (const path of [
        '/v2/nope/x/manifests/a',
        '/v2/nope/x/tags/list',
        '/v2/nothing',
        '/v2/releases/manifests/latest',
      ])
        await expect({ path }, 404, 'NAME_UNKNOWN')
    })

    it('may have as many characters as clients take, and no more', async () => {
      const of = (length: number): string => `releases/${'a'.repeat(100)}/`.padEnd(length, 'b')
      await pushImage(of(255), 'v1')
      await expect({ path: `/v2/${of(255)}/manifests/v1` }, 200)
      assert.ok((await expect({ path: '/v2/_catalog' }, 200)).json.repositories.includes(of(255)))
      await expect({ path: `/v2/_catalog?last=${of(255)}` }, 200)
      for (const length of [256, 300, 2_000]) {
        await expect({ method: 'POST', path: `/v2/${of(length)}/blobs/uploads/` }, 400, 'NAME_INVALID')
        const empty = manifestOf({ manifests: [] }, indexType)
        const told = await pushManifest(of(length), empty, 'v1', 400)
        assert.equal(told.json.errors[0].code, 'NAME_INVALID')
        const { status } = await site.ask({ path: `/v2/${of(length)}/manifests/v1` })
        assert.ok([400, 404].includes(status), String(status))
      }
    })
  })

  it('leaves nothing behind', async () => {
    const inspection = await openInspection(site.service)
    await inspection.inOrder()
    const stray = await inspection.database.reader
      .selectFrom('claims')
      .select('id')
      .where('state', '!=', 'live')
      .execute()
    assert.deepEqual(stray, [])
    await inspection.close()
  })
})
