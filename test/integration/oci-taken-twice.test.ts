import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
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
} from '../harness/images.ts'
import { openInspection } from '../harness/inspection.ts'

after(closeConnections)

const image = 'releases/twice'
const dockerType = 'application/vnd.docker.distribution.manifest.v2+json'
const nondistributable = 'application/vnd.oci.image.layer.nondistributable.v1.tar+gzip'

forEachEngine((engine) => {
  const site = imageSite(engine, { roles: { gateway: 'api', worker: false } })
  const { expect, pushBlob, pushManifest, newImage, pushImage } = site

  const refused = async (manifest: Pushed, code = 'MANIFEST_INVALID'): Promise<void> => {
    const told = await pushManifest(image, manifest, 'refused', 400)
    assert.equal(told.json.errors[0].code, code, told.text)
    await expect({ path: `/v2/${image}/manifests/refused` }, 404)
  }
  const pulledAs = async (reference: string): Promise<unknown> =>
    (await expect({ path: `/v2/${image}/manifests/${reference}` }, 200)).headers['content-type']

  describe('the bytes of a manifest', () => {
    it('are of one type, whichever they were pushed as first', async () => {
      const config = { ...(await pushBlob(image, '{}')), mediaType: configType }
      const text = JSON.stringify({ schemaVersion: 2, config, layers: [], nonce: randomUUID() })
      const as = (type: string): Pushed => ({ text, type, digest: sha256(text) })
      await pushManifest(image, as(dockerType), 'docker')
      await refused(as(imageType))
      await pushManifest(image, as(dockerType), 'again')
      assert.equal(await pulledAs('again'), dockerType)
      await pushManifest('releases/elsewhere', as(imageType), 'oci')
    })

    it('are an image or an index, and never what clients may take for both', async () => {
      const config = { ...(await pushBlob(image, '{}')), mediaType: configType }
      const child = described((await pushImage(image, 'child')).text, imageType)
      const missing = described('a layer that is not here', layerType)
      for (const type of [imageType, indexType]) {
        await refused(manifestOf({ config, layers: [], manifests: [child] }, type))
        await refused(manifestOf({ config, layers: [missing], manifests: [] }, type))
        const silent = JSON.stringify({ schemaVersion: 2, config, layers: [missing], manifests: [] })
        await refused({ text: silent, type, digest: sha256(silent) })
      }
      await refused(manifestOf({ manifests: [child], config }, indexType))
      await refused(manifestOf({ manifests: [child], layers: [] }, indexType))
      await pushManifest(image, manifestOf({ manifests: [child], config: null, layers: null }, indexType), 'null')
      await pushManifest(image, manifestOf({ config, layers: [], manifests: null }), 'null')
    })
  })

  describe('a manifest that is pushed again', () => {
    it('needs what it names once more', async () => {
      const child = await newImage(image)
      await pushManifest(image, child, child.digest)
      const index = manifestOf({ manifests: [described(child.text, imageType)] }, indexType)
      await pushManifest(image, index, 'whole')
      await pushManifest(image, index, 'whole-again')
      const path = `/v2/${image}/manifests/${child.digest}`
      await expect({ method: 'DELETE', path, credential: site.key }, 202)
      await refused(index, 'MANIFEST_BLOB_UNKNOWN')
      await pushManifest(image, child, child.digest)
      await pushManifest(image, index, 'whole-later')
    })
  })

  describe('what a manifest names twice', () => {
    it('has to be here if one of the two says so, in either order', async () => {
      const config = { ...(await pushBlob(image, '{}')), mediaType: configType }
      const twins = [described('not here', layerType), described('not here', nondistributable)]
      await refused(manifestOf({ config, layers: twins }), 'MANIFEST_BLOB_UNKNOWN')
      await refused(manifestOf({ config, layers: twins.toReversed() }), 'MANIFEST_BLOB_UNKNOWN')
      await pushBlob(image, 'not here')
      await pushManifest(image, manifestOf({ config, layers: twins }), 'here')
    })

    it('has one size', async () => {
      const config = { ...(await pushBlob(image, '{}')), mediaType: configType }
      const layer = described('', layerType)
      await pushBlob(image, '')
      await pushManifest(image, manifestOf({ config, layers: [layer, layer] }), 'same')
      await refused(manifestOf({ config, layers: [{ ...layer, size: 1 }, layer] }))
      await refused(manifestOf({ config, layers: [layer, { ...layer, size: 1 }] }))
      const far = described('elsewhere', nondistributable)
      await refused(manifestOf({ config, layers: [far, { ...far, size: 1 }] }))
    })
  })

  describe('what an index lists', () => {
    it('has the size and the type that the index says', async () => {
      const child = await pushImage(image, 'listed')
      const listed = described(child.text, imageType)
      const inner = manifestOf({ manifests: [listed] }, indexType)
      await pushManifest(image, inner, inner.digest)
      await pushManifest(
        image,
        manifestOf({ manifests: [listed, listed, described(inner.text, indexType)] }, indexType),
        'right',
      )
      for (const wrong of [{ size: listed.size + 1 }, { mediaType: indexType }, { mediaType: dockerType }]) {
        await refused(manifestOf({ manifests: [{ ...listed, ...wrong }] }, indexType))
        await refused(manifestOf({ manifests: [{ ...listed, ...wrong }, listed] }, indexType))
        await refused(manifestOf({ manifests: [listed, { ...listed, ...wrong }] }, indexType))
      }
    })
  })

  it('leaves everything in order', async () => {
    const inspection = await openInspection(site.service)
    await inspection.inOrder()
    await inspection.close()
  })
})
