import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { tagsLookedAt, tagsPerPushMax } from '../../src/kernel/limits/oci.ts'
import { hour } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { ImagePlace } from '../harness/image-policies.ts'
import { described, imageType, indexType, type Pushed } from '../harness/images.ts'
import { PolicyBench } from '../harness/policies.ts'

after(closeConnections)

forEachEngine((engine) => {
  let bench: PolicyBench
  before(async () => {
    bench = await PolicyBench.open(engine)
  })
  after(() => bench.inspection.inOrder())
  after(() => bench.close())

  /** Images of a name, tagged so, an hour after each other. */
  const pushed = async (at: ImagePlace, name: string, ...tags: string[]): Promise<Pushed[]> => {
    const all: Pushed[] = []
    for (const tag of tags) all.push(await at.push(name, tag))
    return all
  }
  const keepLast = (count: number, more: object = {}) => ({
    enabled: true,
    grouping: 'package',
    keepLast: count,
    ...more,
  })

  describe('a storage policy and images', () => {
    it('keeps the newest of each name, and shows the others before it deletes them', async () => {
      const at = await ImagePlace.open(bench)
      const [first] = await pushed(at, 'app', '1', '2', '3')
      await pushed(at, 'team/api', 'a', 'b')
      await at.there.save(keepLast(2))
      const preview = await at.preview()
      assert.deepEqual(
        preview.map(({ image, digest, tags }) => ({ image, digest, tags })),
        [{ image: 'app', digest: first?.digest, tags: ['1'] }],
      )
      const told = await at.run()
      assert.deepEqual(told, [{ image: 'app', digest: first?.digest, outcome: 'deleted', blockers: [] }])
      assert.deepEqual(await at.tags('app'), ['2', '3'])
      assert.deepEqual(await at.tags('team/api'), ['a', 'b'])
      assert.deepEqual(await at.preview(), [])
      assert.equal((await at.there.get('/storage/policy')).lastDeletedImages, 1)
    })

    it('deletes by taking tags away: told by the journal, undone within the grace period', async () => {
      const at = await ImagePlace.open(bench)
      const [old] = await pushed(at, 'app', 'old', 'new')
      assert.ok(old !== undefined)
      await at.tag('app', old, 'older')
      await at.push('app', 'newer')
      await at.push('app', 'newest')
      await at.there.save(keepLast(2))
      await at.run()
      assert.deepEqual(await at.tags('app'), ['newer', 'newest'])
      assert.deepEqual(
        (await at.removals()).toSorted((a, b) => (a.detail < b.detail ? -1 : 1)),
        ['new', 'old', 'older'].map((tag) => ({ detail: `app:${tag}`, actor: at.there.actor })),
      )
      await at.isThere('app', old)
      const removed = await at.there.get('/images/tags/removed?image=app')
      assert.equal(removed.items.length, 3)
      const back = { image: 'app', tag: 'back', digest: old.digest }
      bench.service.clock.advance(hour)
      await at.there.expect({ method: 'PUT', path: '/images/tags', json: back }, 200)
      assert.deepEqual(await at.going(), ['app:newer'])
    })

    it('goes by the newest move: what a tag came to last is newest, however old it is', async () => {
      const at = await ImagePlace.open(bench)
      const [first] = await pushed(at, 'app', '1', '2', '3')
      assert.ok(first !== undefined)
      await at.tag('app', first, 'latest')
      await at.there.save(keepLast(2))
      assert.deepEqual(await at.going(), ['app:2'])
      // Without the tag it is as old as the one before.
      await at.expect({ method: 'DELETE', path: `/v2/${at.whole('app')}/manifests/latest` }, 202)
      assert.deepEqual(await at.going(), ['app:1'])
    })

    it('counts an index once, with what it lists, tagged or not', async () => {
      const at = await ImagePlace.open(bench)
      const indexes: Pushed[] = []
      for (const tag of ['1', '2', '3']) {
        const amd64 = await at.push('app', `${tag}-amd64`)
        const arm64 = await at.untagged('app')
        indexes.push(await at.index('app', tag, [amd64, arm64]))
      }
      await at.there.save(keepLast(2))
      assert.deepEqual(await at.going(), ['app:1'])
      await at.run()
      const left = ['1-amd64', '2', '2-amd64', '3', '3-amd64']
      assert.deepEqual(await at.tags('app'), left)
      // Until it is gone for good it can come back, and keeps what it lists.
      assert.deepEqual(await at.going(), [])
      const [gone] = indexes
      assert.ok(gone !== undefined)
      await at.expect({ method: 'DELETE', path: `/v2/${at.whole('app')}/manifests/${gone.digest}` }, 202)
      assert.deepEqual(await at.going(), ['app:1-amd64'])
    })

    it('never counts what refers to an image, nor what is tagged after one', async () => {
      const at = await ImagePlace.open(bench)
      const [first, second] = await pushed(at, 'app', '1', '2')
      assert.ok(first !== undefined && second !== undefined)
      await at.push('app', 'signed', { subject: described(second.text, imageType) })
      const called = `sha256-${first.digest.slice(7)}`
      await at.push('app', `${called}.sig`)
      await at.index('app', called, [await at.untagged('app')])
      await at.there.save(keepLast(1))
      assert.deepEqual(await at.going(), ['app:1'])
      const [decision, code] = await at.explain('app', 'signed').then((told) => [told.decision, told.reasons[0].code])
      assert.deepEqual([decision, code], ['not_covered', 'not_counted'])
      await at.run()
      assert.deepEqual(await at.going(), [])
      // Without what it is about it is an image like others, and newer.
      await at.expect({ method: 'DELETE', path: `/v2/${at.whole('app')}/manifests/${second.digest}` }, 202)
      assert.deepEqual(await at.going(), [])
      assert.equal((await at.explain('app', 'signed')).reasons[0].code, 'newest_in_package')
    })

    it('keeps what a stage, an immutable tag or a protected label is at, by its name or a pattern', async () => {
      const at = await ImagePlace.open(bench)
      await pushed(at, 'app', 'a', 'golden', 'v1', 'lts-3', 'staged', 'b')
      await at.there.save(keepLast(1, { protectedLabels: ['golden', 'lts-*'] }))
      await at.immutable('v*')
      const stage = { method: 'PUT', path: '/images/stages/tested', json: { image: 'app', reference: 'staged' } }
      await at.there.expect(stage, 200)
      assert.deepEqual(await at.going(), ['app:a'])
      const told = await Promise.all(['golden', 'v1', 'lts-3', 'staged'].map((tag) => at.explain('app', tag)))
      assert.deepEqual(
        told.map(({ decision, blockers, reasons }) => [decision, blockers, reasons[0].text]),
        [
          ['kept', ['protected_label'], 'A tag of it matches “golden”, which the policy protects.'],
          ['kept', ['immutable_tag'], 'A tag of it matches “v*”, which the repository has among its immutable tags.'],
          ['kept', ['protected_label'], 'A tag of it matches “lts-*”, which the policy protects.'],
          ['kept', ['promotion_stage'], 'It has reached a stage, and keeps it until the stage is removed.'],
        ],
      )
      await at.run()
      assert.deepEqual(await at.tags('app'), ['b', 'golden', 'lts-3', 'staged', 'v1'])
    })

    it('counts channels by their tags, and what is in none by itself', async () => {
      const at = await ImagePlace.open(bench)
      await pushed(at, 'app', 'nightly-1', 'a', 'nightly-2', 'b', 'nightly-3', 'c', 'stable')
      const channels = [
        { label: 'nightly-*', keepLast: 1 },
        { label: 'stable', keepLast: 1 },
      ]
      await at.there.save(keepLast(2, { grouping: 'package-channel', channels }))
      assert.deepEqual(await at.going(), ['app:nightly-1', 'app:a', 'app:nightly-2'])
      await at.there.save(keepLast(2, { grouping: 'package', channels }))
      assert.deepEqual(await at.going(), ['app:nightly-1', 'app:a', 'app:nightly-2', 'app:b'])
      assert.match(
        (await at.explain('app', 'nightly-3')).reasons[0].text,
        /newest 1 of app with the label “nightly-\*”/,
      )
    })

    it('counts all images of a repository together where its grouping says so, and files apart', async () => {
      const at = await ImagePlace.open(bench)
      const version = await at.there.version('tool', '1.0.0')
      await pushed(at, 'app', '1', '2')
      await pushed(at, 'other', 'x', 'y')
      await at.there.save(keepLast(3, { grouping: 'repository' }))
      assert.deepEqual(await at.going(), ['app:1'])
      assert.deepEqual((await at.there.get('/storage/preview')).items, [])
      const newer = await Promise.all(['1.0.1', '1.0.2', '1.0.3'].map((each) => at.there.version('tool', each)))
      assert.equal(newer.length, 3)
      const { items, images, hasMore } = await at.there.get('/storage/preview')
      assert.deepEqual([items.map(({ id }: { id: string }) => id), images.length, hasMore], [[version], 1, false])
    })

    it('looks at all tags of an image, however many it has', async () => {
      const at = await ImagePlace.open(bench)
      const first = await at.push('app', 'first')
      const many = Array.from({ length: tagsLookedAt + 1 }, (_, n) => `n${n}`)
      for (let from = 0; from < many.length; from += tagsPerPushMax)
        await at.tag('app', first, ...many.slice(from, from + tagsPerPushMax))
      await at.push('app', 'newest')
      await at.there.save(keepLast(1, { protectedLabels: ['never'] }))
      assert.equal((await at.going()).length, 1)
      await at.tag('app', first, 'zz')
      await at.push('app', 'newest')
      await at.there.save(keepLast(1, { protectedLabels: ['zz'] }))
      assert.deepEqual(await at.going(), [])
      assert.deepEqual((await at.explain('app', 'zz')).blockers, ['protected_label'])
    })

    it('keeps what is not old enough, and says from when on it is', async () => {
      const at = await ImagePlace.open(bench)
      await pushed(at, 'app', '1', '2', '3')
      await at.there.save(keepLast(1, { minAgeHours: 2 }))
      assert.deepEqual(await at.going(), ['app:1'])
      const { decision, reasons, deletableAt } = await at.explain('app', '2')
      assert.deepEqual([decision, reasons[0].code], ['kept', 'too_young'])
      bench.service.clock.advance(Date.parse(deletableAt) - bench.service.clock.now() + 1)
      assert.deepEqual(await at.going(), ['app:1', 'app:2'])
    })

    it('explains what a run would do, also while it is disabled, to those who may know', async () => {
      const at = await ImagePlace.open(bench)
      const [first] = await pushed(at, 'app', '1', '2')
      await at.there.save({ ...keepLast(1), enabled: false })
      const told = await at.explain('app', '1')
      const { image, digest, decision, deletableAt, policy } = told
      assert.deepEqual([image, digest, decision], ['app', first?.digest, 'deletable'])
      assert.equal(told.reasons[0].code, 'policy_disabled')
      assert.ok(Date.parse(deletableAt) <= bench.service.clock.now())
      assert.equal(policy.enabled, false)
      assert.equal((await at.explain('app', digest)).decision, 'deletable')
      const reader = await at.there.another('artifact.read')
      const path = '/images/explain?image=app&reference=1'
      const asReader = await at.there.expect({ path, credential: reader.secret }, 200)
      assert.deepEqual([asReader.json.policy, asReader.json.reasons[0].code], [null, 'deletable'])
      await at.there.expect({ path: '/images/explain?image=app&reference=never' }, 404)
      await at.there.expect({ path: '/images/explain?image=app' }, 400, 'invalid_request')
    })

    it('lets an index of another be one of it', async () => {
      const at = await ImagePlace.open(bench)
      const inner = await at.index('app', 'inner', [await at.push('app', 'leaf')])
      await at.push('app', 'beside')
      assert.equal(inner.type, indexType)
      await at.index('app', 'outer', [inner])
      await at.there.save(keepLast(1))
      assert.deepEqual(await at.going(), ['app:beside'])
    })
  })

  it('a run that is done by hand twice at once deletes each once', async () => {
    const at = await ImagePlace.open(bench)
    await pushed(at, 'app', '1', '2', '3', '4')
    await at.there.save(keepLast(1))
    const [one, two] = await Promise.all([at.run(), at.run()])
    const deleted = [...one, ...two].filter(({ outcome }) => outcome === 'deleted')
    assert.equal(deleted.length, 3)
    assert.equal(new Set(deleted.map(({ digest }) => digest)).size, 3)
    assert.deepEqual(await at.tags('app'), ['4'])
  })
})
