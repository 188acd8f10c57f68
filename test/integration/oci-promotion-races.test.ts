import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { reclaim } from '../../src/content/reclaim/reclaim.ts'
import { hour } from '../../src/kernel/units.ts'
import { settleImages } from '../../src/protocols/oci/jobs.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { imagePromotions, sizeOf } from '../harness/image-promotions.ts'
import {
  configType,
  described,
  imageSite,
  imageType,
  indexType,
  layerType,
  manifestOf,
  sha256,
} from '../harness/images.ts'
import { type Inspection, openInspection } from '../harness/inspection.ts'
import { randomOf } from '../harness/random.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

const clients = 6
const deedsEach = 25
const seed = process.env['SVC_TEST_SEED'] ?? 'promoted images'
const sides = ['releases', 'second'] as const

forEachEngine((engine) => {
  const site = imageSite(engine, { roles: { gateway: 'api', worker: false } })
  const { expect, pushBlob, pushManifest, pushImage, newImage } = site
  const { promoting, promote, isThere, events, bytesIn } = imagePromotions(site)
  let inspection: Inspection
  let deleter = ''
  before(async () => {
    inspection = await openInspection(site.service)
    const bindings = sides.map((id) => binding(id, 'content.read', 'artifact.read', 'artifact.list', 'artifact.delete'))
    const account = await createServiceAccount(site.service, bindings)
    deleter = (await activeKey(site.service, account.id, { bindings })).secret
  })
  after(() => inspection.close())

  /** The upkeep as it is two hours from now: what nothing named for an hour is given up, and its bytes are removed. */
  const upkeepLater = async (rounds: number): Promise<void> => {
    const later = { ...inspection, clock: { now: () => site.service.clock.now() + 2 * hour } }
    for (let round = 0; round < rounds; round++) {
      await settleImages({ ...later, cleanupGraceMs: hour, report: assert.ifError })
      await reclaim(later)
    }
  }
  const remove = (image: string, digest: string) => ({
    ...{ method: 'DELETE', path: `/v2/${image}/manifests/${digest}`, credential: deleter },
  })

  it('promoted by many at once an image arrives once, with its bytes and a line in each journal', async () => {
    for (const round of ['one', 'two']) {
      const image = `releases/once/${round}`
      const child = await newImage(image)
      await pushManifest(image, child, child.digest)
      const index = manifestOf({ manifests: [described(child.text, imageType)] }, indexType)
      await pushManifest(image, index, 'v1')
      const before = await bytesIn('second')
      const wish = { image: `once/${round}`, reference: 'v1', stages: ['released'] }
      const told = await Promise.all(Array.from({ length: 8 }, () => site.ask(promoting(wish))))
      assert.deepEqual(told.map(({ status }) => status).sort(), [...new Array(7).fill(200), 201])
      assert.deepEqual(told.map(({ json }) => json.manifests).sort(), [...new Array(7).fill(0), 2])
      assert.equal((await bytesIn('second')) - before, sizeOf(child) + index.text.length)
      const query = `image=once/${round}&reference=v1`
      const lines = [...(await events('releases', query)), ...(await events('second', query))]
      assert.deepEqual(
        lines.map(({ action }) => action),
        ['promoted', 'received', 'stage.added'],
      )
    }
  })

  it('moved by many at once it is moved once, and all hear the same', async () => {
    const manifest = await pushImage('releases/moved-once', 'v1')
    const wish = { image: 'moved-once', reference: 'v1', mode: 'move' }
    const told = await Promise.all(Array.from({ length: 8 }, () => site.ask(promoting(wish))))
    assert.deepEqual(told.map(({ status }) => status).sort(), [...new Array(7).fill(200), 201])
    for (const { json } of told) assert.equal(json.digest, manifest.digest)
    assert.equal((await events('second', 'image=moved-once&reference=v1')).length, 1)
  })

  describe('layers that are being given up', () => {
    it('in the target are there whole once a promotion was answered', async () => {
      const layers = Array.from({ length: 10 }, () => randomBytes(20_000))
      const config = await pushBlob('releases/given', '{}')
      for (const [number, layer] of layers.entries()) {
        await pushBlob('releases/given', layer)
        // The target has it as well, named by nothing.
        await pushBlob('second/elsewhere', layer)
        const manifest = manifestOf({
          config: { ...config, mediaType: configType },
          layers: [described(layer, layerType)],
        })
        await pushManifest('releases/given', manifest, `v${number}`)
      }
      const all = layers.map((_, number) => promote({ image: 'given', reference: `v${number}` }))
      await Promise.all([upkeepLater(5), ...all])
      await upkeepLater(2)
      for (const layer of layers) {
        const got = await expect({ path: `/v2/second/given/blobs/${sha256(layer)}` }, 200)
        assert.ok(got.bytes.equals(layer))
      }
      await inspection.inOrder()
    })

    it('in the source are there whole, or nothing of the image is', async () => {
      const pushed = await Promise.all(
        Array.from({ length: 10 }, (_, number) => pushImage('releases/gone', `v${number}`)),
      )
      const told: Told[] = []
      await Promise.all([
        upkeepLater(6),
        ...pushed.map(async (manifest, number) => {
          const wish = { image: 'gone', reference: manifest.digest, tags: [`v${number}`] }
          const [promoted] = await Promise.all([
            site.ask(promoting(wish)),
            expect(remove('releases/gone', manifest.digest), 202),
          ])
          told[number] = promoted
        }),
      ])
      await upkeepLater(2)
      for (const [number, manifest] of pushed.entries()) {
        const { status } = told[number] ?? assert.fail()
        assert.ok([201, 404].includes(status), String(status))
        if (status === 404) continue
        await isThere('second/gone', manifest, `v${number}`)
        for (const { digest } of JSON.parse(manifest.text).layers)
          await expect({ path: `/v2/second/gone/blobs/${digest}` }, 200)
      }
      await inspection.inOrder()
    })
  })

  it(`promoted both ways, staged, tagged and deleted by many at once, everything stays in order (seed ${seed})`, async () => {
    const images = ['both/a', 'both/b']
    const pushed = await Promise.all(
      sides.flatMap((side) => images.map((image) => pushImage(`${side}/${image}`, 'v1'))),
    )
    const digests = pushed.map(({ digest }) => digest)
    let promoted = 0
    const client = async (name: string): Promise<void> => {
      const random = randomOf(`${seed} ${name}`)
      const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] ?? assert.fail()
      for (let count = 0; count < deedsEach; count++) {
        const [side, image, tag] = [one(sides), one(images), `v${Math.floor(random() * 3)}`]
        const reference = random() < 0.5 ? tag : one(digests)
        const stage = `/api/v1/repositories/${side}/images/stages/tested`
        const target = sides.find((other) => other !== side)
        const mode = one(['copy', 'move'])
        const deeds = [
          promoting({ image, reference, target, mode, tags: [tag], stages: random() < 0.3 ? ['tested'] : [] }, side),
          promoting({ image, reference, target, mode, tags: [tag] }, side),
          { method: 'PUT', path: stage, json: { image, reference } },
          { method: 'DELETE', path: `${stage}?image=${image}&reference=${reference}` },
          { method: 'DELETE', path: `/v2/${side}/${image}/manifests/${tag}` },
          remove(`${side}/${image}`, one(digests)),
        ]
        const deed = one(deeds)
        const told = random() < 0.15 ? null : await site.ask(deed)
        if (told?.status === 201 && 'json' in deed) promoted += 1
        if (told === null) await pushImage(`${side}/${image}`, tag).then(({ digest }) => digests.push(digest))
        else assert.ok([200, 201, 202, 204, 404, 409].includes(told.status), `${told.status} ${told.text}`)
      }
    }
    const names = Array.from({ length: clients }, (_, index) => `client ${index}`)
    await Promise.all([...names.map(client), upkeepLater(4)])
    assert.ok(promoted > clients, 'they were in the way of each other')
    await inspection.inOrder()
    await upkeepLater(3)
    await inspection.inOrder()
  })
})
