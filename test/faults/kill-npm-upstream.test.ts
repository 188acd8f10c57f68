import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { FaultPoint } from '../../src/kernel/fault-points.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine, type TestEngine } from '../harness/engines.ts'
import { type HostileRegistry, startHostileRegistry } from '../harness/hostile-registry.ts'
import { inTheDatabase, inTheStore } from '../harness/kept-inline.ts'
import { packed } from '../harness/npm-documents.ts'
import { lookThrough, npmClient } from '../harness/npm-upstreams.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'
import { inDatabase } from '../harness/rows.ts'
import { until } from '../harness/until.ts'
import type { Site } from './site.ts'
import { siteOfDeaths } from './site-of-deaths.ts'
import { answerOrNone, bytesOf } from './uploads.ts'

/** Sudden death while something is fetched from an upstream: nothing half of it is seen, and the next one has it. */
endProgramsAfterTests()
after(closeConnections)

const documentPoints: readonly FaultPoint[] = ['npm-upstream.came', 'npm-upstream.told', 'npm-upstream.committed']
const tarballPoints: readonly FaultPoint[] = [
  'publish.reserved',
  'publish.staged',
  'publish.announced',
  'publish.placed',
  'publish.committed',
]
const tarballPointsInline: readonly FaultPoint[] = ['publish.staged', 'publish.committed']

const fetchesDie = (engine: TestEngine): void => {
  let registry: HostileRegistry
  let site: Site
  siteOfDeaths(engine, { settings: { SVC_NPM_UPSTREAM_ALLOW_PRIVATE: '127.0.0.0/8' } }, (made) => {
    site = made
  })
  before(async () => {
    registry = await startHostileRegistry()
    await lookThrough(site, 'releases', { url: registry.url, freshSeconds: 0 })
  })
  after(() => registry.leave())

  const client = () => npmClient(site, site.credential)
  const kept = () =>
    inDatabase(site, async (q) => ({
      documents: (await q.selectFrom('npm_cached_packages').select('name').where('bytes', '>', 0).execute()).map(
        ({ name }) => name,
      ),
      tarballs: (await q.selectFrom('npm_cached_versions').select('name').execute()).map(({ name }) => name),
    }))
  const dies = async (point: FaultPoint, ask: () => Promise<Told>): Promise<void> => {
    await site.dieAt(point)
    assert.equal(await answerOrNone(ask()), null)
    await site.died()
  }

  describe('killed while something comes from an upstream', () => {
    for (const point of documentPoints)
      it(`a document, at ${point}: it is kept whole or not at all`, async () => {
        await site.live()
        const name = `document-${point}`
        await registry.publish({ name, version: '1.0.0' })
        const before = await client().document(name)
        assert.equal(before.status, 200, before.text)
        await registry.publish({ name, version: '2.0.0' })
        await dies(point, () => client().document(name))
        await site.live()
        await site.inOrder()
        const { json } = await client().document(name)
        assert.deepEqual(Object.keys(json.versions), ['2.0.0'])
        await site.inOrder()
      })

    for (const [where, settings, points, size] of [
      ['in the store', inTheStore, tarballPoints, 150_000],
      ['in the database', inTheDatabase, tarballPointsInline, 1_000],
    ] as const)
      for (const point of points)
        it(`a tarball ${where}, at ${point}: it is kept whole or not at all, and can be fetched again`, async () => {
          await site.stop()
          await site.live(settings)
          const name = `tarball-${point}-${where.replaceAll(' ', '-')}`
          const manifest = { name, version: '1.0.0' }
          const content = bytesOf(`${engine.name} ${name}`, size)
          const tarball = await registry.publish(manifest, {
            tarball: await packed(manifest, [{ name: 'package/data', content }]),
          })
          await dies(point, () => client().tarball(name, '1.0.0'))
          await site.live(settings)
          await site.inOrder()
          assert.equal((await kept()).tarballs.includes(name), point === 'publish.committed')
          assert.ok((await client().tarball(name, '1.0.0')).bytes.equals(tarball))
          await site.inOrder()
        })

    it('in the middle of a tarball: no room stays set aside, and the next one fetches it', async () => {
      await site.stop()
      await site.live(inTheStore)
      const manifest = { name: 'halfway', version: '1.0.0' }
      const tarball = await registry.publish(manifest, {
        tarball: await packed(manifest, [{ name: 'package/data', content: bytesOf('halfway', 400_000) }]),
      })
      const path = '/halfway/-/halfway-1.0.0.tgz'
      registry.at(path, (_request, response) => {
        response.writeHead(200, { 'content-length': tarball.byteLength })
        response.write(tarball.subarray(0, 200_000))
      })
      const waiting = answerOrNone(client().tarball('halfway', '1.0.0'))
      await until('the tarball is on its way', async () => (registry.asked.includes(path) ? true : null))
      site.kill()
      await site.died()
      assert.equal(await waiting, null)
      await registry.publish(manifest, { tarball })
      await site.live(inTheStore)
      await site.inOrder()
      assert.ok(!(await kept()).tarballs.includes('halfway'))
      assert.ok((await client().tarball('halfway', '1.0.0')).bytes.equals(tarball))
      await site.inOrder()
    })
  })
}

forEachEngine(fetchesDie)
