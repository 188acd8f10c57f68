import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, it } from 'node:test'
import { hour } from '../../src/kernel/units.ts'
import { Catalog } from '../harness/catalog.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { digestOf } from '../harness/inspection.ts'
import { createPerson, createRepository, grant } from '../harness/people.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { inDatabase } from '../harness/rows.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

forEachEngine((engine) => {
  let catalog: Catalog
  /** Deletes in the target. */
  let keeperOfTwo: string
  before(async () => {
    catalog = await Catalog.open(engine)
    for (const id of ['two', 'hidden']) await createRepository(catalog.service, id)
    await grant(catalog.service, catalog.writer, 'two', 'write')
    await grant(catalog.service, catalog.reader, 'two', 'write')
    const bindings = [binding('two', 'artifact.delete')]
    const account = await createServiceAccount(catalog.service, bindings)
    keeperOfTwo = (await activeKey(catalog.service, account.id, { bindings })).secret
  })
  after(() => catalog.inspection.inOrder())
  after(() => catalog.close())
  afterEach(() => catalog.inspection.sums())

  const promote = (id: string, json: object = {}, credential = catalog.writer.token): Promise<Told> =>
    catalog.ask({ path: `/artifacts/${id}/promote`, json: { target: 'two', ...json }, credential })
  const promoted = async (id: string, json: object = {}, status = 201): Promise<Told['json']> => {
    const told = await promote(id, json)
    assert.equal(told.status, status, told.text)
    return told.json
  }
  /** Asks in the target. */
  const there = (asked: Ask): Promise<Told> =>
    catalog.service.ask({ credential: catalog.writer.token, ...asked, path: `/api/v1/repositories/two${asked.path}` })
  const getThere = async (path: string): Promise<Told['json']> => {
    const told = await there({ path })
    assert.equal(told.status, 200, told.text)
    return told.json
  }
  const removeThere = async (id: string): Promise<void> => {
    const json = { expectedAnnotationRevision: 0 }
    const told = await there({ method: 'DELETE', path: `/artifacts/${id}`, json, credential: keeperOfTwo })
    assert.equal(told.json.outcome, 'deleted', told.text)
  }
  const addStage = async (id: string, stage: string, comment: string): Promise<void> => {
    await catalog.expect({ method: 'PUT', path: `/artifacts/${id}/stages/${stage}`, json: { comment } }, 200)
  }
  const promotionsOf = async (get: (path: string) => Promise<Told['json']>, id: string): Promise<unknown[][]> =>
    (await get(`/artifacts/${id}/promotions`)).items.map((event: Told['json']) => [
      event.action,
      event.stage,
      event.mode,
      event.peerRepository,
      event.peerArtifactId,
      event.comment,
    ])

  describe('what the journal tells of another repository', () => {
    it('is null to whoever may not see that one, or not the files in it', async () => {
      const id = await catalog.published()
      const copy = (await promoted(id)).artifactId
      const bindings = [binding('one', 'artifact.read', 'artifact.list')]
      const account = await createServiceAccount(catalog.service, [...bindings, binding('two', 'repository.read')])
      const peers = async (credential: string, path: string) =>
        (await catalog.expect({ path, credential }, 200)).json.items
          .filter((event: Told['json']) => event.artifactId === id)
          .map((event: Told['json']) => [event.peerRepository, event.peerArtifactId])
      const stranger = (await activeKey(catalog.service, account.id, { bindings })).secret
      const looker = (await activeKey(catalog.service, account.id, { bindings: account.bindings })).secret
      for (const path of ['/promotions?limit=100', `/artifacts/${id}/promotions`]) {
        assert.deepEqual(await peers(stranger, path), [[null, null]])
        assert.deepEqual(await peers(looker, path), [['two', null]])
        assert.deepEqual(await peers(catalog.writer.token, path), [['two', copy]])
      }
    })
  })

  describe('a copy', () => {
    it('is a file of its own with the same bytes, which are stored once and counted twice', async () => {
      const content = `shared ${randomUUID()}`
      const more = { labels: ['lts'], metadata: { branch: 'main' } }
      const id = await publish(catalog.service, catalog.writer.token, 'one', newFile('build.bin', content, more))
      const before = await catalog.inspection.sums()
      const told = await promoted(id, { stages: ['released', 'approved'], comment: 'ship it' })
      assert.deepEqual(told, {
        repository: 'two',
        artifactId: told.artifactId,
        sourceRepository: 'one',
        sourceArtifactId: id,
        mode: 'copy',
        created: true,
        stages: ['approved', 'released'],
      })
      assert.notEqual(told.artifactId, id)
      const [source, copy] = [await catalog.get(`/artifacts/${id}`), await getThere(`/artifacts/${told.artifactId}`)]
      assert.deepEqual(copy.descriptor, source.descriptor)
      assert.equal((await there({ path: `/artifacts/${told.artifactId}/content` })).text, content)
      assert.equal((await catalog.inspection.sums()).live, before.live + content.length)
      const stages = (await getThere(`/artifacts/${told.artifactId}/stages`)).items
      assert.deepEqual(
        stages.map((entry: Told['json']) => [entry.stage, entry.comment, entry.actor]),
        ['approved', 'released'].map((stage) => [stage, 'ship it', `account:${catalog.writer.id}`]),
      )
      assert.deepEqual(await promotionsOf(catalog.get.bind(catalog), id), [
        ['promoted', null, 'copy', 'two', told.artifactId, 'ship it'],
      ])
      assert.deepEqual(await promotionsOf(getThere, told.artifactId), [
        ['received', null, 'copy', 'one', id, 'ship it'],
        ['stage.added', 'released', null, null, null, 'ship it'],
        ['stage.added', 'approved', null, null, null, 'ship it'],
      ])
    })

    it('is the same one when it is asked for again, and a new one once it was deleted', async () => {
      const id = await catalog.published()
      const first = await promoted(id)
      assert.deepEqual(await promoted(id, {}, 200), { ...first, created: false })
      assert.deepEqual((await promoted(id, { stages: ['late'] }, 200)).stages, ['late'])
      assert.equal((await promotionsOf(catalog.get.bind(catalog), id)).length, 1)
      await there({ method: 'DELETE', path: `/artifacts/${first.artifactId}/stages/late` })
      await removeThere(first.artifactId)
      const second = await promoted(id)
      assert.notEqual(second.artifactId, first.artifactId)
      assert.deepEqual(await promoted(id, {}, 200), { ...second, created: false })
    })

    it('asked for by many at once is one', async () => {
      const id = await catalog.published()
      const told = await Promise.all(Array.from({ length: 6 }, () => promote(id)))
      assert.deepEqual(told.map(({ status }) => status).sort(), [200, 200, 200, 200, 200, 201])
      assert.equal(new Set(told.map(({ json }) => json.artifactId)).size, 1)
    })

    it('lives on when the source is deleted and its bytes were given up, and the other way round', async () => {
      const contents = [`lives ${randomUUID()}`, `goes ${randomUUID()}`]
      const [first = '', second = ''] = await Promise.all(contents.map((content) => catalog.published(content)))
      const copies = [(await promoted(first)).artifactId, (await promoted(second)).artifactId]
      assert.equal((await catalog.remove(first)).json.outcome, 'deleted')
      await removeThere(copies[1])
      await catalog.pass(25 * hour)
      await catalog.inspection.upkeep()
      assert.equal((await there({ path: `/artifacts/${copies[0]}/content` })).text, contents[0])
      assert.equal((await catalog.ask({ path: `/artifacts/${second}/content` })).text, contents[1])
      await removeThere(copies[0])
      await catalog.pass(25 * hour)
      await catalog.inspection.upkeep()
      const stored = await catalog.inspection.stored()
      assert.deepEqual(
        contents.map((content) => stored.includes(digestOf(content))),
        [false, true],
      )
    })

    it('needs room in the target', async () => {
      const id = await publish(catalog.service, catalog.writer.token, 'one', newFile('x', 'x'.repeat(1000)))
      const limit = (quota_bytes: number | null) =>
        inDatabase(catalog.service, (q) =>
          q.updateTable('repositories').set({ quota_bytes }).where('id', '=', 'two').execute(),
        )
      await limit(1)
      const told = await promote(id)
      assert.deepEqual([told.status, told.json.code], [507, 'storage_quota'])
      await limit(null)
      await promoted(id)
    })
  })

  describe('a move', () => {
    it('takes the stages along, with their times, and deletes the source, which can come back', async () => {
      const id = await catalog.published()
      await addStage(id, 'qa', 'all green')
      await addStage(id, 'released', 'by the source')
      const carried = (await catalog.expect({ path: `/artifacts/${id}/stages` }, 200)).json.items
      await catalog.pass(60_000)
      const told = await promoted(id, { mode: 'move', stages: ['eu', 'released'], comment: 'to the customers' })
      assert.deepEqual([told.mode, told.created, told.stages], ['move', true, ['eu', 'qa', 'released']])
      await catalog.expect({ path: `/artifacts/${id}` }, 404)
      const { items } = await getThere(`/artifacts/${told.artifactId}/stages`)
      for (const entry of carried) {
        const { artifactId: _, ...rest } = entry
        assert.ok(
          items.some(
            (each: Told['json']) => JSON.stringify(each) === JSON.stringify({ artifactId: told.artifactId, ...rest }),
          ),
          JSON.stringify([items, entry]),
        )
      }
      const lines = (await catalog.journal(id)).slice(3).map(({ action, detail }) => [action, detail])
      assert.deepEqual(lines, [
        ['artifact.promoted', null],
        ['stage.removed', 'qa'],
        ['stage.removed', 'released'],
        ['artifact.delete', null],
      ])
      const again = await promoted(id, { mode: 'move', stages: ['eu', 'released'], comment: 'to the customers' }, 200)
      assert.deepEqual(again, { ...told, created: false })
      assert.equal((await promote(id)).status, 404, 'what is gone cannot be copied')
      assert.equal((await catalog.restore(id)).status, 200)
      assert.deepEqual(await catalog.blockers(id), [])
      assert.deepEqual(await promoted(id, { mode: 'move' }, 200), { ...told, created: false })
      assert.equal((await catalog.remove(id)).json.outcome, 'already_deleted')
    })

    it('finds the copy that was made before', async () => {
      const id = await catalog.published()
      const { artifactId } = await promoted(id)
      const moved = await promoted(id, { mode: 'move' }, 200)
      assert.deepEqual([moved.artifactId, moved.created], [artifactId, false])
      await catalog.expect({ path: `/artifacts/${id}` }, 404)
      const modes = (await promotionsOf(getThere, artifactId)).map(([action, , mode]) => [action, mode])
      assert.deepEqual(modes, [['received', 'copy']])
    })

    it('is refused whole while something keeps the source', async () => {
      const [id, build] = [await catalog.published(), await catalog.published()]
      await addStage(id, 'qa', '')
      await catalog.expect({ path: `/artifacts/${id}/references`, json: { key: 'x' } }, 204)
      const items = [{ name: 'x', kind: 'file', artifactId: id }]
      const put = { method: 'PUT', path: `/artifacts/${build}/attachments` }
      await catalog.expect({ ...put, json: { expectedRevision: 0, items } }, 200)
      const told = await promote(id, { mode: 'move' })
      assert.deepEqual([told.status, told.json.code], [409, 'source_not_deletable'])
      assert.match(told.json.detail, /kept by reference, attachment_history\./)
      assert.deepEqual(await catalog.blockers(id), ['reference', 'attachment_history', 'promotion_stage'])
      assert.deepEqual(
        (await getThere('/promotions?limit=100')).items.filter((event: Told['json']) => event.peerArtifactId === id),
        [],
      )
      await promoted(id, { mode: 'copy' })
    })

    it('and its stages are sixteen at most', async () => {
      const id = await catalog.published()
      const names = Array.from({ length: 16 }, (_, n) => `s${n}`)
      for (const name of names.slice(0, 10)) await addStage(id, name, '')
      const told = await promote(id, { mode: 'move', stages: names.slice(9).map((name) => `${name}x`) })
      assert.deepEqual([told.status, told.json.code], [409, 'stage_limit'])
      assert.equal((await promoted(id, { mode: 'move', stages: names })).stages.length, 16)
    })

    it('and deleting, keeping and moving once more exclude each other', async () => {
      for (let round = 0; round < 8; round++) {
        const id = await catalog.published()
        const [first, second, removed, kept] = await Promise.all([
          promote(id, { mode: 'move' }),
          promote(id, { mode: 'move' }),
          catalog.remove(id),
          catalog.ask({ path: `/artifacts/${id}/references`, json: { key: 'x' } }),
        ])
        const outcome = [first.status, second.status].sort().join()
        assert.ok(
          (kept.status === 204 && removed.json.outcome === 'protected' && outcome === '409,409') ||
            (kept.status === 404 && removed.json.outcome === 'deleted' && outcome === '404,404') ||
            (kept.status === 404 && removed.json.outcome === 'already_deleted' && outcome === '200,201'),
          `${outcome} ${removed.text} ${kept.text}`,
        )
      }
    })
  })

  it('a stage that comes while the source is moved goes along, or finds no file', async () => {
    for (let round = 0; round < 10; round++) {
      const id = await catalog.published()
      const [moved, ...given] = await Promise.all([
        promote(id, { mode: 'move' }),
        ...['x', 'y', 'z'].map((stage) =>
          catalog.ask({ method: 'PUT', path: `/artifacts/${id}/stages/${stage}`, json: {} }),
        ),
      ])
      assert.equal(moved.status, 201, moved.text)
      const came = ['x', 'y', 'z'].filter((_, n) => given[n]?.status === 200)
      assert.deepEqual(moved.json.stages, came)
      assert.ok(given.every(({ status }) => status === 200 || status === 404))
    }
  })

  it('a copy that is deleted while it is asked for again is there with its stages, or made anew', async () => {
    for (let round = 0; round < 10; round++) {
      const id = await catalog.published()
      const first = await promoted(id)
      const json = { expectedAnnotationRevision: 0 }
      const [again, removed] = await Promise.all([
        promote(id, { stages: ['x', 'y', 'z'] }),
        there({ method: 'DELETE', path: `/artifacts/${first.artifactId}`, json, credential: keeperOfTwo }),
      ])
      const same = again.json.artifactId === first.artifactId
      assert.deepEqual([again.status, removed.json.outcome], same ? [200, 'protected'] : [201, 'deleted'], again.text)
    }
  })

  it('there and back at once both end', async () => {
    for (let round = 0; round < 6; round++) {
      const here = await catalog.published()
      const file = newFile('x', randomUUID())
      const other = await publish(catalog.service, catalog.writer.token, 'two', file)
      const back = (): Promise<Told> =>
        there({ path: `/artifacts/${other}/promote`, json: { target: 'one', mode: 'move' } })
      const told = await Promise.all([promote(here, { mode: 'move' }), back(), promote(here, { mode: 'move' }), back()])
      assert.deepEqual(told.map(({ status }) => status).sort(), [200, 200, 201, 201])
    }
  })

  it('needs artifact.promote in the target, to move here as well, and another repository', async () => {
    const id = await catalog.published()
    const reader = catalog.reader.token
    assert.equal((await promote(id, { mode: 'move' }, reader)).status, 403)
    assert.equal((await promote(id, {}, reader)).status, 201)
    const onlyHere = await createPerson(catalog.service, 'only-here')
    await grant(catalog.service, onlyHere, 'one', 'write')
    for (const target of ['two', 'hidden', 'missing'])
      assert.equal((await promote(id, { target }, onlyHere.token)).status, 404, target)
    await grant(catalog.service, onlyHere, 'two', 'read')
    assert.deepEqual((await promote(id, {}, onlyHere.token)).json.code, 'permission_missing')
    const wrong: [object, string][] = [
      [{ target: 'one' }, '/target'],
      [{ target: 'TWO' }, '/target'],
      [{ mode: 'link' }, '/mode'],
      [{ stages: ['X'] }, '/stages/0'],
      [{ stages: ['a', 'a'] }, '/stages'],
      [{ stages: Array.from({ length: 17 }, (_, n) => `s${n}`) }, '/stages'],
      [{ comment: 'x'.repeat(1025) }, '/comment'],
    ]
    for (const [json, pointer] of wrong) {
      const told = await promote(id, json)
      assert.deepEqual([told.status, told.json.details?.[0]?.pointer], [400, pointer], told.text)
    }
    assert.equal((await promote(randomUUID())).status, 404)
    assert.equal((await promote(randomUUID(), { mode: 'move' })).status, 404)
    const elsewhere = await publish(catalog.service, catalog.writer.token, 'two', newFile('x', 'elsewhere'))
    assert.equal((await promote(elsewhere)).status, 404)
  })
})
