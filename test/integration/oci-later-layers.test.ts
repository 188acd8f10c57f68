import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { hour } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import {
  configType,
  type Descriptor,
  described,
  layerType,
  manifestOf,
  type Pushed,
  sha256,
  sha512,
} from '../harness/images.ts'
import { imagesOverTime } from '../harness/images-over-time.ts'

after(closeConnections)

const image = 'releases/later'
const foreignType = 'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip'

forEachEngine((engine) => {
  const over = imagesOverTime(engine)
  const { site, expect, pushBlob, pushManifest, tidy } = over
  const pass = async (ms: number): Promise<void> => {
    await over.pass(ms)
    await tidy()
  }
  /** An image whose layers lie elsewhere, and are not here. */
  const pushWithout = async (layers: readonly Descriptor[], where = image): Promise<Pushed> => {
    const text = randomBytes(20).toString('hex')
    await pushBlob(where, text)
    const manifest = manifestOf({ config: described(text, configType), layers })
    await pushManifest(where, manifest, manifest.digest)
    await pushManifest(where, manifest, 'latest')
    return manifest
  }
  const isThere = async (digest: string, where = image): Promise<void> => {
    await expect({ method: 'HEAD', path: `/v2/${where}/blobs/${digest}` }, 200)
  }
  const remove = (rest: string, status: number) =>
    expect({ method: 'DELETE', path: `/v2/${image}/${rest}`, credential: site.key }, status)

  describe('a layer that lay elsewhere and comes later', () => {
    it('stays as long as what names it, whether or not that is pushed again', async () => {
      const [one, two] = [randomBytes(70_000), randomBytes(1_000)]
      const manifest = await pushWithout([
        { ...described(one, layerType), urls: ['https://example.org/one'] } as Descriptor,
        described(two, foreignType),
      ])
      await pushBlob(image, one)
      await pushBlob('releases/beside', two)
      await over.inspection.inOrder()
      await pass(2 * hour)
      for (const layer of [one, two]) await isThere(sha256(layer))
      await pushManifest(image, manifest, 'latest')
      await pass(100 * hour)
      for (const layer of [one, two]) await isThere(sha256(layer))
      await remove(`blobs/${sha256(one)}`, 405)
    })

    it('goes with what names it', async () => {
      const layer = randomBytes(500)
      const manifest = await pushWithout([described(layer, foreignType)])
      await pushBlob(image, layer)
      await remove(`manifests/${manifest.digest}`, 202)
      await isThere(sha256(layer))
      await pass(2 * hour)
      await expect({ method: 'HEAD', path: `/v2/${image}/blobs/${sha256(layer)}` }, 404)
      await over.inspection.inOrder()
    })

    it('is known by each of its digests, also by one that it is called by later', async () => {
      const [one, two] = [randomBytes(501), randomBytes(502)]
      await pushBlob(image, two)
      await pushWithout([described(one, foreignType, sha512(one)), described(two, foreignType, sha512(two))])
      await pushBlob(image, one, sha512(one))
      await pushBlob(image, two, sha512(two))
      await over.inspection.inOrder()
      await pass(100 * hour)
      for (const layer of [one, two]) await isThere(sha512(layer))
    })

    it('may be mounted, and come with a promotion or before one', async () => {
      const [mounted, before, along, learnt] = [503, 504, 505, 506].map((length) => randomBytes(length))
      assert.ok(mounted !== undefined && before !== undefined && along !== undefined && learnt !== undefined)
      const layers = [mounted, before, along].map((bytes) => described(bytes, foreignType))
      const manifest = await pushWithout([...layers, described(learnt, foreignType, sha512(learnt))])
      await pushBlob('second/other', mounted)
      const mount = `?mount=${sha256(mounted)}&from=second/other`
      await expect({ method: 'POST', path: `/v2/${image}/blobs/uploads/${mount}` }, 201)
      await pushBlob('second/later', before)
      const promote = (status: number) =>
        expect(
          {
            method: 'POST',
            path: '/api/v1/repositories/releases/images/promote',
            json: { image: 'later', reference: manifest.digest, target: 'second', tags: ['v1'] },
          },
          status,
        )
      await promote(201)
      await pushBlob(image, along)
      await pushBlob(image, learnt, sha512(learnt))
      await pushBlob('second/later', learnt)
      await promote(200)
      await over.inspection.inOrder()
      await pass(100 * hour)
      await isThere(sha256(mounted))
      for (const layer of [mounted, before, along, learnt]) await isThere(sha256(layer), 'second/later')
      await isThere(sha512(learnt), 'second/later')
      await over.inspection.inOrder()
    })

    it('has the size that was said of it, or what names it is not taken again', async () => {
      const layer = randomBytes(507)
      const manifest = await pushWithout([{ ...described(layer, foreignType), size: 1 }])
      await pushBlob(image, layer)
      const told = await pushManifest(image, manifest, 'again', 400)
      assert.equal(told.json.errors[0].code, 'MANIFEST_INVALID')
    })
  })
})
