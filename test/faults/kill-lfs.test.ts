import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { FaultPoint } from '../../src/kernel/fault-points.ts'
import { MiB } from '../../src/kernel/units.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine, onPostgres, type TestEngine } from '../harness/engines.ts'
import { inTheDatabase } from '../harness/kept-inline.ts'
import { described, type LfsObject, lfsType, linesOf } from '../harness/lfs.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'
import { makeKeeper } from './keeper.ts'
import { Site } from './site.ts'
import { answerOrNone, bytesOf } from './uploads.ts'

/**
 * Sudden death at each step of an upload, of two who push the same object, while it is being removed, and of locks:
 * what was acknowledged is there, bit by bit, of what was not there is all or nothing, the journal tells of what is
 * there once, and whoever tries again succeeds.
 */
endProgramsAfterTests()
after(closeConnections)

type Way = 'whole' | 'appended'
const pointsOf: Readonly<Record<Way, readonly FaultPoint[]>> = {
  whole: ['publish.reserved', 'publish.staged', 'publish.announced', 'publish.placed', 'publish.committed'],
  appended: [
    'part.received',
    'part.placed',
    'part.recorded',
    'publish.staged',
    'publish.announced',
    'publish.placed',
    'publish.committed',
  ],
}

interface Stage {
  readonly objectStore: boolean
  readonly ways: readonly Way[]
}

const uploadsDie = (engine: TestEngine, { objectStore, ways }: Stage): void => {
  let site: Site
  /** May delete. */
  let keeper: string
  let objects = 0
  /** What was acknowledged. */
  const acknowledged = new Map<string, Buffer>()
  before(async () => {
    // What was deleted is given up with the next life.
    const store = objectStore ? { SVC_BLOB_STORE: (await engine.freshBlobStoreUrl()) ?? '' } : {}
    const settings = { ...store, SVC_CLEANUP_GRACE_HOURS: '0' }
    site = new Site(await mkdtemp(join(tmpdir(), 'svc-kill-')), await engine.readyDatabaseUrl(), settings)
    await site.live()
    keeper = await makeKeeper(site)
  })
  after(async () => {
    await site.stop()
    await rm(site.dataDir, { recursive: true, force: true })
  })

  const ask = (given: Ask): Promise<Told> => site.ask({ credential: site.credential, ...given })
  const nextBytes = (length: number): Buffer => bytesOf(`${engine.name} object ${++objects}`, length)
  const batch = async (operation: 'upload' | 'download', object: LfsObject, way: Way) => {
    const transfers = way === 'appended' ? ['basic', 'tus'] : ['basic']
    const body = JSON.stringify({ operation, objects: [object], transfers })
    const told = await ask({ path: '/lfs/releases/objects/batch', headers: { 'content-type': lfsType }, body })
    assert.equal(told.status, 200, told.text)
    return told.json.objects[0]
  }

  /** As a client pushes: null where the object is there already, else what the last request was answered. */
  const pushOnce = async (way: Way, bytes: Buffer): Promise<number | null> => {
    const { actions } = await batch('upload', described(bytes), way)
    if (actions === undefined) return null
    const { href, header } = actions.upload
    const path = href.slice(site.url.length)
    const follow = (given: Partial<Ask>): Promise<Told> =>
      site.ask({ path, ...given, headers: { ...header, ...given.headers } })
    if (way === 'whole') return (await follow({ method: 'PUT', body: bytes })).status
    const offset = Number((await follow({ method: 'HEAD' })).headers['upload-offset'])
    const headers = { 'upload-offset': String(offset) }
    return (await follow({ method: 'PATCH', headers, body: bytes.subarray(offset) })).status
  }
  const push = async (way: Way, bytes: Buffer): Promise<void> => {
    // Each life's clock is further ahead: what was begun a moment ago may look like what the dead left behind, and is
    // begun anew, as clients do.
    for (let tries = 1; ; tries++) {
      const status = await pushOnce(way, bytes)
      if (status === null || status < 300) break
      assert.ok(tries < 5 && [409, 503].includes(status), `${status} again and again`)
    }
    acknowledged.set(described(bytes).oid, bytes)
  }
  /** Two push the same object at the same time. Whether both were answered before the service was gone. */
  const pushTwice = async (way: Way, bytes: Buffer): Promise<boolean> => {
    const pushed = await Promise.all([1, 2].map(() => answerOrNone(push(way, bytes).then(() => true))))
    return !pushed.includes(null)
  }
  const contentOf = ({ oid }: LfsObject): Promise<Told> => ask({ path: `/lfs/releases/objects/${oid}/content` })

  const isThere = async (): Promise<void> => {
    for (const bytes of acknowledged.values())
      assert.ok((await contentOf(described(bytes))).bytes.equals(bytes), described(bytes).oid)
  }
  /** All of it or nothing, for every way to ask, and in the journal. */
  const isWholeOrNot = async (bytes: Buffer): Promise<boolean> => {
    const object = described(bytes)
    const { status, bytes: got } = await contentOf(object)
    assert.ok(status === 404 || got.equals(bytes), String(status))
    assert.equal((await batch('download', object, 'whole')).actions !== undefined, status === 200)
    const told = (await linesOf(site, 'releases')).filter(({ detail }) => detail === object.oid)
    assert.equal(told.length, status === 200 ? 1 : 0)
    return status === 200
  }

  describe(`killed during a push of an object${objectStore ? ' to an object store' : ''}`, () => {
    for (const way of ways)
      for (const point of pointsOf[way])
        it(`that is sent ${way} by two, at ${point}: they can push it again, and nothing is lost`, async () => {
          await site.live()
          const bytes = nextBytes(MiB + 150_000)
          await site.dieAt(point)
          assert.equal(await pushTwice(way, bytes), false)
          await site.died()
          await site.live()
          await site.inOrder()
          await isThere()
          assert.ok((await isWholeOrNot(bytes)) || point !== 'publish.committed')
          assert.equal(await pushTwice(way, bytes), true)
          assert.ok(await isWholeOrNot(bytes))
          await isThere()
        })

    for (const point of ['publish.staged', 'publish.committed'] as const)
      it(`that is small, for the database, at ${point}: it is there with its line, or is not`, async () => {
        await site.stop()
        await site.live(inTheDatabase)
        const bytes = nextBytes(3_000)
        await site.dieAt(point)
        assert.equal(await answerOrNone(push('whole', bytes)), null)
        await site.died()
        await site.live(inTheDatabase)
        await site.inOrder()
        assert.equal(await isWholeOrNot(bytes), point === 'publish.committed')
        await push('whole', bytes)
        await isThere()
      })

    for (const point of ['reclaim.given-up', 'reclaim.removed'] as const)
      it(`that is being removed, at ${point}: who pushes it again has it`, async () => {
        await site.live()
        const bytes = nextBytes(MiB + 1)
        await push('whole', bytes)
        const path = `/api/v1/repositories/releases/lfs/objects/${described(bytes).oid}`
        assert.equal((await ask({ method: 'DELETE', path, credential: keeper })).status, 204)
        await site.stop()
        // Upkeep begins with the process, and reclaim with it.
        await site.liveUntil(point)
        await site.live()
        for (const sent of await Promise.all(ways.map((way) => pushTwice(way, bytes)))) assert.equal(sent, true)
        // What the second of two had reserved is looked at with the next life.
        await site.stop()
        await site.live()
        await site.inOrder()
        await isThere()
      })
  })

  if (objectStore) return
  describe('killed while a file is locked', () => {
    const locks = '/lfs/releases/killed/locks'
    const say = (path: string, json: object): Ask => ({
      ...{ method: 'POST', path, headers: { 'content-type': lfsType } },
      body: JSON.stringify(json),
    })
    const held = async (path: string): Promise<{ id: string }[]> =>
      (await ask({ path: `${locks}?path=${path}` })).json.locks
    const told = async (path: string): Promise<string[]> =>
      (await linesOf(site, 'releases'))
        .filter(({ detail }) => detail === `killed:${path}`)
        .map(({ action }) => String(action))
    const diesAt = async (point: FaultPoint, request: Ask): Promise<void> => {
      await site.dieAt(point)
      assert.equal(await answerOrNone(ask(request)), null)
      await site.died()
      await site.live()
      await site.inOrder()
    }

    for (const [point, committed] of [
      ['lock.told', false],
      ['lock.committed', true],
    ] as const)
      it(`or unlocked, at ${point}: ${committed ? 'done' : 'not done'}, and the journal says the same`, async () => {
        await site.live()
        const path = point.replace('.', '-')
        await diesAt(point, say(locks, { path }))
        assert.equal((await held(path)).length, committed ? 1 : 0)
        assert.deepEqual(await told(path), committed ? ['lock.create'] : [])
        assert.equal((await ask(say(locks, { path }))).status, committed ? 409 : 201)
        const [lock] = await held(path)
        assert.ok(lock !== undefined)
        const unlock = say(`${locks}/${lock.id}/unlock`, {})
        await diesAt(point, unlock)
        assert.deepEqual(await held(path), committed ? [] : [lock])
        assert.equal((await ask(unlock)).status, committed ? 404 : 200)
        assert.deepEqual(await told(path), ['lock.create', 'lock.remove'])
      })
  })
}

forEachEngine((engine) => uploadsDie(engine, { objectStore: false, ways: ['whole', 'appended'] }))
onPostgres((engine) => uploadsDie(engine, { objectStore: true, ways: ['appended'] }))
