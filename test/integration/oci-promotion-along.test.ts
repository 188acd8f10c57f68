import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { imagePromotions } from '../harness/image-promotions.ts'
import {
  configType,
  described,
  imageSite,
  imageType,
  indexType,
  layerType,
  manifestOf,
  type Pushed,
  sha512,
} from '../harness/images.ts'
import { type Inspection, openInspection } from '../harness/inspection.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = imageSite(engine)
  const { expect, pushBlob, pushManifest, pushImage, newImage } = site
  const { promote, isThere, isGone } = imagePromotions(site)
  let inspection: Inspection
  before(async () => {
    inspection = await openInspection(site.service)
  })
  after(() => inspection.close())

  describe('a promoted image', () => {
    it('takes along what an index lists and what refers to any of them, also what came later', async () => {
      const image = 'releases/many'
      const children = [await newImage(image), await newImage(image)]
      for (const child of children) await pushManifest(image, child, child.digest)
      const inner = manifestOf({ manifests: [described(children[1]?.text ?? '', imageType)] }, indexType)
      await pushManifest(image, inner, inner.digest)
      const [first] = children
      assert.ok(first !== undefined)
      const listed = [described(first.text, imageType), described(inner.text, indexType)]
      const index = manifestOf({ manifests: listed }, indexType)
      await pushManifest(image, index, 'v1')
      const signature = await newImage(image, { subject: described(index.text, indexType) })
      await pushManifest(image, signature, signature.digest)
      const ofSignature = await newImage(image, { subject: described(signature.text, imageType) })
      await pushManifest(image, ofSignature, ofSignature.digest)
      const ofChild = await newImage(image, { subject: described(first.text, imageType) })
      await pushManifest(image, ofChild, ofChild.digest)
      const beside = await pushImage(image, 'beside')
      const all = [index, ...children, inner, signature, ofSignature, ofChild]
      assert.equal((await promote({ image: 'many', reference: 'v1' })).manifests, all.length)
      for (const each of all) await isThere('second/many', each, each.digest)
      await isGone('second/many', beside.digest)
      const later = await newImage(image, { subject: described(index.text, indexType) })
      await pushManifest(image, later, later.digest)
      const again = await promote({ image: 'many', reference: 'v1' }, 200)
      assert.deepEqual([again.created, again.manifests], [false, 1])
      const list = await expect({ path: `/v2/second/many/referrers/${index.digest}` }, 200)
      assert.deepEqual(
        list.json.manifests.map(({ digest }: Told['json']) => digest).sort(),
        [signature.digest, later.digest].sort(),
      )
    })

    it('names no more than one promotion takes, also where its layers lie elsewhere and nothing is claimed', async () => {
      const image = 'releases/elsewhere'
      const config = JSON.stringify({ os: 'windows' })
      await pushBlob(image, config)
      const children: Pushed[] = []
      for (let child = 0; child < 6; child++) {
        const layers = Array.from({ length: 1_700 }, (_, layer) => ({
          ...described(`${child} ${layer}`, 'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip'),
          urls: ['https://example.org/layer'],
        }))
        const manifest = manifestOf({ config: described(config, configType), layers })
        await pushManifest(image, manifest, manifest.digest)
        children.push(manifest)
      }
      const index = (some: readonly Pushed[]) =>
        manifestOf({ manifests: some.map(({ text }) => described(text, imageType)) }, indexType)
      await pushManifest(image, index(children), 'all')
      await pushManifest(image, index(children.slice(0, 5)), 'fewer')
      const refused = await promote({ image: 'elsewhere', reference: 'all' }, 409)
      assert.equal(refused.code, 'promotion_limit')
      await isGone('second/elsewhere', children[0]?.digest ?? '')
      assert.equal((await promote({ image: 'elsewhere', reference: 'fewer' })).manifests, 6)
    })

    it('of what the target has in part brings what it lacks, and is known by the digests of the source', async () => {
      const image = 'releases/part'
      const layer = randomBytes(2000)
      const config = JSON.stringify({ os: 'linux', part: 'yes' })
      const by512 = await pushBlob(image, layer, sha512(layer))
      await pushBlob(image, config)
      const manifest = manifestOf({
        config: described(config, configType),
        layers: [{ ...by512, mediaType: layerType }],
      })
      await pushManifest(image, manifest, `${sha512(manifest.text)}?tag=v1`)
      // The target has the layer, unused and called by the other digest, and a referrer that waits for its subject.
      await pushBlob('second/elsewhere', layer)
      const waiting = await newImage('second/part', {
        subject: described(manifest.text, imageType, sha512(manifest.text)),
      })
      await pushManifest('second/part', waiting, waiting.digest)
      const promoted = await promote({ image: 'part', reference: 'v1' })
      assert.equal(promoted.digest, sha512(manifest.text))
      for (const reference of ['v1', manifest.digest, sha512(manifest.text)])
        await isThere('second/part', manifest, reference)
      const told = await expect({ method: 'HEAD', path: '/v2/second/part/manifests/v1' }, 200)
      assert.equal(told.headers['docker-content-digest'], sha512(manifest.text))
      await expect({ method: 'HEAD', path: `/v2/second/part/blobs/${by512.digest}` }, 200)
      // What is there already learns of the other digest.
      const known = await pushImage(image, 'known')
      await pushManifestOf(known, 'second/known')
      await pushManifest(image, known, sha512(known.text))
      await promote({ image: 'part', reference: 'known', targetImage: 'known' }, 200)
      await isThere('second/known', known, sha512(known.text))
      await inspection.inOrder()
    })

    const pushManifestOf = async (manifest: Pushed, image: string): Promise<void> => {
      const { config, layers } = JSON.parse(manifest.text)
      for (const { digest } of [config, ...layers])
        await expect({ method: 'POST', path: `/v2/${image}/blobs/uploads/?mount=${digest}&from=releases/part` }, 201)
      await pushManifest(image, manifest, 'here')
    }

    describe('has the signatures that are attached to it by tags', () => {
      const image = 'releases/signed'
      const called = ({ digest }: Pushed, what: string): string => `${digest.replace(':', '-')}.${what}`

      it('and theirs, in a copy, where there is none yet', async () => {
        const signed = await pushImage(image, 'v1')
        const signature = await pushImage(image, called(signed, 'sig'))
        const attestation = await pushImage(image, called(signed, 'att'))
        const ofSignature = await pushImage(image, called(signature, 'sig'))
        await pushImage(image, called(signed, 'sig').replace('.', '-'))
        assert.equal((await promote({ image: 'signed', reference: 'v1' })).manifests, 4)
        await isThere('second/signed', signature, called(signed, 'sig'))
        await isThere('second/signed', attestation, called(signed, 'att'))
        await isThere('second/signed', ofSignature, called(signature, 'sig'))
        await isGone('second/signed', called(signed, 'sig').replace('.', '-'))
        const own = await pushImage('second/signed', called(signed, 'att'))
        await pushImage(image, called(signed, 'att'))
        assert.equal((await promote({ image: 'signed', reference: 'v1' }, 200)).manifests, 1)
        await isThere('second/signed', own, called(signed, 'att'))
      })

      it('and leaves none of them behind, in a move', async () => {
        const signed = await pushImage(image, 'v2')
        const signature = await pushImage(image, called(signed, 'sig'))
        const kept = await pushImage(image, called(signed, 'att'))
        const own = await pushImage('second/signed', called(signed, 'att'))
        await promote({ image: 'signed', reference: 'v2', mode: 'move' })
        await isThere('second/signed', signature, called(signed, 'sig'))
        await isGone(image, called(signed, 'sig'))
        await isThere('second/signed', own, called(signed, 'att'))
        await isThere(image, kept, called(signed, 'att'))
      })
    })

    it('and everything is in order', async () => {
      await inspection.inOrder()
    })
  })
})
