import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sql } from 'kysely'
import { forEachEngine } from '../../../test/harness/engines.ts'
import { migrate } from '../migrate.ts'
import { failOnReport } from '../notes.suite.ts'
import { openDatabase } from '../open.ts'
import { migrations } from './index.ts'

forEachEngine((engine) => {
  it('what is said of npm versions that came before counts with their bytes', async () => {
    const database = engine.use(await openDatabase({ url: await engine.freshDatabaseUrl(), report: failOnReport }))
    const number = migrations.findIndex(({ name }) => name === 'what-is-said-counts')
    await migrate(database, migrations.slice(0, number))
    await database.transaction(async (tx) => {
      await sql`insert into repositories (id, created_at, journal_head, published_bytes, pending_bytes, retired_bytes)
        values ('r', '2026', 0, 15, 3, 10)`.execute(tx)
      await sql`update counters set value = 28 where name = 'reserved_bytes'`.execute(tx)
      await sql`insert into npm_packages (id, repository, name, revision, created_at, modified_at, versions, last_number,
        maintainers, stars, found_by) values ('p', 'r', 'p', 1, '2026', '2026', 1, 2, '[]', '[]', '')`.execute(tx)
      for (const [id, state, readme] of [
        ['live', 'live', 'é'],
        ['gone', 'retired', null],
      ] as const) {
        await sql`insert into claims (id, repository, holder, sha256, size, state)
          values (${id}, 'r', 'npm-version', ${id}, 10, ${state})`.execute(tx)
        await sql`insert into npm_versions (id, package_id, repository, name, version, number, sha256, size, sha1, sha512,
          files, unpacked_size, manifest, readme, published_at, actor)
          values (${id}, 'p', 'r', 'p', ${id}, 1, ${id}, 10, '', '', 1, 1, '{"a":1}', ${readme}, '2026', 'x')`.execute(
          tx,
        )
      }
      await sql`insert into claims (id, repository, holder, sha256, size, state)
        values ('file', 'r', 'artifact', 'file', 5, 'live')`.execute(tx)
    })
    await migrate(database, migrations.slice(0, number + 1))
    const q = database.reader
    assert.deepEqual(await q.selectFrom('claims').select(['id', 'beside']).orderBy('id').execute(), [
      { id: 'file', beside: 0 },
      { id: 'gone', beside: 7 },
      { id: 'live', beside: 9 },
    ])
    const counted = ['published_bytes', 'pending_bytes', 'retired_bytes'] as const
    assert.deepEqual(await q.selectFrom('repositories').select(counted).where('id', '=', 'r').executeTakeFirst(), {
      published_bytes: 24,
      pending_bytes: 3,
      retired_bytes: 17,
    })
    const reserved = q.selectFrom('counters').select('value').where('name', '=', 'reserved_bytes')
    assert.deepEqual(await reserved.executeTakeFirst(), { value: 44 })
  })
})
