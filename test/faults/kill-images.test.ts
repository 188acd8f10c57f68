import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { FaultPoint } from '../../src/kernel/fault-points.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine, onPostgres, type TestEngine } from '../harness/engines.ts'
import { configType, described, layerType, manifestOf, type Pushed, sha256 } from '../harness/images.ts'
import { inTheDatabase, inTheStore } from '../harness/kept-inline.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'
import type { Site } from './site.ts'
import { siteOfDeaths } from './site-of-deaths.ts'
import { answerOrNone, bytesOf } from './uploads.ts'

/**
 * Sudden death at each step of a push, of two who push the same, and while what they push is being removed: what was
 * acknowledged is there, bit by bit, and of what was not there is all or nothing; whoever pushes again succeeds.
 */
endProgramsAfterTests()
after(closeConnections)

const image = 'releases/killed'

/** Ways to send a blob, and where each of them may die. */
type Way = 'appended to' | 'sent whole'
const pointsOf: Readonly<Record<Way, readonly FaultPoint[]>> = {
  'appended to': [
    'part.received',
    'part.placed',
    'part.recorded',
    'publish.staged',
    'publish.announced',
    'publish.placed',
    'publish.committed',
  ],
  'sent whole': ['publish.reserved', 'publish.staged', 'publish.announced', 'publish.placed', 'publish.committed'],
}
/** A manifest is a small file of its own: whole, and where small files are kept in the database, at once. */
const manifestPoints: readonly FaultPoint[] = pointsOf['sent whole']
const manifestPointsInline: readonly FaultPoint[] = ['publish.staged', 'publish.committed']

interface Stage {
  readonly objectStore: boolean
  readonly ways: readonly Way[]
}

const pushesDie = (engine: TestEngine, { objectStore, ways }: Stage): void => {
  let site: Site
  /** May delete. */
  let keeper = ''
  siteOfDeaths(engine, { objectStore }, (made, key) => {
    site = made
    keeper = key
  })
  let layers = 0
  /** What was acknowledged: tags with their manifests, and blobs. */
  const tags = new Map<string, Pushed>()
  const blobs = new Map<string, Buffer>()

  const ask = (given: Ask): Promise<Told> => site.ask({ credential: site.credential, ...given })
  const nextLayer = (): Buffer => bytesOf(`${engine.name} layer ${++layers}`, 150_000)

  /** The last answer; what it acknowledges is remembered. */
  const sendBlob = async (way: Way, bytes: Buffer): Promise<void> => {
    // Each life's clock is further ahead: what was begun a moment ago may look like what the dead left behind, and is
    // begun anew, as clients do.
    for (let tries = 1; !(await sendOnce(way, bytes)); tries++) assert.ok(tries < 3, 'busy again and again')
    blobs.set(sha256(bytes), bytes)
  }
  /** Whether it was taken, and not asked for again. */
  const sendOnce = async (way: Way, bytes: Buffer): Promise<boolean> => {
    const path = String((await ask({ method: 'POST', path: `/v2/${image}/blobs/uploads/` })).headers.location)
    if (way === 'appended to') {
      const half = bytes.byteLength / 2
      for (const piece of [bytes.subarray(0, half), bytes.subarray(half)]) {
        const { status, text } = await ask({ method: 'PATCH', path, body: piece })
        if (status === 503) return false
        assert.equal(status, 202, text)
      }
    }
    const body = way === 'appended to' ? '' : bytes
    const told = await ask({ method: 'PUT', path: `${path}?digest=${sha256(bytes)}`, body })
    if (told.status === 503) return false
    assert.equal(told.status, 201, told.text)
    return true
  }
  /** Two push the same layer at the same time. Whether both were answered before the service was gone. */
  const sendTwice = async (way: Way, bytes: Buffer): Promise<boolean> => {
    const sent = await Promise.all([1, 2].map(() => answerOrNone(sendBlob(way, bytes).then(() => true))))
    return !sent.includes(null)
  }
  const sendManifest = async (manifest: Pushed, tag: string): Promise<void> => {
    const headers = { 'content-type': manifest.type }
    const path = `/v2/${image}/manifests/${tag}`
    const told = await ask({ method: 'PUT', path, headers, body: manifest.text })
    assert.equal(told.status, 201, told.text)
    tags.set(tag, manifest)
  }
  const imageOf = async (layer: Buffer): Promise<Pushed> => {
    const config = Buffer.from(JSON.stringify({ os: 'linux' }))
    await sendBlob('sent whole', config)
    return manifestOf({ config: described(config, configType), layers: [described(layer, layerType)] })
  }

  const isThere = async (): Promise<void> => {
    for (const [tag, { text }] of tags)
      assert.equal((await ask({ path: `/v2/${image}/manifests/${tag}` })).text, text, tag)
    for (const [digest, bytes] of blobs) {
      const named = [...tags.values()].some(({ text }) => text.includes(digest))
      const got = await ask({ path: `/v2/${image}/blobs/${digest}` })
      // Each life begins an hour after the one before: what no manifest names is given up by then.
      if (named) assert.ok(got.bytes.equals(bytes), digest)
      else assert.ok(got.status === 404 || got.bytes.equals(bytes), digest)
    }
  }

  describe(`killed during a push${objectStore ? ' to an object store' : ''}`, () => {
    for (const way of ways)
      for (const point of pointsOf[way])
        it(`by two of a blob that is ${way}, at ${point}: they can push it again, and nothing is lost`, async () => {
          await site.live()
          const layer = nextLayer()
          await site.dieAt(point)
          assert.equal(await sendTwice(way, layer), false)
          await site.died()
          await site.live()
          await site.inOrder()
          await isThere()
          assert.equal(await sendTwice(way, layer), true)
          await sendManifest(await imageOf(layer), `${way.replace(' ', '-')}-${point}`)
          await isThere()
        })

    for (const [where, settings, points] of [
      ['in the store', inTheStore, manifestPoints],
      ['in the database', inTheDatabase, manifestPointsInline],
    ] as const)
      for (const point of points)
        it(`of a manifest ${where}, at ${point}: its tag is there with all of it, or is where it was`, async () => {
          await site.stop()
          await site.live(settings)
          const tag = `${point}-${where.replaceAll(' ', '-')}`
          const layer = nextLayer()
          await sendBlob('sent whole', layer)
          const before = await imageOf(layer)
          await sendManifest(before, tag)
          const next = manifestOf({ ...JSON.parse(before.text), annotations: { next: tag } })
          await site.dieAt(point)
          assert.equal(await answerOrNone(sendManifest(next, tag)), null)
          await site.died()
          await site.live(settings)
          await site.inOrder()
          const { text } = await ask({ path: `/v2/${image}/manifests/${tag}` })
          assert.equal(text, point === 'publish.committed' ? next.text : before.text)
          await sendManifest(next, tag)
          await isThere()
        })

    for (const point of ['reclaim.given-up', 'reclaim.removed'] as const)
      it(`of what is being removed, at ${point}: who pushes it again has it`, async () => {
        await site.live()
        const layer = nextLayer()
        await sendBlob('sent whole', layer)
        const path = `/v2/${image}/blobs/${sha256(layer)}`
        assert.equal((await ask({ method: 'DELETE', path, credential: keeper })).status, 202)
        await site.stop()
        // Upkeep begins with the process, and reclaim with it.
        await site.liveUntil(point)
        await site.live()
        for (const sent of await Promise.all(ways.map((way) => sendTwice(way, layer)))) assert.equal(sent, true)
        await sendManifest(await imageOf(layer), point)
        // What the second of two had reserved is looked at with the next life.
        await site.stop()
        await site.live()
        await site.inOrder()
        await isThere()
      })

    it('of nothing: while a manifest with many tags is deleted; whoever deletes it again ends it', async () => {
      await site.live()
      const layer = nextLayer()
      await sendBlob('sent whole', layer)
      const { text, type } = await imageOf(layer)
      const path = `/v2/${image}-tagged/manifests/${sha256(text)}`
      for (let hundred = 0; hundred < 6; hundred++) {
        const tags = Array.from({ length: 100 }, (_, number) => `t${hundred}${String(number).padStart(2, '0')}`)
        const put = { method: 'PUT', path: `${path}?tag=${tags}`, headers: { 'content-type': type }, body: text }
        assert.equal((await ask(put)).status, 201)
      }
      const remove = { method: 'DELETE', path, credential: keeper }
      const tagsLeft = async () => (await ask({ path: `/v2/${image}-tagged/tags/list` })).json.tags.length
      await site.dieAt('image.untagged')
      assert.equal(await answerOrNone(ask(remove)), null)
      await site.died()
      await site.live()
      await site.inOrder()
      assert.equal((await ask({ path })).text, text)
      assert.equal(await tagsLeft(), 100)
      assert.deepEqual([(await ask(remove)).status, (await ask(remove)).status, await tagsLeft()], [202, 404, 0])
      await site.inOrder()
      await isThere()
    })
  })
}

forEachEngine((engine) => pushesDie(engine, { objectStore: false, ways: ['appended to', 'sent whole'] }))
onPostgres((engine) => pushesDie(engine, { objectStore: true, ways: ['appended to'] }))
