import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { FaultPoint } from '../../src/kernel/fault-points.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { configType, described, layerType, manifestOf, type Pushed, sha256 } from '../harness/images.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'
import { Site } from './site.ts'
import { answerOrNone, bytesOf } from './uploads.ts'

/**
 * Sudden death at each step of a push: what was acknowledged is there, bit by bit, and of what was not there is all or
 * nothing; whoever pushes again succeeds.
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
const manifestPoints: readonly FaultPoint[] = ['publish.staged', 'publish.committed']

forEachEngine((engine) => {
  let site: Site
  let layers = 0
  /** What was acknowledged: tags with their manifests, and blobs. */
  const tags = new Map<string, Pushed>()
  const blobs = new Map<string, Buffer>()
  before(async () => {
    site = new Site(await mkdtemp(join(tmpdir(), 'svc-kill-')), await engine.readyDatabaseUrl())
    await site.live()
  })
  after(async () => {
    await site.stop()
    await rm(site.dataDir, { recursive: true, force: true })
  })

  const ask = (given: Ask): Promise<Told> => site.ask({ credential: site.credential, ...given })
  const upload = async (): Promise<string> =>
    String((await ask({ method: 'POST', path: `/v2/${image}/blobs/uploads/` })).headers.location)
  const nextLayer = (): Buffer => bytesOf(`${engine.name} layer ${++layers}`, 150_000)

  /** The last answer; what it acknowledges is remembered. */
  const sendBlob = async (way: Way, bytes: Buffer): Promise<void> => {
    const path = await upload()
    if (way === 'appended to') {
      const half = bytes.byteLength / 2
      for (const piece of [bytes.subarray(0, half), bytes.subarray(half)])
        assert.equal((await ask({ method: 'PATCH', path, body: piece })).status, 202)
    }
    const body = way === 'appended to' ? '' : bytes
    const told = await ask({ method: 'PUT', path: `${path}?digest=${sha256(bytes)}`, body })
    assert.equal(told.status, 201, told.text)
    blobs.set(sha256(bytes), bytes)
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

  describe('killed during a push', () => {
    for (const [way, points] of Object.entries(pointsOf) as [Way, readonly FaultPoint[]][])
      for (const point of points)
        it(`of a blob that is ${way}, at ${point}: it can be pushed again, and nothing is lost`, async () => {
          await site.live()
          const layer = nextLayer()
          await site.dieAt(point)
          assert.equal(await answerOrNone(sendBlob(way, layer)), null)
          await site.died()
          await site.live()
          await site.inOrder()
          await isThere()
          await sendBlob(way, layer)
          await sendManifest(await imageOf(layer), `${way.replace(' ', '-')}-${point}`)
          await isThere()
        })

    for (const point of manifestPoints)
      it(`of a manifest, at ${point}: its tag is there with all of it, or is where it was`, async () => {
        await site.live()
        const layer = nextLayer()
        await sendBlob('sent whole', layer)
        const before = await imageOf(layer)
        await sendManifest(before, `manifest-${point}`)
        const next = manifestOf({ ...JSON.parse(before.text), annotations: { next: 'yes' } })
        await site.dieAt(point)
        assert.equal(await answerOrNone(sendManifest(next, `manifest-${point}`)), null)
        await site.died()
        await site.live()
        await site.inOrder()
        const { text } = await ask({ path: `/v2/${image}/manifests/manifest-${point}` })
        assert.equal(text, point === 'publish.committed' ? next.text : before.text)
        await sendManifest(next, `manifest-${point}`)
        await isThere()
      })
  })
})
