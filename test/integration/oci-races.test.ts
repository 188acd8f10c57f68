import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { reclaim } from '../../src/content/reclaim/reclaim.ts'
import { hour } from '../../src/kernel/units.ts'
import { settleImages } from '../../src/protocols/oci/jobs.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { configType, described, imageSite, layerType, manifestOf, pusher, sha256 } from '../harness/images.ts'
import { type Inspection, openInspection } from '../harness/inspection.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = imageSite(engine, { roles: { gateway: 'api', worker: false } })
  const { expect, pushImage, pushManifest, newImage } = site
  const { pushBlob } = pusher(expect)
  let inspection: Inspection
  before(async () => {
    inspection = await openInspection(site.service)
  })
  after(() => inspection.close())

  describe('several at once', () => {
    it('push the same image, and hold its bytes once', async () => {
      const [config, layer] = [JSON.stringify({ os: 'linux' }), randomBytes(300_000)]
      const manifest = manifestOf({ config: described(config, configType), layers: [described(layer, layerType)] })
      await Promise.all(
        Array.from({ length: 6 }, async (_, number) => {
          const image = `releases/same/${number % 2}`
          await Promise.all([pushBlob(image, config), pushBlob(image, layer)])
          await pushManifest(image, manifest, `v${number}`)
        }),
      )
      const rows = await inspection.database.reader
        .selectFrom('claims')
        .select(['sha256', 'state'])
        .where('holder', '=', 'oci-blob')
        .execute()
      assert.deepEqual(
        rows.map(({ sha256: hex, state }) => `${hex} ${state}`).sort(),
        [config, layer, manifest.text].map((bytes) => `${sha256(bytes).slice(7)} live`).sort(),
      )
    })

    it('move hundreds of tags, each of which is at last where somebody moved it', async () => {
      const image = 'releases/moved'
      const manifests = await Promise.all([1, 2, 3, 4].map(() => newImage(image)))
      for (const manifest of manifests) await pushManifest(image, manifest, manifest.digest)
      await Promise.all(
        Array.from({ length: 8 }, async (_, client) => {
          for (let round = 0; round < 25; round++) {
            const manifest = manifests[(client + round) % manifests.length]
            if (manifest !== undefined) await pushManifest(image, manifest, `t${round}`)
          }
        }),
      )
      const { tags } = (await expect({ path: `/v2/${image}/tags/list` }, 200)).json
      assert.equal(tags.length, 25)
      const digests = new Set(manifests.map(({ digest }) => digest))
      for (const tag of tags) {
        const told = await expect({ method: 'HEAD', path: `/v2/${image}/manifests/${tag}` }, 200)
        assert.ok(digests.has(String(told.headers['docker-content-digest'])))
      }
      await inspection.inOrder()
    })

    it('push layers that are being given up: what was answered is there', async () => {
      const image = 'releases/given-up'
      const layers = Array.from({ length: 12 }, () => randomBytes(20_000))
      for (const layer of layers) await pushBlob(image, layer)
      // To the upkeep an hour is over; to those who push it is not.
      const later = { ...inspection, clock: { now: () => site.service.clock.now() + 2 * hour } }
      const deps = { ...later, cleanupGraceMs: 24 * hour, report: assert.ifError }
      const giveUp = async (): Promise<void> => {
        for (let round = 0; round < 5; round++) {
          await settleImages(deps)
          await reclaim(later)
        }
      }
      const config = await pushBlob(image, '{}')
      const push = async (layer: Buffer, number: number): Promise<void> => {
        const manifest = manifestOf({ config, layers: [described(layer, layerType)] })
        for (;;) {
          await pushBlob(image, '{}')
          await pushBlob(image, layer)
          const path = `/v2/${image}/manifests/v${number}`
          const headers = { 'content-type': manifest.type }
          const told = await site.ask({ method: 'PUT', path, headers, body: manifest.text })
          if (told.status === 201) return
          // Given up between the two: the client is told, and sends it again.
          assert.equal(told.json.errors[0].code, 'MANIFEST_BLOB_UNKNOWN', told.text)
        }
      }
      await Promise.all([giveUp(), ...layers.map(push)])
      await giveUp()
      for (const [number, layer] of layers.entries()) {
        await expect({ path: `/v2/${image}/manifests/v${number}` }, 200)
        const got = await expect({ path: `/v2/${image}/blobs/${sha256(layer)}` }, 200)
        assert.ok(got.bytes.equals(layer))
      }
      await inspection.inOrder()
    })

    it('delete what others push and tag, and nobody hears of a fault', async () => {
      const image = 'releases/deleted'
      const manifest = await pushImage(image, 'v0')
      const told = await Promise.all(
        Array.from({ length: 40 }, async (_, number) => {
          if (number % 4 === 0) {
            const path = `/v2/${image}/manifests/${manifest.digest}`
            return (await site.ask({ method: 'DELETE', path, credential: site.key })).status
          }
          const path = `/v2/${image}/manifests/v${number % 5}`
          if (number % 4 === 1) return (await site.ask({ method: 'DELETE', path })).status
          const headers = { 'content-type': manifest.type }
          return (await site.ask({ method: 'PUT', path, headers, body: manifest.text })).status
        }),
      )
      for (const status of told) assert.ok([201, 202, 404].includes(status), String(status))
      await inspection.inOrder()
    })
  })
})
