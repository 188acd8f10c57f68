import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, it } from 'node:test'
import { hour } from '../../src/kernel/units.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { PolicyBench, type PolicyPlace } from '../harness/policies.ts'

after(closeConnections)

forEachEngine((engine) => {
  let bench: PolicyBench
  before(async () => {
    bench = await PolicyBench.open(engine)
  })
  after(() => bench.inspection.inOrder())
  after(() => bench.close())
  afterEach(() => bench.inspection.sums())

  const now = (): string => new Date(bench.service.clock.now()).toISOString()
  const idsIn = (told: Told['json']): string[] => told.items.map((each: Told['json']) => each.id)
  const preview = (there: PolicyPlace, json: object): Promise<Told> =>
    there.ask({ method: 'POST', path: '/retention/preview', json })
  const apply = (there: PolicyPlace, json: object): Promise<Told> =>
    there.ask({ method: 'POST', path: '/retention/apply', json })

  describe('retention by criteria', () => {
    it('shows what was published before a moment, page by page, each with what keeps it', async () => {
      const there = await bench.fresh()
      const [plain, referred, golden] = [await there.file(), await there.file(), await there.file(['golden'])]
      const shown = await there.version('a', '1.0.0')
      await there.refer(referred)
      bench.service.clock.advance(hour)
      const publishedBefore = now()
      bench.service.clock.advance(1)
      const late = await there.file()
      const criteria = { publishedBefore, protectedLabels: ['golden', 'silver'] }
      const { json } = await preview(there, { criteria })
      assert.deepEqual(
        json.items.map((each: Told['json']) => [each.id, each.blockers]),
        [
          [plain, []],
          [referred, ['reference']],
          [golden, ['protected_label']],
          [shown, []],
        ],
      )
      assert.equal(json.next, null)
      const { descriptor } = await there.get(`/artifacts/${plain}`)
      const { name, size, annotationRevision, publishedAt } = json.items[0]
      assert.deepEqual([name, size, annotationRevision], [descriptor.name, descriptor.size, 0])
      assert.ok(publishedAt < publishedBefore)
      const first = (await preview(there, { criteria, limit: 3 })).json
      assert.deepEqual([idsIn(first), first.next], [[plain, referred, golden], golden])
      const second = (await preview(there, { criteria, limit: 3, after: first.next })).json
      assert.deepEqual([idsIn(second), second.next], [[shown], null])
      const all = (await preview(there, { criteria, limit: 4 })).json
      assert.equal(all.next, null)
      await there.get(`/artifacts/${late}`)
    })

    it('deletes what was named and may go, says why of the rest, and may be repeated', async () => {
      const there = await bench.fresh()
      const [plain, referred, golden, changed] = [
        await there.file(),
        await there.file(),
        await there.file(['golden']),
        await there.file(),
      ]
      await there.refer(referred)
      bench.service.clock.advance(hour)
      const criteria = { publishedBefore: now(), protectedLabels: ['golden'] }
      bench.service.clock.advance(1)
      const late = await there.file()
      const missing = randomUUID()
      const items = [plain, referred, golden, late, missing].map((id) => ({ id, expectedAnnotationRevision: 0 }))
      items.push({ id: changed, expectedAnnotationRevision: 7 })
      const expected = (first: string) => [
        { id: plain, outcome: first, blockers: [] },
        { id: referred, outcome: 'protected', blockers: ['reference'] },
        { id: golden, outcome: 'protected', blockers: ['protected_label'] },
        { id: late, outcome: 'not_eligible', blockers: [] },
        { id: missing, outcome: 'not_found', blockers: [] },
        { id: changed, outcome: 'changed', blockers: [] },
      ]
      for (const outcome of ['deleted', 'already_deleted']) {
        const told = await apply(there, { criteria, items })
        assert.deepEqual([told.status, told.json.items], [200, expected(outcome)], told.text)
      }
      assert.deepEqual(idsIn((await preview(there, { criteria })).json), [referred, golden, changed])
      assert.deepEqual(await there.deletions(), [{ id: plain, actor: there.actor }])
    })

    it('refuses criteria that name no past moment exactly, and lists out of bounds', async () => {
      const there = await bench.fresh()
      const future = new Date(bench.service.clock.now() + hour).toISOString()
      const past = now()
      for (const publishedBefore of [future, '2020-01-01T00:00:00Z', '2020-01-01T00:00:00.0000Z', '2020-01-01', 5])
        for (const ask of [preview, apply]) {
          const criteria = { publishedBefore, protectedLabels: [] }
          const items = [{ id: randomUUID(), expectedAnnotationRevision: 0 }]
          const told = await ask(there, ask === preview ? { criteria } : { criteria, items })
          assert.deepEqual([told.status, told.json.code], [400, 'invalid_request'], told.text)
          assert.equal(told.json.details[0].pointer, '/criteria/publishedBefore')
        }
      const impossible = await preview(there, {
        criteria: { publishedBefore: '2020-02-30T00:00:00.000Z', protectedLabels: [] },
      })
      assert.equal(impossible.status, 400)
      const criteria = { publishedBefore: past, protectedLabels: [] }
      const one = { id: randomUUID(), expectedAnnotationRevision: 0 }
      for (const [ask, json] of [
        [preview, { criteria: { publishedBefore: past } }],
        [preview, { criteria: { ...criteria, protectedLabels: ['a', 'a'] } }],
        [preview, { criteria, limit: 101 }],
        [preview, { criteria, after: 'x' }],
        [apply, { criteria, items: [] }],
        [apply, { criteria, items: new Array(101).fill(one) }],
        [apply, { criteria, items: [{ id: one.id }] }],
      ] as const)
        assert.equal((await ask(there, json)).status, 400, JSON.stringify(json).slice(0, 200))
      assert.equal((await apply(there, { criteria, items: new Array(100).fill(one) })).status, 200)
    })
  })

  describe('asking why', () => {
    const why = async (there: PolicyPlace, id: string) => {
      const { decision, reasons, deletableAt, blockers } = await there.get(`/artifacts/${id}/explain`)
      return { decision, codes: reasons.map(({ code }: { code: string }) => code), deletableAt, blockers, reasons }
    }

    it('tells a person which rule keeps a file, until when, or that it would go', async () => {
      const there = await bench.fresh()
      const file = await there.file()
      const old = await there.version('a', '1.0.0')
      const golden = await there.version('a', '1.0.1', ['golden'])
      const beta = await there.version('a', '1.0.2', ['beta'])
      bench.service.clock.advance(5 * hour)
      const young = await there.version('a', '1.0.3')
      const newest = await there.version('a', '1.0.4')
      const rules = { grouping: 'package-channel', keepLast: 1, channels: [{ label: 'beta', keepLast: 1 }] }
      const saved = await there.save({ ...rules, minAgeHours: 2, protectedLabels: ['golden'], enabled: true })
      const told = await why(there, file)
      assert.deepEqual([told.decision, told.codes, told.deletableAt], ['not_covered', ['not_a_package'], null])
      const goes = await why(there, old)
      assert.deepEqual([goes.decision, goes.codes], ['deletable', ['beyond_count']])
      assert.ok(goes.deletableAt <= now())
      assert.ok(goes.reasons[0].text.includes(saved.nextRunAt), goes.reasons[0].text)
      const safe = await why(there, golden)
      assert.deepEqual(
        [safe.decision, safe.codes, safe.blockers, safe.deletableAt],
        ['kept', ['protected_label'], ['protected_label'], null],
      )
      assert.match(safe.reasons[0].text, /“golden”/)
      const channel = await why(there, beta)
      assert.deepEqual([channel.decision, channel.codes], ['kept', ['newest_in_channel']])
      assert.match(channel.reasons[0].text, /newest 1 of a with the label “beta”/)
      const soon = await why(there, young)
      assert.deepEqual([soon.decision, soon.codes], ['kept', ['too_young']])
      const { publishedAt } = await there.get(`/artifacts/${young}/deletion`)
      assert.equal(Date.parse(soon.deletableAt), Date.parse(publishedAt) + 2 * hour + 1)
      const kept = await why(there, newest)
      assert.deepEqual([kept.codes, kept.deletableAt], [['newest_without_channel', 'too_young'], null])
      await there.save({ ...rules, enabled: false, grouping: 'repository', channels: [] })
      const disabled = await why(there, old)
      assert.deepEqual([disabled.decision, disabled.codes], ['deletable', ['policy_disabled']])
      assert.deepEqual((await why(there, newest)).codes, ['newest_in_repository'])
    })

    it('is answered at the very moment that it names', async () => {
      const there = await bench.fresh()
      const id = await there.version('a', '1.0.0')
      await there.version('a', '1.0.1')
      await there.save({ grouping: 'package', keepLast: 1, minAgeHours: 1, enabled: true })
      const { deletableAt } = await why(there, id)
      bench.service.clock.advance(Date.parse(deletableAt) - bench.service.clock.now())
      assert.equal((await why(there, id)).decision, 'deletable')
      assert.deepEqual(await there.run(), { [id]: 'deleted' })
    })

    it('tells whoever may not read the policy whether the file stays, and no more', async () => {
      const there = await bench.fresh()
      const [going, staying, file] = [
        await there.version('explained', '1.0.0'),
        await there.version('explained', '2.0.0'),
        await there.file(),
      ]
      await there.save({ enabled: true, grouping: 'package', keepLast: 1, quotaBytes: '123456' })
      const { secret } = await there.another('artifact.read')
      for (const [id, decision] of [
        [going, 'deletable'],
        [staying, 'kept'],
        [file, 'kept'],
      ] as const) {
        const told = (await there.expect({ path: `/artifacts/${id}/explain`, credential: secret }, 200)).json
        const { reasons, ...rest } = told
        assert.deepEqual(rest, { id, decision, deletableAt: null, blockers: [], policy: null })
        assert.deepEqual(
          reasons.map(({ code }: { code: string }) => code),
          [decision],
        )
      }
    })

    it('is for files that are there', async () => {
      const there = await bench.fresh()
      const id = await there.file()
      await there.remove(id)
      for (const gone of [id, randomUUID()]) await there.expect({ path: `/artifacts/${gone}/explain` }, 404)
    })
  })
})
