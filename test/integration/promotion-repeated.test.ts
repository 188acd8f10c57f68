import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { forgetOldLines } from '../../src/journal/forgetting.ts'
import { day } from '../../src/kernel/units.ts'
import { Catalog } from '../harness/catalog.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { publishPackage, register } from '../harness/packages.ts'
import { createRepository, grant } from '../harness/people.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { inDatabase } from '../harness/rows.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

const targets = Array.from({ length: 16 }, (_, n) => `target-${n}`)

forEachEngine((engine) => {
  let catalog: Catalog
  /** Deletes and restores in the target. */
  let keeperOfTwo: string
  before(async () => {
    catalog = await Catalog.open(engine)
    for (const id of ['two', ...targets]) {
      await createRepository(catalog.service, id)
      await grant(catalog.service, catalog.writer, id, 'write')
    }
    const bindings = [binding('two', 'artifact.delete')]
    const account = await createServiceAccount(catalog.service, bindings)
    keeperOfTwo = (await activeKey(catalog.service, account.id, { bindings })).secret
  })
  after(() => catalog.inspection.inOrder())
  after(() => catalog.close())
  afterEach(() => catalog.inspection.sums())

  const promote = (id: string, json: object = {}): Promise<Told> =>
    catalog.ask({ path: `/artifacts/${id}/promote`, json: { target: 'two', ...json } })
  const promoted = async (id: string, json: object, status: number): Promise<Told['json']> => {
    const told = await promote(id, json)
    assert.equal(told.status, status, told.text)
    return told.json
  }
  const askIn = (repository: string, asked: Ask): Promise<Told> =>
    catalog.service.ask({
      credential: catalog.writer.token,
      ...asked,
      path: `/api/v1/repositories/${repository}${asked.path}`,
    })
  const resolved = async (repository: string, name: string): Promise<string | null> => {
    const told = await askIn(repository, { path: `/packages/resolve?name=${name}` })
    assert.ok(told.status === 200 || told.status === 404, told.text)
    return told.status === 200 ? told.json.artifactId : null
  }
  const unregistered = (name: string, repository = 'one'): Promise<string> =>
    publishPackage(catalog.service, catalog.writer.token, repository, { name, version: '1.0.0' })
  const registered = async (id: string, repository = 'one'): Promise<void> => {
    const told = await register(catalog.service, catalog.writer.token, repository, id)
    assert.equal(told.status, 200, told.text)
  }
  const removeThere = async (id: string, expectedAnnotationRevision = 0): Promise<void> => {
    const json = { expectedAnnotationRevision }
    const told = await askIn('two', { method: 'DELETE', path: `/artifacts/${id}`, json, credential: keeperOfTwo })
    assert.equal(told.json.outcome, 'deleted', told.text)
  }
  const restoreThere = async (id: string): Promise<void> => {
    const told = await askIn('two', { method: 'POST', path: `/artifacts/${id}/restore`, credential: keeperOfTwo })
    assert.equal(told.status, 200, told.text)
  }
  const annotate = async (repository: string, id: string, value: object): Promise<void> => {
    const path = `/artifacts/${id}/annotations`
    const { revision } = (await askIn(repository, { path })).json
    const told = await askIn(repository, { method: 'PUT', path, json: { expectedRevision: revision, value } })
    assert.equal(told.status, 200, told.text)
  }
  const saidOf = async (repository: string, id: string): Promise<Told['json']> =>
    (await askIn(repository, { path: `/artifacts/${id}/annotations` })).json
  const linesOf = async (id: string): Promise<string[]> => (await catalog.journal(id)).map(({ action }) => action)

  describe('a file that became a package after it was copied', () => {
    for (const mode of ['copy', 'move'] as const)
      it(`is that version in the target when it is promoted again, as ${mode}`, async () => {
        const name = `later-${mode}`
        const id = await unregistered(name)
        const { artifactId } = await promoted(id, {}, 201)
        await registered(id)
        assert.equal(await resolved('two', name), null, 'nobody asked yet')
        const again = await promoted(id, { mode, stages: ['live'] }, 200)
        assert.deepEqual([again.artifactId, again.created], [artifactId, false])
        assert.equal(await resolved('two', name), artifactId)
        const staged = await askIn('two', { path: `/packages/resolve?name=${name}&stage=live` })
        assert.equal(staged.json.artifactId, artifactId)
        assert.equal(await resolved('one', name), mode === 'move' ? null : id)
        assert.deepEqual(await linesOf(artifactId), ['artifact.received', 'package.register', 'stage.added'])
        assert.deepEqual((await promoted(id, { mode }, 200)).artifactId, artifactId)
      })

    it('is not moved over the version that the target has with other bytes, and not copied', async () => {
      const id = await unregistered('contested')
      const { artifactId } = await promoted(id, {}, 201)
      await registered(id)
      const other = await unregistered('contested', 'two')
      await registered(other, 'two')
      for (const mode of ['move', 'copy']) {
        const told = await promote(id, { mode })
        assert.deepEqual([told.status, told.json.code], [409, 'version_exists'])
        assert.ok(told.json.detail.includes(other), told.text)
      }
      assert.deepEqual([await resolved('one', 'contested'), await resolved('two', 'contested')], [id, other])
      await removeThere(other)
      assert.equal((await promoted(id, { mode: 'move' }, 200)).artifactId, artifactId)
      assert.equal(await resolved('two', 'contested'), artifactId)
    })

    it('is what the target has already with the same bytes, whatever was copied before', async () => {
      const id = await unregistered('twice')
      const first = await promoted(id, {}, 201)
      await registered(id)
      const content = (await catalog.ask({ path: `/artifacts/${id}/content` })).bytes
      const same = await publish(catalog.service, catalog.writer.token, 'two', newFile('twice.upack', content))
      await registered(same, 'two')
      assert.notEqual(same, first.artifactId)
      for (const mode of ['copy', 'move'])
        assert.deepEqual((await promoted(id, { mode }, 200)).artifactId, same, 'it is the version there')
      assert.equal(await resolved('two', 'twice'), same)
      assert.equal((await promoted(id, { mode: 'move' }, 200)).artifactId, same, 'the recorded copy')
    })

    it('resolves in each of many repositories that it is promoted to while it becomes one', async () => {
      const id = await unregistered('raced')
      const tryAll = () => Promise.all(targets.map((target) => promote(id, { target })))
      const [told, ...answers] = await Promise.all([
        register(catalog.service, catalog.writer.token, 'one', id),
        ...targets.map((target) => promote(id, { target })),
      ])
      assert.equal(told.status, 200, told.text)
      for (const { status, text } of answers) assert.equal(status, 201, text)
      const again = await tryAll()
      for (const [index, target] of targets.entries()) {
        const copy = answers[index]?.json.artifactId
        assert.deepEqual([again[index]?.status, again[index]?.json.artifactId], [200, copy], target)
        assert.equal(await resolved(target, 'raced'), copy)
      }
    })

    it('and a copy that becomes one by itself at the same time are the same version', async () => {
      for (let round = 0; round < 8; round++) {
        const id = await unregistered(`both-${round}`)
        const { artifactId } = await promoted(id, {}, 201)
        const [first, second, moved] = await Promise.all([
          register(catalog.service, catalog.writer.token, 'one', id),
          register(catalog.service, catalog.writer.token, 'two', artifactId),
          promote(id, { mode: 'move' }),
        ])
        assert.equal(moved.status, 200, moved.text)
        assert.ok([200, 404].includes(first.status), first.text)
        assert.equal(second.status, 200, second.text)
        assert.equal(await resolved('two', `both-${round}`), artifactId)
      }
    })
  })

  describe('a move to a copy that is there', () => {
    it('is told at the end that changes: no file comes twice', async () => {
      const id = await catalog.published()
      const { artifactId } = await promoted(id, {}, 201)
      for (let times = 0; times < 2; times++) {
        await promoted(id, { mode: 'move' }, 200)
        assert.equal((await catalog.restore(id)).status, 200)
      }
      assert.deepEqual(await linesOf(artifactId), ['artifact.received'])
      assert.deepEqual((await linesOf(id)).filter((action) => action !== 'artifact.restore').slice(1), [
        'artifact.promoted',
        ...['artifact.promoted', 'artifact.delete'],
        ...['artifact.promoted', 'artifact.delete'],
      ])
    })

    it('brings along what was said of the source meanwhile', async () => {
      const id = await catalog.published()
      const { artifactId } = await promoted(id, {}, 201)
      const value = { labels: ['hold'], metadata: { ticket: 'Q 7' }, collections: ['spring'] }
      await annotate('one', id, value)
      await promoted(id, { mode: 'move' }, 200)
      assert.deepEqual(await saidOf('two', artifactId), { revision: 1, ...value })
      assert.deepEqual(await linesOf(artifactId), ['artifact.received', 'annotation.replace'])
      const found = await askIn('two', { path: '/search?q=q%207&label=hold&collection=spring' })
      assert.deepEqual(
        found.json.items.map((item: { id: string }) => item.id),
        [artifactId],
      )
    })

    it('takes away again what the source says no more, and leaves what was said there alone', async () => {
      const value = { labels: ['hold'], metadata: {}, collections: [] }
      const [first, second] = [await catalog.published(), await catalog.published()]
      for (const id of [first, second]) await annotate('one', id, value)
      const [mine, theirs] = [(await promoted(first, {}, 201)).artifactId, (await promoted(second, {}, 201)).artifactId]
      await annotate('one', first, {})
      await promoted(first, { mode: 'move' }, 200)
      assert.deepEqual((await saidOf('two', mine)).labels, [])
      await annotate('two', theirs, { labels: ['approved'] })
      await promoted(second, { mode: 'move' }, 200)
      assert.deepEqual((await saidOf('two', theirs)).labels, ['approved'])
    })

    it('is refused where both were annotated apart, until the copy says what the source says', async () => {
      const id = await catalog.published()
      const { artifactId } = await promoted(id, {}, 201)
      await annotate('one', id, { labels: ['hold'] })
      await annotate('two', artifactId, { labels: ['approved'] })
      const told = await promote(id, { mode: 'move', stages: ['live'] })
      assert.deepEqual([told.status, told.json.code], [409, 'source_not_deletable'])
      assert.match(told.json.detail, /annotated apart/)
      assert.ok(told.json.detail.includes(artifactId))
      assert.equal((await catalog.ask({ path: `/artifacts/${id}` })).status, 200)
      assert.deepEqual((await askIn('two', { path: `/artifacts/${artifactId}/stages` })).json.items, [])
      await annotate('two', artifactId, { labels: ['approved', 'hold'] })
      await promoted(id, { mode: 'move' }, 200)
      assert.deepEqual((await saidOf('two', artifactId)).labels, ['approved', 'hold'])
    })

    it('that was uploaded there loses nothing of what either upload said', async () => {
      const content = await unregistered('uploaded').then((id) => catalog.ask({ path: `/artifacts/${id}/content` }))
      const upload = async (repository: string, labels: string[]): Promise<string> => {
        const file = newFile(`u-${labels.length}`, content.bytes, { labels })
        const id = await publish(catalog.service, catalog.writer.token, repository, file)
        await registered(id, repository)
        return id
      }
      const [id, there] = [await upload('one', ['hold']), await upload('two', ['theirs'])]
      assert.equal((await promote(id, { mode: 'move' })).json.code, 'source_not_deletable')
      await annotate('one', id, { labels: ['hold', 'theirs'] })
      assert.equal((await promoted(id, { mode: 'move' }, 200)).artifactId, there)
      assert.deepEqual(await saidOf('two', there), {
        revision: 1,
        labels: ['hold', 'theirs'],
        metadata: {},
        collections: [],
      })
    })
  })

  describe('a copy that was deleted and came back', () => {
    it('is the copy again: no third one is made', async () => {
      const id = await catalog.published()
      const first = (await promoted(id, {}, 201)).artifactId
      await removeThere(first)
      const second = (await promoted(id, {}, 201)).artifactId
      await removeThere(second)
      await restoreThere(first)
      assert.equal((await promoted(id, {}, 200)).artifactId, first)
      assert.equal((await promoted(id, { mode: 'move' }, 200)).artifactId, first)
      assert.equal((await promoted(id, { mode: 'move' }, 200)).artifactId, first)
      assert.deepEqual(await linesOf(first), ['artifact.received', 'artifact.delete', 'artifact.restore'])
    })

    it('is found when nothing tells of it any more, and so is the one that the source was moved to', async () => {
      const id = await catalog.published()
      const { artifactId } = await promoted(id, {}, 201)
      const moved = await catalog.published()
      const there = (await promoted(moved, { mode: 'move' }, 201)).artifactId
      await catalog.pass(3 * day)
      await forgetOldLines({ ...catalog.inspection, journalRetentionMs: day, securityAuditRetentionMs: 100 * day })
      assert.deepEqual([await linesOf(id), await linesOf(artifactId)], [[], []])
      assert.equal((await promoted(id, {}, 200)).artifactId, artifactId)
      assert.equal((await promoted(moved, { mode: 'move' }, 200)).artifactId, there)
      await catalog.inspection.upkeep()
      assert.equal((await promoted(moved, { mode: 'move' }, 200)).artifactId, there, 'the source is gone for good')
    })

    it('is recorded as long as it is known', async () => {
      const id = await catalog.published()
      const { artifactId } = await promoted(id, {}, 201)
      await removeThere(artifactId)
      const rows = () =>
        inDatabase(catalog.service, (q) =>
          q.selectFrom('promotions').select('copy_id').where('source_id', '=', id).execute(),
        )
      await catalog.pass(2 * day)
      await catalog.inspection.upkeep()
      assert.equal((await rows()).length, 1)
      await catalog.pass(400 * day)
      await catalog.inspection.upkeep()
      assert.deepEqual(await rows(), [])
      await promoted(id, {}, 201)
    })
  })
})
