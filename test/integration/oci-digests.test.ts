import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { described, imageSite, imageType, indexType, manifestOf, sha512 } from '../harness/images.ts'
import { everyRow, inDatabase } from '../harness/rows.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = imageSite(engine)

  describe('a manifest', () => {
    it('is known by its SHA-512 as well, whatever it was pushed by', async () => {
      const image = 'releases/both'
      const manifest = await site.pushImage(image, 'v1')
      const by512 = described(manifest.text, imageType, sha512(manifest.text))
      const path = `/v2/${image}/manifests/${by512.digest}`
      assert.equal((await site.expect({ path }, 200)).text, manifest.text)
      await site.pushManifest(image, manifestOf({ manifests: [by512] }, indexType), 'index')
      const signature = await site.newImage(image, { subject: by512 })
      await site.pushManifest(image, signature, signature.digest)
      const keptFor = await inDatabase(site.service, (q) =>
        q.selectFrom('oci_manifests').select('unused_since').where('digest', '=', signature.digest).execute(),
      )
      assert.deepEqual(keptFor, [{ unused_since: null }])
      const listed = await site.expect({ path: `/v2/${image}/referrers/${by512.digest}` }, 200)
      assert.equal(JSON.parse(listed.text).manifests[0].digest, sha512(signature.text))
    })

    it('that refers to another is told by the digest that clients ask by', async () => {
      const image = 'releases/referring'
      const subject = await site.pushImage(image, 'v1')
      const signature = await site.newImage(image, { subject: described(subject.text, imageType) })
      await site.pushManifest(image, signature, sha512(signature.text))
      const listed = await site.expect({ path: `/v2/${image}/referrers/${subject.digest}` }, 200)
      assert.equal(JSON.parse(listed.text).manifests[0].digest, signature.digest)
    })
  })

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
