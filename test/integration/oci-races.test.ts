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

    it('move a thousand tags, each of which is at last where the last of them moved it, and no move is lost', async () => {
      const image = 'releases/moved'
      const tags = Array.from({ length: 1_000 }, (_, number) => `t${String(number).padStart(3, '0')}`)
      const atOnce = 25
      // Each client has a manifest of its own, so that every move is one, and goes through the tags from another one
      // on.
      const move = async (client: number): Promise<void> => {
        const manifest = await newImage(image)
        for (let at = 0; at < tags.length; at += atOnce) {
          const from = (at + client * 125) % tags.length
          const query = tags.slice(from, from + atOnce).map((tag) => `tag=${tag}`)
          await pushManifest(image, manifest, `${manifest.digest}?${query.join('&')}`)
        }
      }
      await Promise.all(Array.from({ length: 8 }, (_, client) => move(client)))
      assert.deepEqual((await expect({ path: `/v2/${image}/tags/list` }, 200)).json.tags, tags)
      const lines = await inspection.database.reader
        .selectFrom('journal')
        .innerJoin('oci_manifests', 'oci_manifests.id', 'journal.artifact_id')
        .select(['detail', 'oci_manifests.digest'])
        .where('journal.action', '=', 'tag.set')
        .where('oci_manifests.name', '=', 'moved')
        .orderBy('sequence')
        .execute()
      assert.equal(lines.length, 8 * tags.length)
      const last = new Map(lines.map(({ detail, digest }) => [detail, digest]))
      for (const tag of tags) {
        const told = await expect({ method: 'HEAD', path: `/v2/${image}/manifests/${tag}` }, 200)
        assert.equal(told.headers['docker-content-digest'], last.get(`moved:${tag}`), tag)
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
