import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { imageSite, sha512 } from '../harness/images.ts'
import { everyRow } from '../harness/rows.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = imageSite(engine)

  describe('a tag', () => {
    it('answers with the digest that its manifest was pushed by when it was set', async () => {
      const image = 'releases/called'
      const manifest = await site.newImage(image)
      const by512 = sha512(manifest.text)
      const calledBy = async (reference: string): Promise<unknown> => {
        const told = await site.expect({ method: 'HEAD', path: `/v2/${image}/manifests/${reference}` }, 200)
        return told.headers['docker-content-digest']
      }
      const moves = async (): Promise<number> =>
        (await everyRow(site.service)).split('\n').filter((row) => row.startsWith('oci_tag_moves ')).length

      const pushed = await site.pushManifest(image, manifest, `${by512}?tag=long&tag=both`)
      assert.equal(pushed.headers['docker-content-digest'], by512)
      assert.equal(await calledBy('long'), by512)
      await site.pushManifest(image, manifest, 'short')
      assert.equal(await calledBy('short'), manifest.digest)
      assert.equal(await calledBy('long'), by512)
      for (const digest of [manifest.digest, by512]) assert.equal(await calledBy(digest), digest)

      const before = await moves()
      await site.pushManifest(image, manifest, 'both')
      assert.equal(await calledBy('both'), manifest.digest)
      await site.pushManifest(image, manifest, `${by512}?tag=both`)
      assert.equal(await calledBy('both'), by512)
      assert.equal(await moves(), before, 'a tag that stays where it is was moved')
    })
  })
})
