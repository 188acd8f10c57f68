import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { actionsOf } from '../../src/kernel/actions.ts'
import { type FaultPoint, faultPoints } from '../../src/kernel/fault-points.ts'
import { npmVersionsPerRemoval } from '../../src/kernel/limits/npm.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine, onPostgres, type TestEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { inTheDatabase, inTheStore } from '../harness/kept-inline.ts'
import { packed, publishDocument } from '../harness/npm-documents.ts'
import { npmPublisher } from '../harness/npm-packages.ts'
import { createRepository } from '../harness/people.ts'
import { type Environment, endProgramsAfterTests } from '../harness/processes.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'
import type { Site } from './site.ts'
import { siteOfDeaths } from './site-of-deaths.ts'
import { answerOrNone, bytesOf } from './uploads.ts'

/**
 * Sudden death at each step of a publish and of every change of a package: what was acknowledged is there, in documents
 * and byte by byte, and of what was not there is all or nothing; whoever tries again succeeds.
 */
endProgramsAfterTests()
after(closeConnections)

const published: readonly FaultPoint[] = [
  'publish.reserved',
  'publish.staged',
  'publish.announced',
  'publish.placed',
  'npm.told',
  'publish.committed',
]
const publishedInline: readonly FaultPoint[] = ['publish.staged', 'npm.told', 'publish.committed']
const changed = ['npm.told', 'npm.committed'] as const
/** Where nothing else is said, and where what was taken away is given up at once. */
const plain: Environment = {}
const soon: Environment = { ...inTheStore, SVC_CLEANUP_GRACE_HOURS: '0' }
const promoted = faultPoints.filter((point) => point.startsWith('npm-promotion.'))

interface Stage {
  readonly objectStore: boolean
}

const changesDie = (engine: TestEngine, { objectStore }: Stage): void => {
  let site: Site
  /** May delete. */
  let keeper = ''
  /** May promote to another repository. */
  let promoter = ''
  siteOfDeaths(engine, { objectStore }, (made, key) => {
    site = made
    keeper = key
  })
  /** Tarballs of versions that were acknowledged, by name and version. */
  const tarballs = new Map<string, ReadonlyMap<string, Buffer>>()

  before(async () => {
    await createRepository(site, 'far')
    const bindings = ['releases', 'far'].map((id) => binding(id, ...actionsOf('write')))
    const account = await createServiceAccount(site, bindings)
    promoter = (await activeKey(site, account.id, { bindings })).secret
  })

  let current = plain
  /** A life with these settings: the one that there is, where it has them. */
  const lives = async (settings = plain): Promise<void> => {
    if (settings !== current) await site.stop()
    current = settings
    await site.live(settings)
  }

  const npm = () => npmPublisher(site, site.credential)
  const note = (name: string, version: string, tarball: Buffer): void =>
    void tarballs.set(name, new Map([...(tarballs.get(name) ?? []), [version, tarball]]))
  /** Of a size that is in the way of nothing else, unless it is to be small. */
  const tarballFor = (name: string, version: string, bytes: number): Promise<Buffer> =>
    packed({ name, version }, [{ name: 'package/data', content: bytesOf(`${engine.name} ${name} ${version}`, bytes) }])
  const publish = async (name: string, version: string): Promise<void> => {
    const tarball = await tarballFor(name, version, 100)
    await npm().publish({ name, version }, { tarball })
    note(name, version, tarball)
  }
  const documentOf = async (name: string) => (await npm().document(name)).json

  /** What documents, tags and tarballs say, and nobody was told otherwise. */
  const isThere = async (name: string, versions: readonly string[], tags: Record<string, string>): Promise<void> => {
    const { json } = await npm().document(name)
    const brief = (await npm().document(name, { accept: 'application/vnd.npm.install-v1+json' })).json
    for (const document of [json, brief]) {
      assert.deepEqual(Object.keys(document.versions), versions)
      assert.deepEqual(Object.keys(document.time), ['created', 'modified', ...versions])
      assert.deepEqual(document['dist-tags'], tags)
    }
    for (const version of versions) {
      const got = await npm().expect({ path: npm().at(`/${name}/-/${name}-${version}.tgz`) }, 200)
      assert.ok(got.bytes.equals(tarballs.get(name)?.get(version) ?? Buffer.alloc(0)), `${name}@${version}`)
    }
  }
  const allAreThere = async (): Promise<void> => {
    for (const [name, versions] of tarballs) {
      const { json } = await npm().document(name)
      const those = [...versions.keys()]
      await isThere(name, those, { latest: those.at(-1) ?? '' })
      assert.equal(json._id, name)
    }
  }

  describe(`killed during a change of an npm package${objectStore ? ' in an object store' : ''}`, () => {
    for (const [where, settings, points, size] of [
      ['in the store', inTheStore, published, 150_000],
      // Of which not all is in memory before room is set aside.
      ['of much in the store', inTheStore, ['publish.reserved', 'publish.staged'], 400_000],
      ['in the database', inTheDatabase, publishedInline, 1_000],
    ] as const)
      for (const point of points)
        it(`a publish by two ${where}, at ${point}: all of it is there or nothing, and it can be tried again`, async () => {
          await lives(settings)
          const name = `published-${point}-${where.replaceAll(' ', '-')}`
          await publish(name, '1.0.0')
          const tarball = await tarballFor(name, '1.1.0', size)
          const { document } = await publishDocument({ name, version: '1.1.0' }, { tarball })
          const put = (): Promise<Told> =>
            site.ask({ method: 'PUT', path: npm().at(`/${name}`), credential: site.credential, json: document })
          await site.dieAt(point)
          const answers = await Promise.all([answerOrNone(put()), answerOrNone(put())])
          // Who comes second may be told that the number is taken before the first one hears that it has it.
          assert.ok(answers.every((answer) => answer === null || answer.status === 409))
          await site.died()
          await lives(settings)
          await site.inOrder()
          const isCommitted = point === 'publish.committed'
          if (isCommitted) note(name, '1.1.0', tarball)
          await allAreThere()
          const statuses = (await Promise.all([put(), put()])).map(({ status }) => status)
          assert.deepEqual(statuses.toSorted(), isCommitted ? [409, 409] : [201, 409])
          note(name, '1.1.0', tarball)
          await allAreThere()
        })

    for (const point of ['reclaim.given-up', 'reclaim.removed'] as const)
      it(`at ${point}, while a version is given up: its number stays taken, and its bytes can come again`, async () => {
        await lives(inTheStore)
        const name = `given-up-${point}`
        const first = await tarballFor(name, '1.0.0', 150_000)
        for (const version of ['1.0.0', '1.0.1'])
          await npm().publish({ name, version }, version === '1.0.0' ? { tarball: first } : {})
        await expectAnswer(
          site,
          { method: 'DELETE', path: npm().at(`/${name}/-/${name}-1.0.0.tgz/-rev/0`), credential: keeper },
          200,
        )
        await site.stop()
        await site.liveUntil(point, soon)
        await lives(soon)
        await site.inOrder()
        await npm().publish({ name, version: '1.0.0' }, { tarball: first }, 409)
        const path = '/api/v1/repositories/releases/raw/again'
        await npm().expect({ method: 'PUT', path, body: first }, 201)
        assert.ok((await npm().expect({ path }, 200)).bytes.equals(first))
        await site.inOrder()
        assert.deepEqual(Object.keys((await documentOf(name)).versions), ['1.0.1'])
      })

    // What is no bytes has nothing to do with where they are.
    if (objectStore) return

    const prepare = async (name: string): Promise<void> => {
      await lives()
      for (const version of ['1.0.0', '1.1.0', '1.2.0']) await publish(name, version)
    }
    /** Dies at a point of a change; afterwards the package is as before, or as afterwards. */
    const dies = async (point: FaultPoint, request: () => Promise<Ask>, isAsBefore: () => Promise<void>) => {
      const wanted = await request()
      await isAsBefore()
      await site.dieAt(point)
      assert.equal(await answerOrNone(site.ask({ credential: keeper, ...wanted })), null)
      await site.died()
      await lives()
      await site.inOrder()
      if (point === 'npm.told') {
        await isAsBefore()
        await expectAnswer(site, { credential: keeper, ...(await request()) }, 200)
      }
    }
    const all = ['1.0.0', '1.1.0', '1.2.0']

    for (const point of changed) {
      it(`a tag that is moved, at ${point}: it is where it was, or where it should be`, async () => {
        const name = `tagged-${point}`
        await prepare(name)
        const path = npm().at(`/-/package/${name}/dist-tags/stable`)
        await npm().expect({ method: 'PUT', path, json: '1.0.0' }, 200)
        const move = async () => ({ method: 'PUT', path, json: '1.1.0', credential: site.credential })
        await dies(point, move, () => isThere(name, all, { latest: '1.2.0', stable: '1.0.0' }))
        await isThere(name, all, { latest: '1.2.0', stable: '1.1.0' })
        const remove = async () => ({ method: 'DELETE', path, credential: site.credential })
        await dies(point, remove, () => isThere(name, all, { latest: '1.2.0', stable: '1.1.0' }))
        await isThere(name, all, { latest: '1.2.0' })
      })

      it(`a deprecation, at ${point}: it is said or it is not`, async () => {
        const name = `deprecated-${point}`
        await prepare(name)
        const json = await documentOf(name)
        json.versions['1.1.0'].deprecated = 'old'
        const path = npm().at(`/${name}`)
        const before = async () => assert.equal((await documentOf(name)).versions['1.1.0'].deprecated, undefined)
        await dies(point, async () => ({ method: 'PUT', path, json, credential: site.credential }), before)
        assert.equal((await documentOf(name)).versions['1.1.0'].deprecated, 'old')
        await isThere(name, all, { latest: '1.2.0' })
      })

      it(`versions that are taken away and brought back, at ${point}: each with its tags and its bytes`, async () => {
        const name = `shortened-${point}`
        await prepare(name)
        const gone = tarballs.get(name)?.get('1.2.0') ?? Buffer.alloc(0)
        const before = () => isThere(name, all, { latest: '1.2.0' })
        const shortened = async () => {
          const json = await documentOf(name)
          delete json.versions['1.2.0']
          return { method: 'PUT', path: npm().at(`/${name}/-rev/${json._rev}`), json }
        }
        await dies(point, shortened, before)
        const left = () => isThere(name, ['1.0.0', '1.1.0'], { latest: '1.1.0' })
        await left()
        const back = async () => ({
          method: 'POST',
          path: '/api/v1/repositories/releases/npm/versions/restore',
          json: { package: name, version: '1.2.0' },
          credential: site.credential,
        })
        await dies(point, back, left)
        note(name, '1.2.0', gone)
        await isThere(name, all, { latest: '1.1.0' })
        tarballs.delete(name)
      })

      it(`a package that is taken away, at ${point}: it is there whole, or gone`, async () => {
        const name = `removed-${point}`
        await prepare(name)
        const remove = async () => ({
          method: 'DELETE',
          path: npm().at(`/${name}/-rev/${(await documentOf(name))._rev}`),
        })
        await dies(point, remove, () => isThere(name, all, { latest: '1.2.0' }))
        tarballs.delete(name)
        await npm().expect({ path: npm().at(`/${name}`) }, 404)
        await npm().publish({ name, version: '1.2.0' }, {}, 409)
      })
    }

    for (const mode of ['copy', 'move'] as const)
      for (const point of promoted)
        it(`a promotion as ${mode}, at ${point}: it is there whole or not at all, and can be asked for again`, async () => {
          await lives()
          const name = `${mode}-${point}`
          for (const version of ['1.0.0', '1.1.0']) await publish(name, version)
          const json = { package: name, version: '1.1.0', target: 'far', mode, tags: ['next'], stages: ['tested'] }
          const promotion = { path: '/api/v1/repositories/releases/npm/promote', json, credential: promoter }
          const far = npmPublisher(site, promoter, 'far')
          await site.dieAt(point)
          assert.equal(await answerOrNone(site.ask(promotion)), null)
          await site.died()
          await lives()
          await site.inOrder()
          const isCommitted = point === 'npm-promotion.committed'
          if (!isCommitted) {
            await far.expect({ path: far.at(`/${name}`) }, 404)
            await isThere(name, ['1.0.0', '1.1.0'], { latest: '1.1.0' })
          }
          const told = await expectAnswer(site, promotion, isCommitted ? 200 : 201)
          assert.deepEqual(told.json.stages, ['tested'])
          const there = (await far.document(name)).json
          assert.deepEqual(
            [Object.keys(there.versions), there['dist-tags']],
            [['1.1.0'], { latest: '1.1.0', next: '1.1.0' }],
          )
          const { bytes } = await far.expect({ path: far.at(`/${name}/-/${name}-1.1.0.tgz`) }, 200)
          assert.ok(bytes.equals(tarballs.get(name)?.get('1.1.0') ?? Buffer.alloc(0)))
          if (mode === 'copy') await isThere(name, ['1.0.0', '1.1.0'], { latest: '1.1.0' })
          else await isThere(name, ['1.0.0'], { latest: '1.0.0' })
          tarballs.delete(name)
        })

    it('at npm.unpublished, between the versions of a large package: who tries again ends it', async () => {
      await lives(inTheDatabase)
      const name = 'large'
      const count = npmVersionsPerRemoval + 3
      const goes = Array.from({ length: npmVersionsPerRemoval }, (_, minor) => `1.${minor}.0`)
      for (let at = 0; at < goes.length; at += 25)
        await Promise.all(goes.slice(at, at + 25).map((version) => publish(name, version)))
      // What comes last goes last.
      for (let minor = npmVersionsPerRemoval; minor < count; minor++) await publish(name, `1.${minor}.0`)
      const remove = async (): Promise<Ask> => ({
        method: 'DELETE',
        path: npm().at(`/${name}/-rev/${(await documentOf(name))._rev}`),
        credential: keeper,
      })
      const request = await remove()
      await site.dieAt('npm.unpublished')
      assert.equal(await answerOrNone(site.ask(request)), null)
      await site.died()
      await lives()
      await site.inOrder()
      const left = Array.from({ length: 3 }, (_, index) => `1.${npmVersionsPerRemoval + index}.0`)
      await isThere(name, left, { latest: left.at(-1) ?? '' })
      await expectAnswer(site, await remove(), 200)
      tarballs.delete(name)
      await npm().expect({ path: npm().at(`/${name}`) }, 404)
      await site.inOrder()
      await allAreThere()
    })
  })
}

forEachEngine((engine) => changesDie(engine, { objectStore: false }))
onPostgres((engine) => changesDie(engine, { objectStore: true }))
