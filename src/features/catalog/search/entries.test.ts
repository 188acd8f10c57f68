import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type KyselyPlugin, sql } from 'kysely'
import { forEachEngine } from '../../../../test/harness/engines.ts'
import type { Database, Queries } from '../../../database/database.ts'
import { migrate } from '../../../database/migrate.ts'
import { migrations } from '../../../database/migrations/index.ts'
import { openDatabase } from '../../../database/open.ts'
import { newId } from '../../../kernel/ids.ts'
import { searchMergePages } from '../../../kernel/limits/engines.ts'
import { noFilters, type SearchFilters } from '../../../kernel/search-text.ts'
import { candidates } from './candidates.ts'
import { checkSearch } from './checks.ts'
import { makeAllKnown, putEntry, refreshEntry, removeEntry } from './entries.ts'

const start = { order: 'asc', after: '' } as const
const elsewhere = { sha256: 'x', paths: '' }

forEachEngine((engine) => {
  const open = async (): Promise<Database> =>
    engine.use(await openDatabase({ url: await engine.freshDatabaseUrl(), report: () => {} }))

  const foundBy = async (database: Database, filters: Partial<SearchFilters>): Promise<string[]> => {
    const ids: string[] = []
    for await (const some of candidates(database, 'releases', { ...noFilters, ...filters }, start)) ids.push(...some)
    return ids
  }
  const found = (database: Database, q: string, label?: string): Promise<string[]> => foundBy(database, { q, label })

  const publish = (database: Database, id: string, name: string, metadata: string): Promise<unknown> =>
    database.transaction(async (tx) => {
      const times = { created_at: 'x', expires_at: 'x', published_at: 'x' }
      const row = { id, repository: 'releases', name, size: 1, sha256: 'x', labels: '["old"]', metadata, ...times }
      await tx.insertInto('artifacts').values(row).execute()
    })

  const openMigrated = async (): Promise<Database> => {
    const database = await open()
    await migrate(database, migrations)
    const blob = { sha256: 'x', size: 1, state: 'stored', generation: 'y' } as const
    await database.transaction((tx) => tx.insertInto('blobs').values(blob).execute())
    return database
  }

  describe('entries', () => {
    it('are made by the migration for what is published already, also where ids share a position', async () => {
      const database = await open()
      const index = migrations.findIndex(({ name }) => name === 'search')
      await migrate(database, migrations.slice(0, index))
      await database.transaction((tx) =>
        sql`insert into blobs (sha256, size, state) values ('x', 1, 'stored')`.execute(tx),
      )
      const ids = Array.from({ length: 700 }, () => newId(Date.now()))
      for (const [index, id] of ids.entries()) await publish(database, id, `File ${index}`, '{"k":"Straße"}')
      const [first = ''] = ids
      const twin = `${first.slice(0, 35)}${first[35] === '0' ? '1' : '0'}`
      await publish(database, twin, 'Twin', '{}')
      await database.transaction(async (tx) => {
        const words = { labels: '["new"]', metadata: '{"k":"replaced"}', collections: '[]' }
        await tx
          .insertInto('annotations')
          .values({ artifact_id: ids[5] ?? '', revision: 1, ...words })
          .execute()
      })
      await database.transaction(async (tx) => {
        const shows = (path: string, id: string | undefined) =>
          sql`insert into assets (repository, path, revision, artifact_id) values ('releases', ${path}, 1, ${id})`.execute(
            tx,
          )
        await shows('Folder/One', ids[7])
        for (let n = 0; n < 40; n++) await shows(`Many/${n}`, ids[8])
      })
      await migrate(database, migrations)
      assert.deepEqual(await found(database, 'file 69'), [ids[69], ...ids.slice(690)])
      // The one with many paths is looked at whatever the path.
      assert.deepEqual(await foundBy(database, { path: 'folder/' }), [ids[7], ids[8]])
      assert.deepEqual((await foundBy(database, { sha256: 'x' })).length, ids.length + 1)
      assert.deepEqual(await foundBy(database, { sha256: 'y' }), [])
      assert.equal((await found(database, 'strasse')).length, 699)
      assert.deepEqual(await found(database, 'replaced', 'new'), [ids[5]])
      assert.deepEqual(await found(database, 'twin'), [twin])
      assert.ok((await found(database, 'file 0')).includes(first))
      for await (const { text } of checkSearch(database)) assert.fail(text)
    })

    it('of very long texts are found by any part, and go with the row of their file', async () => {
      const database = await openMigrated()
      const id = newId(Date.now())
      const pieces = Array.from({ length: 32 * 256 }, (_, i) => (i * 7919).toString(36).padStart(4, '0'))
      const metadata = Object.fromEntries(
        Array.from({ length: 32 }, (_, i) => [`k${i}`, pieces.slice(i * 256, (i + 1) * 256).join('')]),
      )
      await publish(database, id, 'long', '{}')
      const file = { id, repository: 'releases', name: 'long', labels: [], metadata, collections: [], ...elsewhere }
      await database.transaction((tx) => putEntry(tx, file))
      for (const value of Object.values(metadata))
        for (const part of [value, value.slice(500), value.slice(100, 112), value.slice(7, 10)])
          assert.deepEqual(await found(database, part.toUpperCase()), [id])
      await database.transaction(async (tx) => {
        await tx.deleteFrom('artifacts').where('id', '=', id).execute()
        await removeEntry(tx, id)
      })
      assert.deepEqual(await found(database, 'long'), [])
      assert.deepEqual(await database.reader.selectFrom('search_entries').selectAll().execute(), [])
    })

    it('of a catalog that came from elsewhere are made at once, also by who goes on after a crash', async () => {
      const database = await openMigrated()
      const schema = (): Promise<readonly unknown[]> =>
        engine.name === 'sqlite'
          ? Promise.resolve([])
          : sql`select indexdef, indisvalid from pg_indexes join pg_index on indexrelid = indexname::regclass
              where tablename = 'search_entries' order by indexname`
              .execute(database.reader)
              .then(({ rows }) => rows)
      const before = await schema()
      const ids = Array.from({ length: 450 }, () => newId(Date.now()))
      for (const [index, id] of ids.entries()) await publish(database, id, `File ${index}`, '{"k":"Straße"}')
      // Who died had made some, and had taken the index away.
      const known = {
        id: ids[3] ?? '',
        repository: 'releases',
        name: 'File 3',
        labels: ['old'],
        collections: [],
        ...elsewhere,
      }
      await database.transaction(async (tx) => {
        await putEntry(tx, { ...known, metadata: { k: 'Straße' } })
        if (engine.name === 'postgres') await sql`drop index search_entries_by_token`.execute(tx)
      })
      await makeAllKnown(database)
      assert.equal((await found(database, 'strasse')).length, 450)
      assert.deepEqual(await found(database, 'file 44', 'old'), [ids[44], ...ids.slice(440)])
      for await (const { text } of checkSearch(database)) assert.fail(text)
      assert.deepEqual(await schema(), before)
      if (engine.name === 'postgres') {
        const { rows } = await sql<{ believed: number }>`select reltuples::integer as believed from pg_class
          where oid = 'search_entries'::regclass`.execute(database.reader)
        assert.deepEqual(rows, [{ believed: 450 }], 'what the planner believes')
      }
      await makeAllKnown(database)
      assert.deepEqual(await schema(), before)
    })

    if (engine.name === 'sqlite')
      it('are looked at together: what files have in common is looked for once', async () => {
        const database = await openMigrated()
        let asked = 0
        const counting: KyselyPlugin = {
          transformQuery({ node }) {
            asked += 1
            return node
          },
          transformResult: ({ result }) => Promise.resolve(result),
        }
        const counted: Database = Object.create(database, {
          reader: { value: database.reader },
          snapshot: { value: (work: (q: Queries) => Promise<unknown>) => work(database.reader.withPlugin(counting)) },
        })
        const looksAt = async (files: number): Promise<number> => {
          for (let index = 0; index < files; index++) {
            const id = newId(Date.now())
            await publish(database, id, `A long name that all have in common ${index % 10}`, '{}')
            await database.transaction((tx) => refreshEntry(tx, id))
          }
          asked = 0
          for await (const { text } of checkSearch(counted)) assert.fail(text)
          return asked
        }
        const few = await looksAt(40)
        assert.ok(few > 0)
        assert.equal(await looksAt(120), few)
      })

    if (engine.name === 'sqlite')
      it('are merged in the index a little at a time, so that no writer does the work of many', async () => {
        const database = await openMigrated()
        const changes: number[] = []
        for (let index = 0; index < 1_500; index++) {
          const id = newId(Date.now())
          await publish(database, id, `File ${index}`, '{}')
          await database.transaction(
            async (tx) => {
              // What the index writes when it commits shows in the next transaction.
              const { rows } = await sql<{ total: number }>`select total_changes() as total`.execute(tx)
              changes.push(rows[0]?.total ?? 0)
              const metadata = { commit: id, branch: 'main', builder: `runner-${index % 64}.ci.example.com` }
              const name = `service-${index}`
              await putEntry(tx, {
                id,
                repository: 'releases',
                name,
                labels: [],
                metadata,
                collections: [],
                ...elsewhere,
              })
            },
            { durability: 'relaxed' },
          )
        }
        const most = Math.max(...changes.slice(1).map((total, index) => total - (changes[index] ?? 0)))
        const { rows } = await sql<{ segments: number }>`
          select count(distinct segid) as segments from search_index_idx`.execute(database.reader)
        assert.ok((rows[0]?.segments ?? 0) <= 28, `${rows[0]?.segments} segments`)
        // A page that is merged comes with a row that points at it, and four pages and their rows go.
        assert.ok(most <= 15 * searchMergePages, `${most} rows of one writer`)
      })
  })
})
