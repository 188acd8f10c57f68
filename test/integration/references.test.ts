import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, it } from 'node:test'
import { referencesPerArtifactMax } from '../../src/kernel/limits/catalog.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createRepository } from '../harness/people.ts'
import { inDatabase } from '../harness/rows.ts'

after(closeConnections)

forEachEngine((engine) => {
  let catalog: Catalog
  before(async () => {
    catalog = await Catalog.open(engine)
  })
  after(() => catalog.inspection.inOrder())
  after(() => catalog.close())
  afterEach(() => catalog.inspection.sums())

  const reference = (method: 'POST' | 'DELETE', id: string, key: unknown, credential?: string): Promise<Told> =>
    catalog.ask({
      method,
      path: `/artifacts/${id}/references`,
      json: { key },
      ...(credential === undefined ? {} : { credential }),
    })
  const change = async (method: 'POST' | 'DELETE', id: string, key: string, credential?: string): Promise<void> => {
    const told = await reference(method, id, key, credential)
    assert.equal(told.status, 204, told.text)
    assert.equal(told.text, '')
  }
  const actions = async (id: string): Promise<string[]> =>
    (await catalog.journal(id)).map(({ action }) => action).filter((action) => action.startsWith('reference.'))

  it('a reference keeps a file, however often it is set, until its owner gives it up', async () => {
    const id = await catalog.published()
    for (let n = 0; n < 3; n++) await change('POST', id, 'deploy:eu/1.0_a-b')
    assert.deepEqual(await catalog.blockers(id), ['reference'])
    assert.deepEqual((await catalog.remove(id)).json, {
      id,
      outcome: 'protected',
      blockers: ['reference'],
      restorableUntil: null,
    })
    for (let n = 0; n < 3; n++) await change('DELETE', id, 'deploy:eu/1.0_a-b')
    assert.deepEqual(await actions(id), ['reference.add', 'reference.remove'])
    assert.deepEqual(await catalog.blockers(id), [])
    assert.equal((await catalog.remove(id)).json.outcome, 'deleted')
  })

  it('a key belongs to the caller: the same key of another is another reference', async () => {
    const id = await catalog.published()
    await change('POST', id, 'mine')
    await change('DELETE', id, 'mine', catalog.keeper)
    assert.deepEqual(await catalog.blockers(id), ['reference'])
    await change('POST', id, 'mine', catalog.keeper)
    await change('DELETE', id, 'mine')
    assert.deepEqual(await catalog.blockers(id), ['reference'])
    await change('DELETE', id, 'MINE', catalog.keeper)
    assert.deepEqual(await catalog.blockers(id), ['reference'], 'case counts')
    await change('DELETE', id, 'mine', catalog.keeper)
    assert.deepEqual(await catalog.blockers(id), [])
    const actors = (await catalog.journal(id)).slice(1).map(({ actor }) => actor)
    const [people, key] = [`account:${catalog.writer.id}`, catalog.keeperActor]
    assert.deepEqual(actors, [people, key, people, key])
  })

  it('all of them are listed, page by page, with whose they are', async () => {
    const id = await catalog.published()
    for (const key of ['b', 'a']) await change('POST', id, key)
    await change('POST', id, 'a', catalog.keeper)
    const list = async (query: string, credential?: string) => {
      const path = `/artifacts/${id}/references${query}`
      return catalog.ask({ path, ...(credential === undefined ? {} : { credential }) })
    }
    const { json } = await list('')
    const [people, key] = [`account:${catalog.writer.id}`, catalog.keeperActor]
    assert.deepEqual(
      json.items.map((each: { actor: string; key: string }) => [each.actor, each.key]),
      [
        [people, 'a'],
        [people, 'b'],
        [key, 'a'],
      ].sort(),
    )
    const named = json.items.find(({ actor }: { actor: string }) => actor === people)
    assert.equal(named.actorName, catalog.writer.name)
    const paged: unknown[] = []
    for (let after: string | null = ''; after !== null; ) {
      const page = await list(`?limit=1${after === '' ? '' : `&after=${after}`}`)
      paged.push(...page.json.items)
      after = page.json.next
    }
    assert.deepEqual(paged, json.items)
    assert.equal((await list('?after=bm9uZQ')).status, 400)
    assert.deepEqual((await list('', catalog.reader.token)).json, json)
    const other = await catalog.published()
    const { next } = (await list('?limit=1')).json
    assert.equal((await catalog.ask({ path: `/artifacts/${other}/references?after=${next}` })).status, 400)
  })

  it('is refused to readers, on what is not published, and with keys that are none', async () => {
    const id = await catalog.published()
    for (const method of ['POST', 'DELETE'] as const) {
      assert.equal((await reference(method, id, 'a', catalog.reader.token)).status, 403)
      assert.equal((await reference(method, randomUUID(), 'a')).status, 404)
      for (const wrong of ['', 'a b', 'ä', 'a\n', 'x'.repeat(257), 7, null]) {
        const told = await reference(method, id, wrong)
        assert.deepEqual([told.status, told.json.details[0].pointer], [400, '/key'], told.text)
      }
    }
    await change('POST', id, 'x'.repeat(256))
    await change('DELETE', id, 'x'.repeat(256))
    await catalog.remove(id)
    for (const method of ['POST', 'DELETE'] as const) assert.equal((await reference(method, id, 'a')).status, 404)
    await createRepository(catalog.service, 'two')
    const elsewhere = {
      method: 'POST',
      path: `/api/v1/repositories/two/artifacts/${id}/references`,
      json: { key: 'a' },
    }
    assert.equal((await catalog.service.ask({ ...elsewhere, credential: catalog.writer.token })).status, 404)
  })

  it('a file has a thousand references at most, and one that stands is no new one', async () => {
    const id = await catalog.published()
    await change('POST', id, 'first')
    const rows = Array.from({ length: referencesPerArtifactMax - 2 }, (_, n) => ({
      artifact_id: id,
      owner: 'account:many',
      key: `key-${n}`,
      created_at: '2026-01-01T00:00:00.000Z',
    }))
    await inDatabase(catalog.service, (q) => q.insertInto('artifact_references').values(rows).execute())
    const told = await Promise.all(['a', 'b', 'c', 'd'].map((key) => reference('POST', id, key)))
    assert.deepEqual(told.map(({ status }) => status).sort(), [204, 507, 507, 507])
    assert.equal(told.find(({ status }) => status === 507)?.json.code, 'reference_limit')
    await change('POST', id, 'first')
    await change('DELETE', id, 'first')
    await change('POST', id, 'last')
    assert.equal((await actions(id)).length, 4)
  })

  it('setting one and deleting the file exclude each other, whoever is first', async () => {
    for (let round = 0; round < 12; round++) {
      const id = await catalog.published()
      const [set, removed] = await Promise.all([reference('POST', id, 'race'), catalog.remove(id)])
      assert.deepEqual(
        [set.status, removed.json.outcome],
        set.status === 204 ? [204, 'protected'] : [404, 'deleted'],
        removed.text,
      )
    }
  })

  it('many who set and give up the same key at once leave one journal line for each change', async () => {
    const id = await catalog.published()
    for (let round = 0; round < 6; round++)
      await Promise.all(
        Array.from({ length: 6 }, (_, n) => change((n + round) % 2 === 0 ? 'POST' : 'DELETE', id, 'shared')),
      )
    const told = await actions(id)
    told.forEach((action, n) => {
      assert.equal(action, n % 2 === 0 ? 'reference.add' : 'reference.remove')
    })
    assert.deepEqual(await catalog.blockers(id), told.length % 2 === 1 ? ['reference'] : [])
  })
})
