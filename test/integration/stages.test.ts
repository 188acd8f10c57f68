import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, it } from 'node:test'
import { stagesPerArtifactMax } from '../../src/kernel/limits/catalog.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'

after(closeConnections)

interface Entry {
  readonly artifactId: string
  readonly stage: string
}

forEachEngine((engine) => {
  let catalog: Catalog
  before(async () => {
    catalog = await Catalog.open(engine)
  })
  after(() => catalog.inspection.inOrder())
  after(() => catalog.close())
  afterEach(() => catalog.inspection.sums())

  const put = (id: string, stage: string, json: unknown = {}, credential?: string): Promise<Told> =>
    catalog.ask({
      method: 'PUT',
      path: `/artifacts/${id}/stages/${stage}`,
      json,
      ...(credential === undefined ? {} : { credential }),
    })
  const add = async (id: string, stage: string, json: unknown = {}): Promise<Told['json']> => {
    const told = await put(id, stage, json)
    assert.equal(told.status, 200, told.text)
    return told.json
  }
  const remove = async (id: string, stage: string): Promise<void> => {
    const told = await catalog.ask({ method: 'DELETE', path: `/artifacts/${id}/stages/${stage}` })
    assert.deepEqual([told.status, told.text], [204, ''])
  }
  const stagesOf = async (id: string): Promise<string[]> =>
    (await catalog.get(`/artifacts/${id}/stages`)).items.map(({ stage }: Entry) => stage)
  /** Everything of a list, page by page. */
  const all = async (path: string): Promise<Told['json'][]> => {
    const items: Told['json'][] = []
    for (let next: string | null = ''; next !== null; ) {
      const page: Told['json'] = await catalog.get(`${path}${next === '' ? '' : `&after=${encodeURIComponent(next)}`}`)
      items.push(...page.items)
      next = page.next
    }
    return items
  }
  const pairs = (entries: Entry[]): string[] => entries.map(({ artifactId, stage }) => `${artifactId}/${stage}`)

  describe('a stage', () => {
    it('is given once, and keeps its time, its actor and its comment whoever gives it again', async () => {
      const id = await catalog.published()
      const actor = `account:${catalog.writer.id}`
      const first = await add(id, 'tested', { comment: 'all green ✓' })
      assert.deepEqual(first, {
        artifactId: id,
        stage: 'tested',
        promotedAt: first.promotedAt,
        actor,
        comment: 'all green ✓',
      })
      catalog.service.clock.advance(60_000)
      for (const json of [{}, { comment: null }, { comment: 'another' }]) {
        assert.deepEqual(await add(id, 'tested', json), first)
        assert.deepEqual((await put(id, 'tested', json, catalog.keeper)).json, first)
      }
      assert.equal((await add(id, '0.rc_x-1')).comment, null)
      assert.deepEqual(await stagesOf(id), ['0.rc_x-1', 'tested'])
      assert.deepEqual((await catalog.get(`/artifacts/${id}/stages`)).items[1], {
        ...first,
        actorName: catalog.writer.name,
      })
      for (let n = 0; n < 2; n++) await remove(id, 'tested')
      await remove(id, 'never')
      const again = await add(id, 'tested')
      assert.ok(again.promotedAt > first.promotedAt, 'it was taken and given anew')
      assert.deepEqual(
        (await catalog.journal(id)).slice(1).map(({ action, detail, comment }) => [action, detail, comment]),
        [
          ['stage.added', 'tested', 'all green ✓'],
          ['stage.added', '0.rc_x-1', null],
          ['stage.removed', 'tested', null],
          ['stage.added', 'tested', null],
        ],
      )
    })

    it('keeps the file from being deleted until it is taken', async () => {
      const id = await catalog.published()
      await add(id, 'released')
      assert.deepEqual(await catalog.blockers(id), ['promotion_stage'])
      assert.deepEqual((await catalog.remove(id)).json.blockers, ['promotion_stage'])
      await remove(id, 'released')
      assert.equal((await catalog.remove(id)).json.outcome, 'deleted')
    })

    it('is refused to readers, on what is not published, and with a name or comment that is none', async () => {
      const id = await catalog.published()
      assert.equal((await put(id, 'x', {}, catalog.reader.token)).status, 403)
      for (const stage of ['X', '-a', '.a', '_', 'a%20b', 'ä', 'a'.repeat(33), 'a%2Fb', '%00'])
        assert.equal((await put(id, stage)).status, 400, stage)
      for (const comment of ['x'.repeat(1025), 7, 'a\u0000'])
        assert.deepEqual((await put(id, 'x', { comment })).json.details[0].pointer, '/comment')
      assert.equal((await put(id, 'x', { remark: 'x' })).status, 400)
      await add(id, 'a'.repeat(32), { comment: '😀'.repeat(1024) })
      await remove(id, 'a'.repeat(32))
      await catalog.remove(id)
      for (const missing of [id, randomUUID()]) {
        assert.equal((await put(missing, 'x')).status, 404)
        await catalog.expect({ method: 'DELETE', path: `/artifacts/${missing}/stages/x` }, 404)
        await catalog.expect({ path: `/artifacts/${missing}/stages` }, 404)
        await catalog.expect({ path: `/artifacts/${missing}/promotions` }, 404)
      }
    })

    it('is one of sixteen at most, also when many are given at once', async () => {
      const id = await catalog.published()
      const told = await Promise.all(Array.from({ length: 24 }, (_, n) => put(id, `s${n}`)))
      assert.equal(told.filter(({ status }) => status === 200).length, stagesPerArtifactMax)
      for (const { status, json } of told.filter((each) => each.status !== 200))
        assert.deepEqual([status, json.code], [409, 'stage_limit'])
      const [present = ''] = await stagesOf(id)
      await add(id, present)
      await remove(id, present)
      await add(id, 'last')
      assert.equal((await stagesOf(id)).length, stagesPerArtifactMax)
    })

    it('given by many at once is one stage and one line', async () => {
      const id = await catalog.published()
      const told = await Promise.all(Array.from({ length: 8 }, (_, n) => put(id, 'shared', { comment: `${n}` })))
      for (const { json } of told) assert.deepEqual(json, told[0]?.json)
      assert.equal((await catalog.journal(id)).length, 2)
    })

    it('is given or the file deleted, whichever comes first', async () => {
      for (let round = 0; round < 10; round++) {
        const id = await catalog.published()
        const [told, removed] = await Promise.all([put(id, 'race'), catalog.remove(id)])
        assert.deepEqual(
          [told.status, removed.json.outcome],
          told.status === 200 ? [200, 'protected'] : [404, 'deleted'],
          removed.text,
        )
      }
    })
  })

  describe('the stages of a repository', () => {
    it('are listed by file and stage, whole or in pages, of one stage and of some files', async () => {
      const ids = [await catalog.published(), await catalog.published(), await catalog.published()].sort()
      const [a = '', b = '', c = ''] = ids
      const mine = (entries: Entry[]): Entry[] => entries.filter(({ artifactId }) => ids.includes(artifactId))
      for (const [id, stages] of [
        [c, ['qa', 'approved']],
        [a, ['qa', 'zz', '0']],
        [b, ['approved']],
      ] as const)
        for (const stage of stages) await add(id, stage)
      const expected = [`${a}/0`, `${a}/qa`, `${a}/zz`, `${b}/approved`, `${c}/approved`, `${c}/qa`]
      const of = (stage: string): string[] => expected.filter((each) => each.endsWith(`/${stage}`))
      for (const limit of [1, 2, 3, 100]) {
        assert.deepEqual(pairs(mine(await all(`/stages?limit=${limit}`))), expected)
        for (const stage of ['qa', 'approved', 'none'])
          assert.deepEqual(pairs(mine(await all(`/stages?limit=${limit}&stage=${stage}`))), of(stage))
        assert.deepEqual(pairs(await all(`/stages?limit=${limit}&ids=${[c, a, randomUUID(), a].join()}`)), [
          ...expected.slice(0, 3),
          ...expected.slice(4),
        ])
        assert.deepEqual(pairs(await all(`/stages?limit=${limit}&stage=qa&ids=${[a, b].join()}`)), [`${a}/qa`])
      }
      for (const start of ['0', 'a', 'qa', 'zzz'])
        for (const stage of ['approved', 'qa']) {
          const page = await catalog.get(`/stages?stage=${stage}&after=${a}/${start}`)
          const cursor = `${a}/${start}`
          assert.deepEqual(
            pairs(mine(page.items)),
            of(stage).filter((each) => each > cursor),
            cursor,
          )
        }
      const { name } = (await catalog.get(`/artifacts/${a}`)).descriptor
      assert.deepEqual(
        (await catalog.get(`/stages?ids=${a}`)).items,
        (await catalog.get(`/artifacts/${a}/stages`)).items.map((each: Entry) => ({ ...each, artifactName: name })),
      )
    })

    it('are asked for with cursors, ids and limits that are some', async () => {
      const hundred = Array.from({ length: 100 }, () => randomUUID())
      assert.deepEqual(await catalog.get(`/stages?ids=${hundred.join()}`), { items: [], next: null })
      const wrong = [
        'stage=X',
        'ids=',
        'ids=x',
        `ids=${hundred[0]},`,
        `ids=${[...hundred, randomUUID()].join()}`,
        'after=x',
        `after=${hundred[0]}`,
        `after=${hundred[0]}/X`,
        'limit=0',
        'limit=101',
        'limit=x',
      ]
      for (const query of wrong) assert.equal((await catalog.ask({ path: `/stages?${query}` })).status, 400, query)
    })
  })

  describe('the promotion journal', () => {
    it('tells of each stage that came or went, of a file and of the repository, page by page', async () => {
      const [first, second] = [await catalog.published(), await catalog.published()]
      const before = (await all('/promotions?limit=100')).at(-1)?.sequence ?? '0'
      const one = await add(first, 'qa', { comment: 'fine' })
      await add(second, 'qa')
      await remove(first, 'qa')
      await catalog.expect({ path: `/artifacts/${first}/references`, json: { key: 'x' } }, 204)
      await add(first, 'released')
      const told = await catalog.get(`/promotions?after=${before}`)
      assert.equal(told.next, null)
      const [added] = told.items
      assert.deepEqual(added, {
        sequence: added.sequence,
        repository: catalog.repository,
        artifactId: first,
        image: null,
        digest: null,
        action: 'stage.added',
        stage: 'qa',
        mode: null,
        peerRepository: null,
        peerArtifactId: null,
        peerImage: null,
        package: null,
        version: null,
        actor: `account:${catalog.writer.id}`,
        actorName: catalog.writer.name,
        comment: 'fine',
        occurredAt: one.promotedAt,
      })
      const seen = told.items.map((each: Told['json']) => [each.artifactId, each.action, each.stage])
      assert.deepEqual(seen, [
        [first, 'stage.added', 'qa'],
        [second, 'stage.added', 'qa'],
        [first, 'stage.removed', 'qa'],
        [first, 'stage.added', 'released'],
      ])
      const ofFirst = told.items.filter(({ artifactId }: Entry) => artifactId === first)
      for (const limit of [1, 2, 3]) {
        assert.deepEqual(await all(`/artifacts/${first}/promotions?limit=${limit}`), ofFirst)
        const later = (await all(`/promotions?limit=${limit}`)).filter(
          ({ sequence }) => Number(sequence) > Number(before),
        )
        assert.deepEqual(later, told.items)
      }
      const end = told.items.at(-1).sequence
      assert.deepEqual(await catalog.get(`/promotions?after=${end}`), { items: [], next: null })
      assert.deepEqual(await catalog.get('/promotions?after=999999999999999'), { items: [], next: null })
      for (const query of ['after=-1', 'after=x', 'after=', 'after=01', 'limit=0', 'limit=101'])
        for (const path of ['/promotions', `/artifacts/${first}/promotions`])
          assert.equal((await catalog.ask({ path: `${path}?${query}` })).status, 400, query)
    })
  })
})
