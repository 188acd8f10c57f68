import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { after, describe, it } from 'node:test'
import { settleUploads } from '../../src/features/transfers/uploads/jobs.ts'
import { uploadLeaseMs } from '../../src/kernel/limits/transfers.ts'
import { hour, minute } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import {
  configType,
  described,
  imageType,
  indexType,
  layerType,
  manifestOf,
  type Pushed,
  sha256,
} from '../harness/images.ts'
import { imagesOverTime } from '../harness/images-over-time.ts'
import { inDatabase } from '../harness/rows.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

/** Whoever heard that something is there has time to go on: what they count on goes no sooner than what is new. */
forEachEngine((engine) => {
  const over = imagesOverTime(engine)
  const { site, expect, pushBlob, pushManifest, newImage, pushImage, pass, settle } = over
  const isThere = async (image: string, { digest }: Pushed, there = true): Promise<void> => {
    await expect({ method: 'HEAD', path: `/v2/${image}/manifests/${digest}` }, there ? 200 : 404)
  }
  const untag = (image: string, tag: string) => expect({ method: 'DELETE', path: `/v2/${image}/manifests/${tag}` }, 202)

  describe('a manifest that an index lists, which nothing has kept for nearly the grace period,', () => {
    /** Ends when the index has two minutes left. */
    const dying = async (image: string): Promise<{ child: Pushed; index: Pushed }> => {
      const child = await newImage(image)
      await pushManifest(image, child, child.digest)
      const index = manifestOf({ manifests: [described(child.text, imageType)] }, indexType)
      await pushManifest(image, index, 'v1')
      await untag(image, 'v1')
      await pass(24 * hour - 2 * minute)
      return { child, index }
    }
    const goesOn = async (image: string, kept: Pushed, index: Pushed): Promise<void> => {
      await pass(3 * minute)
      await settle()
      await isThere(image, index, false)
      await isThere(image, kept)
      await pass(23 * hour)
      await settle()
      await isThere(image, kept)
      await pass(hour)
      await settle()
      await isThere(image, kept, false)
    }

    it('stays as long as a new one where it is pushed again', async () => {
      const { child, index } = await dying('releases/again')
      await pushManifest('releases/again', child, child.digest)
      await goesOn('releases/again', child, index)
    })

    it('stays where a tag came to it and was taken away', async () => {
      const { child, index } = await dying('releases/tagged')
      await pushManifest('releases/tagged', child, 'for-a-moment')
      await untag('releases/tagged', 'for-a-moment')
      await goesOn('releases/tagged', child, index)
    })

    it('stays where a tag moved on from it', async () => {
      const { child, index } = await dying('releases/moved')
      await pushManifest('releases/moved', child, 'moving')
      await pushImage('releases/moved', 'moving')
      await goesOn('releases/moved', child, index)
    })

    it('stays where it had a stage', async () => {
      const { child, index } = await dying('releases/staged')
      const json = { image: 'staged', reference: child.digest }
      const path = '/api/v1/repositories/releases/images/stages/tested'
      await expect({ method: 'PUT', path, json }, 200)
      await expect({ method: 'DELETE', path: `${path}?${new URLSearchParams(json)}` }, 204)
      await goesOn('releases/staged', child, index)
    })

    it('stays where it is promoted to where it was', async () => {
      const child = await pushImage('releases/promoted', 'child')
      const index = manifestOf({ manifests: [described(child.text, imageType)] }, indexType)
      await pushManifest('releases/promoted', index, 'v1')
      const promote = (reference: string, status: number) => {
        const json = { image: 'promoted', reference, target: 'second' }
        return expect({ path: '/api/v1/repositories/releases/images/promote', json }, status)
      }
      await promote('v1', 201)
      await untag('second/promoted', 'v1')
      await pass(24 * hour - 2 * minute)
      await promote(child.digest, 200)
      await goesOn('second/promoted', child, index)
    })

    it('keeps what comes to refer to the index as long as everything new', async () => {
      const { index } = await dying('releases/referred')
      const signature = await newImage('releases/referred', { subject: described(index.text, indexType) })
      await pushManifest('releases/referred', signature, signature.digest)
      await goesOn('releases/referred', signature, index)
    })

    it('stays from when another index was deleted that listed it', async () => {
      const { child, index } = await dying('releases/relisted')
      const other = manifestOf({ manifests: [described(child.text, imageType)], annotations: { n: '2' } }, indexType)
      await pushManifest('releases/relisted', other, other.digest)
      const path = `/v2/releases/relisted/manifests/${other.digest}`
      await expect({ method: 'DELETE', path, credential: site.key }, 202)
      await goesOn('releases/relisted', child, index)
    })
  })

  describe('without a grace period', () => {
    const graceHere = (hours: number | null) =>
      inDatabase(site.service, (q) =>
        q.updateTable('repositories').set({ grace_hours: hours }).where('id', '=', 'releases').execute(),
      )

    it('what is pushed by its digest is held for an hour, so that an index may list it', async () => {
      await graceHere(0)
      const child = await newImage('releases/hour')
      await pushManifest('releases/hour', child, child.digest)
      await settle(0)
      await pass(59 * minute)
      await settle(0)
      const index = manifestOf({ manifests: [described(child.text, imageType)] }, indexType)
      await pushManifest('releases/hour', index, 'v1')
      await isThere('releases/hour', child)
      await untag('releases/hour', 'v1')
      const moves = await expect({ path: '/api/v1/repositories/releases/images/tag-moves?image=hour&tag=v1' }, 200)
      const { keptUntil } = moves.json.items[0]
      assert.equal(Math.round((Date.parse(keptUntil) - site.service.clock.now()) / minute), 60)
      await pass(59 * minute)
      await settle(0)
      await isThere('releases/hour', index)
      await pass(2 * minute)
      await settle(0)
      await isThere('releases/hour', index, false)
      await isThere('releases/hour', child, false)
      await graceHere(null)
    })
  })

  describe('a push that takes hours', () => {
    const begin = async (image: string): Promise<string> =>
      String((await expect({ method: 'POST', path: `/v2/${image}/blobs/uploads/` }, 202)).headers.location)
    const imageOf = (config: string, layers: readonly Uint8Array[]): Pushed =>
      manifestOf({ config: described(config, configType), layers: layers.map((layer) => described(layer, layerType)) })
    const hasBlob = (image: string, bytes: string | Uint8Array, there = true) =>
      expect({ method: 'HEAD', path: `/v2/${image}/blobs/${sha256(bytes)}` }, there ? 200 : 404)

    it('finds what it sent at first when it names it at last', async () => {
      const image = 'releases/slow'
      const config = JSON.stringify({ os: 'linux', push: 'slow' })
      const layers = Array.from({ length: 4 }, () => randomBytes(60_000))
      await pushBlob(image, config)
      for (const layer of layers) {
        const path = await begin(image)
        await expect({ method: 'PATCH', path, body: layer.subarray(0, 30_000) }, 202)
        await pass(50 * minute)
        await settle()
        await expect({ method: 'PATCH', path, body: layer.subarray(30_000) }, 202)
        await pass(50 * minute)
        await settle()
        await expect({ method: 'PUT', path: `${path}?digest=${sha256(layer)}` }, 201)
      }
      await pushManifest(image, imageOf(config, layers), 'v1')
    })

    it('finds what was there for days, and came again with it', async () => {
      const image = 'releases/older'
      const [config, base] = [JSON.stringify({ os: 'linux', push: 'older' }), randomBytes(60_000)]
      const before = imageOf(config, [base])
      for (const blob of [config, base]) await pushBlob(image, blob)
      await pushManifest(image, before, 'v1')
      await pass(26 * hour)
      const path = `/v2/${image}/manifests/${before.digest}`
      await expect({ method: 'DELETE', path, credential: site.key }, 202)
      for (const blob of [config, base]) await pushBlob(image, blob)
      const layer = randomBytes(60_000)
      const upload = await begin(image)
      for (const piece of [layer.subarray(0, 30_000), layer.subarray(30_000)]) {
        await expect({ method: 'PATCH', path: upload, body: piece }, 202)
        await pass(50 * minute)
        await settle()
      }
      await expect({ method: 'PUT', path: `${upload}?digest=${sha256(layer)}` }, 201)
      await pushManifest(image, imageOf(config, [base, layer]), 'v2')
    })

    it('also where one layer takes them in one request', async () => {
      const image = 'releases/slow-layer'
      const config = JSON.stringify({ os: 'linux', push: 'slow layer' })
      const layer = randomBytes(60_000)
      await pushBlob(image, config)
      const path = await begin(image)
      const body = new PassThrough()
      const sent = expect({ method: 'PUT', path: `${path}?digest=${sha256(layer)}`, body }, 201)
      body.write(layer.subarray(0, 30_000))
      const isSentTo = async (): Promise<boolean> => {
        const rows = await inDatabase(site.service, (q) =>
          q
            .selectFrom('uploads')
            .select('turn_until')
            .where('id', '=', path.split('/').at(-1) ?? '')
            .execute(),
        )
        return rows.some(({ turn_until }) => turn_until !== null)
      }
      await until('the upload to have its turn', isSentTo)
      // As if its bytes had taken an hour already; whoever sends renews the turn.
      await inDatabase(site.service, (q) =>
        q
          .updateTable('oci_blobs')
          .set({ unused_since: new Date(site.service.clock.now() - hour - uploadLeaseMs).toISOString() })
          .where('sent_below', '=', 'slow-layer')
          .execute(),
      )
      await settle()
      await hasBlob(image, config)
      body.end(layer.subarray(30_000))
      await sent
      await pushManifest(image, imageOf(config, [layer]), 'v1')
    })

    it('that broke off leaves nothing for longer than an hour', async () => {
      const image = 'releases/broken-off'
      const layer = randomBytes(60_000)
      await pushBlob(image, layer)
      const path = await begin(image)
      await expect({ method: 'PATCH', path, body: 'some of it' }, 202)
      // Others who push elsewhere hold nothing here.
      await pass(40 * minute)
      await pushBlob('releases/elsewhere', randomBytes(100))
      await pass(15 * minute)
      await settle()
      await hasBlob(image, layer)
      await pass(6 * minute)
      await settle()
      await hasBlob(image, layer, false)
    })

    it('holds what is unnamed for a day and no longer', async () => {
      const image = 'releases/endless'
      const layer = randomBytes(60_000)
      await pushBlob(image, layer)
      for (let hours = 0; hours < 24; hours += 1) {
        await hasBlob(image, layer)
        await pass(hour)
        await pushBlob(image, randomBytes(100))
        await settle()
      }
      await pass(hour)
      await pushBlob(image, randomBytes(100))
      await settle()
      await hasBlob(image, layer, false)
    })
  })

  describe('what is called after a manifest', () => {
    it('goes with one that is deleted by its digest, unless it is immutable', async () => {
      const image = 'releases/signed'
      const signed = await pushImage(image, 'v1')
      const called = signed.digest.replace(':', '-')
      const signature = await pushImage(image, `${called}.sig`)
      const list = await pushImage(image, `${called}.sbom`)
      const bindings = [binding('releases', 'storage.manage')]
      const { id } = await createServiceAccount(site.service, bindings)
      const credential = (await activeKey(site.service, id, { bindings })).secret
      const rules = '/api/v1/repositories/releases/images/immutable-tags'
      const save = (expectedRevision: number, ...patterns: string[]) =>
        expect({ method: 'PUT', path: rules, credential, json: { expectedRevision, patterns } }, 200)
      await save(0, '*.sbom')
      const path = `/v2/${image}/manifests/${signed.digest}`
      await expect({ method: 'DELETE', path, credential: site.key }, 202)
      const { tags } = (await expect({ path: `/v2/${image}/tags/list` }, 200)).json
      assert.deepEqual(tags, [`${called}.sbom`])
      await save(1)
      await pass(25 * hour)
      await settle()
      await isThere(image, signature, false)
      await isThere(image, list)
    })

    it('goes however many there are of it', async () => {
      const image = 'releases/much-signed'
      const signature = await newImage(image)
      for (const how of ['deleted', 'left alone']) {
        const signed = await newImage(image)
        await pushManifest(image, signed, signed.digest)
        const called = signed.digest.replace(':', '-')
        for (const part of ['a', 'b', 'c', 'd', 'e']) {
          const beside = Array.from({ length: 50 }, (_, at) => `tag=${called}.${part}${at}`).join('&')
          await pushManifest(image, signature, `${called}.${part}?${beside}`)
        }
        if (how === 'deleted') {
          const path = `/v2/${image}/manifests/${signed.digest}`
          await expect({ method: 'DELETE', path, credential: site.key }, 202)
        } else {
          await pass(25 * hour)
          await settle()
          await isThere(image, signed, false)
        }
        assert.deepEqual((await expect({ path: `/v2/${image}/tags/list` }, 200)).json.tags, [])
      }
    })
  })

  it('everything is in order then', async () => {
    await settleUploads(over.inspection)
    await over.inspection.inOrder()
  })
})
