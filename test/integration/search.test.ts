import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { idPosition } from '../../src/kernel/id-position.ts'
import { hour } from '../../src/kernel/units.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { type Inspection, openInspection } from '../harness/inspection.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from '../harness/people.ts'
import { type NewFile, newFile, publish } from '../harness/publishing.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

type Filters = Readonly<Record<string, string>>

forEachEngine((engine) => {
  let service: TestService
  let inspection: Inspection
  let writer: Person
  let reader: Person
  let keeper: string
  let repository = ''
  let repositories = 0
  before(async () => {
    service = await startService(engine, { roles: { gateway: 'api', worker: false } })
    inspection = await openInspection(service)
    await createOwner(service)
    writer = await createPerson(service, 'writer')
    reader = await createPerson(service, 'reader')
  })
  after(() => inspection.inOrder())
  after(async () => {
    await inspection.close()
    await service.stop()
  })
  afterEach(() => inspection.sums())

  /** Each test has a repository of its own. */
  const freshRepository = async (): Promise<void> => {
    repository = `search-${++repositories}`
    await createRepository(service, repository)
    await grant(service, writer, repository, 'write')
    await grant(service, reader, repository, 'read')
    const bindings = [binding(repository, 'artifact.delete')]
    const account = await createServiceAccount(service, bindings)
    keeper = (await activeKey(service, account.id, { bindings })).secret
  }
  const base = (): string => `/api/v1/repositories/${repository}`
  const published = (name: string, more: Pick<NewFile['descriptor'], 'labels' | 'metadata'> = {}): Promise<string> =>
    publish(service, writer.token, repository, newFile(name, name, more))
  const asked = (filters: Filters): string => `${base()}/search?${new URLSearchParams(filters)}`
  const page = async (filters: Filters): Promise<Told['json']> =>
    (await expectAnswer(service, { path: asked(filters), credential: reader.token }, 200)).json
  const names = async (filters: Filters): Promise<string[]> =>
    (await page(filters)).items.map(({ name }: { name: string }) => name)
  const annotate = (id: string, expectedRevision: number, value: object): Promise<Told> =>
    expectAnswer(
      service,
      {
        method: 'PUT',
        path: `${base()}/artifacts/${id}/annotations`,
        credential: writer.token,
        json: { expectedRevision, value },
      },
      200,
    )
  const remove = (id: string, expectedAnnotationRevision: number): Promise<Told> =>
    expectAnswer(
      service,
      { method: 'DELETE', path: `${base()}/artifacts/${id}`, credential: keeper, json: { expectedAnnotationRevision } },
      200,
    )

  describe('search', () => {
    before(freshRepository)

    it('shows what was published, as it is described now, and nothing else of it', async () => {
      const began = new Date(service.clock.now()).toISOString()
      const id = await published('Shown-1.2.tar.gz', { labels: ['old'], metadata: { branch: 'Main' } })
      const { items, next } = await page({ q: 'shown' })
      assert.deepEqual(items, [
        {
          id,
          name: 'Shown-1.2.tar.gz',
          size: '16',
          createdAt: items[0].createdAt,
          publishedAt: items[0].publishedAt,
          labels: ['old'],
          stages: [],
        },
      ])
      assert.equal(next, null)
      assert.ok(began <= items[0]?.createdAt && items[0]?.createdAt <= items[0]?.publishedAt)
      await annotate(id, 0, { labels: ['new', 'er'], metadata: { commit: 'C0FFEE' } })
      assert.deepEqual((await page({ q: 'shown' })).items[0].labels, ['new', 'er'])
      assert.deepEqual(await names({ q: 'main' }), [])
      assert.deepEqual(await names({ q: 'c0ff' }), ['Shown-1.2.tar.gz'])
      assert.deepEqual(await names({ label: 'old' }), [])
    })

    it('finds parts of names and of metadata values of any length, in any case, but not of keys, labels or collections', async () => {
      const id = await published('Straße_100%\\done.TXT', { labels: ['lbl'], metadata: { kkk: 'Grüße aus KÖLN 🎉' } })
      await annotate(id, 0, {
        labels: ['lbl'],
        metadata: { kkk: 'Grüße aus KÖLN 🎉', sea: 'ΟΔΥΣΣΕΥΣ' },
        collections: ['clctn'],
      })
      const parts = [
        's',
        'ST',
        'strasse',
        'STRAẞE',
        'ße',
        '_',
        '%',
        '\\',
        '%\\',
        '0%\\d',
        '.txt',
        '🎉',
        'n 🎉',
        'köln',
        'οδυσσευς',
      ]
      for (const q of [...parts, 'σσευσ', 'straße_100%\\done.txt'])
        assert.ok((await names({ q })).includes('Straße_100%\\done.TXT'), q)
      for (const q of [
        'kkk',
        'sea',
        'lbl',
        'clctn',
        'x_x',
        '__',
        '1%0',
        'koln',
        'txtg',
        'txt\u00a0',
        '"',
        "'",
        '*',
        'AND',
      ])
        assert.deepEqual(await names({ q }), [], q)
    })

    it('takes labels, collections and metadata exactly, the empty value as well', async () => {
      const id = await published('exact')
      await annotate(id, 0, {
        labels: ['Label One', 'a'],
        metadata: { Key: 'Value', empty: '', 'a.b': '=' },
        collections: ['Team:a'],
      })
      const found: Filters[] = [
        { label: 'Label One' },
        { collection: 'Team:a' },
        { metadataKey: 'Key', metadataValue: 'Value' },
        { metadataKey: 'empty', metadataValue: '' },
        { metadataKey: 'a.b', metadataValue: '=' },
        { label: 'a', collection: 'Team:a', metadataKey: 'Key', metadataValue: 'Value', q: 'VAL' },
      ]
      for (const filters of found) assert.deepEqual(await names(filters), ['exact'], JSON.stringify(filters))
      const missed: Filters[] = [
        { label: 'label one' },
        { label: 'Label' },
        { collection: 'team:a' },
        { metadataKey: 'Key', metadataValue: 'value' },
        { metadataKey: 'key', metadataValue: 'Value' },
        { metadataKey: 'Key', metadataValue: '' },
        { metadataKey: 'none', metadataValue: '' },
        { metadataKey: 'toString', metadataValue: '' },
        { label: 'a', collection: 'other' },
        { label: 'a', q: 'nothing of the kind' },
      ]
      for (const filters of missed) assert.deepEqual(await names(filters), [], JSON.stringify(filters))
    })

    it('refuses what no filter can be, and says where', async () => {
      const wrong: [string, Filters][] = [
        ['/query/metadataValue', { metadataKey: 'k' }],
        ['/query/metadataKey', { metadataValue: 'v' }],
        ['/query/metadataKey', { metadataKey: '1', metadataValue: 'v' }],
        ['/query/metadataValue', { metadataKey: 'k', metadataValue: 'v'.repeat(1025) }],
        ['/query/q', { q: 'a\nb' }],
        ['/query/q', { q: 'q'.repeat(1025) }],
        ['/query/label', { label: '' }],
        ['/query/collection', { collection: 'a b' }],
        ['/query/after', { after: 'x' }],
        ['/query/limit', { limit: '5' }],
      ]
      for (const [pointer, filters] of wrong) {
        const path = asked(filters)
        const told = await expectAnswer(service, { path, credential: reader.token }, 400, 'invalid_request')
        assert.deepEqual(
          told.json.details.map((detail: { pointer: string }) => detail.pointer),
          [pointer],
        )
      }
      assert.deepEqual(await names({ q: 'q'.repeat(1024) }), [])
    })

    it('shows nothing that is pending, deleted or in another repository, and shows again what is restored', async () => {
      const id = await published('comes and goes', { metadata: { note: 'first' } })
      await annotate(id, 0, { metadata: { note: 'second' }, collections: ['c'] })
      const pending = { ...newFile('comes late', 'late').descriptor }
      await service.ask({
        path: `${base()}/uploads`,
        credential: writer.token,
        headers: { 'idempotency-key': 'pending' },
        json: pending,
      })
      assert.deepEqual(await names({ q: 'comes' }), ['comes and goes'])
      await remove(id, 1)
      for (const filters of [{ q: 'comes' }, { q: 'second' }, { collection: 'c' }])
        assert.deepEqual(await names(filters), [])
      await expectAnswer(
        service,
        { method: 'POST', path: `${base()}/artifacts/${id}/restore`, credential: keeper },
        200,
      )
      for (const filters of [{ q: 'comes' }, { q: 'second' }, { collection: 'c' }])
        assert.deepEqual(await names(filters), ['comes and goes'])
      const path = '/api/v1/repositories/releases/search?q=comes'
      const elsewhere = await expectAnswer(service, { path, credential: service.recoveryKey }, 200)
      assert.deepEqual(elsewhere.json, { items: [], next: null })
      await remove(id, 1)
      service.clock.advance(25 * hour)
      await inspection.upkeep()
      service.clock.advance(-25 * hour)
      assert.deepEqual(await names({ q: 'comes' }), [])
    })

    it('finds files stored by path by the last part of it', async () => {
      const path = `${base()}/raw/folder/By-Path.bin`
      await expectAnswer(service, { method: 'PUT', path, credential: writer.token, body: 'x' }, 201)
      assert.deepEqual(await names({ q: 'by-path' }), ['By-Path.bin'])
      assert.deepEqual(await names({ q: 'folder' }), [])
    })
  })

  describe('pages of a search', () => {
    before(freshRepository)

    const everyPage = async (filters: Filters, between: () => Promise<unknown> = async () => {}): Promise<string[]> => {
      const ids: string[] = []
      for (let after: string | null = ''; after !== null; ) {
        const { items, next }: { items: { id: string }[]; next: string | null } = await page(
          after === '' ? filters : { ...filters, after },
        )
        assert.ok(items.length <= 100)
        if (next !== null) assert.deepEqual([items.length, items.at(-1)?.id], [100, next])
        ids.push(...items.map(({ id }) => id))
        after = next
        await between()
      }
      assert.deepEqual(ids, [...new Set(ids)].sort())
      return ids
    }

    it('have neither gaps nor repeats while others publish, annotate, delete and restore', async () => {
      const kept: string[] = []
      const moving: string[] = []
      for (let i = 0; i < 260; i++) {
        const id = await published(`paged ${i}`, { labels: [i % 2 === 0 ? 'even' : 'odd'] })
        ;(i % 10 === 3 ? moving : kept).push(id)
      }
      const revisions = new Map<string, number>()
      let round = 0
      const others = async (): Promise<void> => {
        round++
        await Promise.all(
          moving.slice(round * 4, round * 4 + 4).map(async (id, index) => {
            if (index % 2 === 0) await remove(id, revisions.get(id) ?? 0)
            else {
              await annotate(id, revisions.get(id) ?? 0, { labels: ['moved'] })
              revisions.set(id, (revisions.get(id) ?? 0) + 1)
            }
          }),
        )
        await published(`paged late ${round}`)
      }
      for (const filters of [{ q: 'paged' }, { q: 'PAGED ', label: 'even' }, {}, { label: 'odd' }] as Filters[]) {
        const ids = await everyPage(filters, others)
        const half = filters['label'] === 'even' ? 0 : filters['label'] === 'odd' ? 1 : null
        const expected: string[] = []
        for (const [i, id] of kept.entries())
          if (half === null || (await evenOf(id)) === half) expected.push(kept[i] ?? '')
        assert.deepEqual(
          ids.filter((id) => kept.includes(id)),
          expected,
        )
      }
    })

    const parity = new Map<string, number>()
    const evenOf = async (id: string): Promise<number> => {
      if (parity.size === 0)
        await inDatabase(service, async (q) => {
          for (const row of await q.selectFrom('artifacts').select(['id', 'labels']).execute())
            parity.set(row.id, row.labels.includes('even') ? 0 : 1)
        })
      return parity.get(id) ?? -1
    }

    it('that are exactly full are followed by none', async () => {
      for (let i = 0; i < 100; i++) await published(`full ${i}`)
      const { items, next } = await page({ q: 'full ' })
      assert.deepEqual([items.length, next], [100, null])
    })

    it('go on after any id, whoever made it up', async () => {
      const ids = await everyPage({ q: 'full' })
      for (const after of [
        '00000000-0000-0000-0000-000000000000',
        'ffffffff-ffff-ffff-ffff-ffffffffffff',
        ...ids.slice(40, 42),
      ])
        assert.deepEqual(
          (await page({ q: 'full', after })).items.map(({ id }: { id: string }) => id),
          ids.filter((id) => id > after),
        )
      const [id = ''] = ids
      const other = `${id.slice(0, 14)}f${id.slice(15)}`
      assert.deepEqual(
        (await page({ q: 'full', after: other })).items.map(({ id }: { id: string }) => id),
        ids.filter((each) => each > other),
      )
    })

    it('know files apart whose ids stand at the same place', async () => {
      const first = await published('twin one', { metadata: { word: 'first' } })
      const second = await published('twin two', { metadata: { word: 'second' } })
      // As if two processes had made their ids in the same moment.
      const twin = `${first.slice(0, 19)}${first.slice(19, 35)}${first[35] === '0' ? '1' : '0'}`
      assert.equal(idPosition(twin), idPosition(first))
      await remove(second, 0)
      await inDatabase(service, async (q) => {
        for (const table of ['deleted_artifacts', 'claims'] as const)
          await q.updateTable(table).set({ id: twin }).where('id', '=', second).execute()
      })
      const restoring = { method: 'POST', path: `${base()}/artifacts/${twin}/restore`, credential: keeper }
      await expectAnswer(service, restoring, 200)
      assert.deepEqual(await everyPage({ q: 'twin' }), [first, twin].sort())
      assert.deepEqual(await names({ q: 'first' }), ['twin one'])
      assert.deepEqual(await names({ q: 'second' }), ['twin two'])
      await annotate(first, 0, { metadata: { word: 'changed' } })
      assert.deepEqual(await names({ q: 'second' }), ['twin two'])
      assert.deepEqual(await names({ q: 'changed' }), ['twin one'])
      await remove(first, 1)
      assert.deepEqual(await names({ q: 'twin' }), ['twin two'])
      await remove(twin, 0)
      assert.deepEqual(await names({ q: 'twin' }), [])
    })
  })

  describe('the doctor', () => {
    before(freshRepository)

    it('finds what search does not know or knows wrongly, and mends it', async () => {
      const ids: string[] = []
      for (const name of ['missing entry', 'other text', 'missing tokens']) ids.push(await published(name))
      await inDatabase(service, async (q) => {
        const [missing = '', other = '', tokens = ''] = ids
        await q.deleteFrom('search_entries').where('artifact_id', '=', missing).execute()
        await q.updateTable('search_entries').set({ text: 'x' }).where('artifact_id', '=', other).execute()
        if (engine.name === 'sqlite') await sql`delete from search_index where rowid = ${idPosition(tokens)}`.execute(q)
        else await sql`update search_entries set tokens = '{}' where artifact_id = ${tokens}`.execute(q)
      })
      const { damage } = await inspection.findings()
      // On SQLite the index has the place of the first one left, where its tokens stand and no file is.
      const seen = engine.name === 'sqlite' ? 4 : 3
      assert.equal(damage.length, seen, damage.join())
      for (const id of ids) assert.ok(damage.some((text) => text.includes(id)))
      assert.equal((await inspection.mend()).length, seen)
      assert.deepEqual(await names({ q: 'S' }), ['missing entry', 'missing tokens'])
      assert.deepEqual(await names({ q: 'text' }), ['other text'])
    })
  })
})
