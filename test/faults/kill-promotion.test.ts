import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type FaultPoint, faultPoints } from '../../src/kernel/fault-points.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'
import { type Build, isFair, oneDeed, otherSide, Promoters, type Side, sides, type Wish } from '../harness/promoters.ts'
import { randomOf } from '../harness/random.ts'
import { everyRow } from '../harness/rows.ts'
import { until } from '../harness/until.ts'
import { promotionsAreWhole } from '../harness/whole-promotions.ts'
import { Site } from './site.ts'
import { answerOrNone } from './uploads.ts'

/**
 * Sudden death at each step of a promotion, and at random moments while many promote and write: afterwards the copy,
 * its version, stages and annotations, the lines of both journals and the counters are all there or none of them is,
 * and a promotion that was acknowledged is.
 */
endProgramsAfterTests()
after(closeConnections)

const rounds = 3
const clients = 8
/** So many were acknowledged before the end comes. */
const promotionsFirst = 10
const seed = process.env['SVC_TEST_SEED'] ?? 'kill-promotion'

const points = faultPoints.filter((point) => point.startsWith('promotion.'))
const pointsOf = (mode: Wish['mode']): FaultPoint[] =>
  points.filter((point) => mode === 'move' || point !== 'promotion.moved')

/** What a promotion writes, and what nothing else touches while nobody asks. */
const written = new Set([
  'annotations',
  'artifact_stages',
  'artifacts',
  'blobs',
  'claims',
  'counters',
  'deleted_artifacts',
  'freed_packages',
  'journal',
  'package_stages',
  'packages',
  'promotions',
  'reclaim_candidates',
  'repositories',
  'search_entries',
])

forEachEngine((engine) => {
  let site: Site
  let promoters: Promoters
  before(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'svc-kill-'))
    // Nothing that was deleted is given up: what is compared must not go by itself.
    site = new Site(dataDir, await engine.readyDatabaseUrl(), { SVC_CLEANUP_GRACE_HOURS: '8760' })
    await site.live()
    promoters = await Promoters.on(site)
  })
  after(async () => {
    await site.stop()
    await rm(site.dataDir, { recursive: true, force: true })
  })

  const everything = async (): Promise<string[]> =>
    (await everyRow(site))
      .split('\n')
      .filter((row) => written.has(row.slice(0, row.indexOf(' '))))
      .sort()

  /** Nothing half anywhere, and all that was ever acknowledged. */
  const isWhole = async (): Promise<void> => {
    await site.inOrder()
    promoters.areTold(await promotionsAreWhole(site, sides))
  }

  /** A package version that is annotated, has two stages, and can be fetched. */
  const prepared = async (repository: Side): Promise<Build> => {
    const build = await promoters.make(repository)
    const answers = [
      await promoters.annotate(build),
      await promoters.stage(build, 'tested', 'all green'),
      await promoters.stage(build, 'approved'),
    ]
    for (const told of answers) assert.equal(told.status, 200, told.text)
    return build
  }

  const get = async (build: Build, path: string): Promise<Told['json']> => {
    const told = await promoters.ask(build, { path })
    assert.equal(told.status, 200, told.text)
    return told.json
  }

  describe('killed during a promotion', () => {
    for (const mode of ['copy', 'move'] as const)
      for (const [index, point] of pointsOf(mode).entries())
        it(`as ${mode} at ${point}: it is there whole or not at all, and can be asked for again`, async () => {
          await site.live()
          const build = await prepared(index % 2 === 0 ? 'near' : 'far')
          const { bytes } = await promoters.ask(build, { path: '/content' })
          const stagesBefore = (await get(build, '/stages')).items
          const before = await everything()
          const wish = { mode, stages: ['released'], comment: `${mode} at ${point}` }
          await site.dieAt(point)
          assert.equal(await answerOrNone(promoters.promote(build, wish)), null)
          await site.died()

          await site.live()
          const committed = point === 'promotion.committed'
          await isWhole()
          const left = await everything()
          if (!committed) assert.deepEqual(left, before)

          const again = await promoters.promote(build, wish)
          assert.equal(again.status, committed ? 200 : 201, again.text)
          if (committed) assert.deepEqual(await everything(), left, 'it was there already')
          const copy = { repository: otherSide(build.repository), id: String(again.json.artifactId) }
          assert.deepEqual((await promoters.ask(copy, { path: '/content' })).bytes, bytes)
          assert.deepEqual((await get(copy, '/annotations')).metadata, { said: `${build.id}:1` })
          const carried = (await get(copy, '/stages')).items.map((entry: Told['json']) => ({
            ...entry,
            artifactId: build.id,
          }))
          const kept = carried.filter(({ stage }: { stage: string }) => stage !== 'released')
          assert.deepEqual(kept, mode === 'move' ? stagesBefore : [])
          assert.equal((await promoters.ask(build, { path: '' })).status, mode === 'move' ? 404 : 200)
          const path = '/packages/resolve?group=tools&name=build&stage=released&order=promoted'
          assert.equal((await promoters.askIn(copy.repository, path)).json.artifactId, copy.id)
          promoters.areTold(await promotionsAreWhole(site, sides))
        })
  })

  describe('killed at random moments while many promote and write', () => {
    for (let round = 1; round <= rounds; round++) {
      it(`leaves no half copy and keeps what was acknowledged (round ${round}, seed ${seed})`, async () => {
        await site.live()
        await prepared('near')
        const client = async (name: string): Promise<void> => {
          const random = randomOf(`${seed} ${engine.name} ${name}`)
          for (let count = 0; ; count++) {
            const done = await answerOrNone(oneDeed(promoters, random, `${name}-${count}`))
            if (done === null) return
          }
        }
        const busy = Array.from({ length: clients }, (_, index) => client(`r${round}-c${index}`))
        const soFar = promoters.promoted.length
        await until('they promote', () => promoters.promoted.length >= soFar + promotionsFirst)
        await pause(300 * randomOf(`${seed} moment ${engine.name} ${round}`)())
        site.kill()
        await Promise.all(busy)
        await site.died()

        await site.live()
        await isWhole()
        for (const build of promoters.builds.slice(-8)) {
          const told = await promoters.promote(build, { mode: 'copy', comment: `after round ${round} ${build.id}` })
          assert.ok(isFair(told), told.text)
        }
        await isWhole()
      })
    }
  })
})
