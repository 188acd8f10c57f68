import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import type { Database, Queries, Transaction } from '../../src/database/database.ts'
import { dangling } from '../../src/database/integrity/integrity.queries.ts'
import { jsonColumns } from '../../src/database/integrity/json-columns.ts'
import { relations } from '../../src/database/integrity/relations.ts'
import { checks, findingsOf } from '../../src/main/every-check.ts'
import { mendAll } from '../../src/main/mending.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { addPackage } from '../harness/packages.ts'
import { openRichCatalog, type RichCatalog } from '../harness/rich-catalog.ts'
import { tableNames } from '../harness/rows.ts'
import { tamperings } from '../harness/tampering.ts'

after(closeConnections)

const nobody = '00000000-0000-7000-8000-000000000000'

/** Ends a transaction whose changes nobody shall see. */
class TakenBack extends Error {}

/**
 * Tables that no row of another names and that hold no JSON: who looks at them, or why there is nothing to hold them
 * against.
 */
const lookedAtOtherwise = {
  backup_agents: 'it is of the moment',
  backup_damage: 'names of files of a vault, of which none need be known',
  backup_jobs: 'it tells what was done, also of points that are gone',
  backup_plan: 'one row, which nothing else repeats',
  backup_points: 'the agent holds them against the vault',
  backup_rehearsals: 'it tells what was tried, also of points that are gone',
  backup_shares: 'it tells what was read of a vault',
  counters: 'each is counted again',
  download_gateways: 'it is of the moment',
  download_queue: 'a secret',
  healed_blobs: 'it tells what was wrong, also with what is gone',
  inline_bytes: 'they are looked at with the bytes of the store',
  inline_sums: 'what a look has counted, until the next one',
  installation: 'one row, which says how far an import is',
  link_keys: 'keys of other processes, until they end',
  npm_fetches: 'it is of the moment',
  quarantine: 'names of bytes of which no row knows',
  reclaim_candidates: 'a queue of digests of which none need be known',
  reclaim_holds: 'it is of the moment',
  security_audit: 'its lines go to its counter without gaps',
  service_samples: 'they tell how it was',
  throttles: 'wrong tries of names that need not be known',
  upkeep_runs: 'it tells when upkeep ran, by the names of its kinds',
  webhooks: 'a file says which there are, also of repositories that are yet to come',
} as const

forEachEngine((engine) => {
  let rich: RichCatalog
  let database: Database
  before(async () => {
    rich = await openRichCatalog(engine)
    database = rich.catalog.inspection.database
    const { service, writer } = rich.catalog
    await rich.catalog.remove(await addPackage(service, writer.token, 'one', { name: 'gone', version: '1.0.0' }))
    const staged = await addPackage(service, writer.token, 'one', { name: 'staged', version: '1.0.0' })
    await rich.catalog.expect({ method: 'PUT', path: `/artifacts/${staged}/stages/tested`, json: {} }, 200)
    await database.transaction(async (tx) => {
      for (const statement of [
        sql`insert into journal_cursors (repository, name, sequence, moved_at) values ('one', 'webhook:x', 1, '2026')`,
        sql`insert into journal_gaps select id, journal_head, journal_head from repositories where id = 'one'`,
        sql`insert into webhooks (id, repository, host, actions, created_at, named_at) values ('x', 'one', 'example.org', '[]', '2026', '2026')`,
        sql`insert into removals (name, size, begun_at, tries, due_at) values ('x', 1, '2026', 0, '2026')`,
        sql`insert into removal_notes (name, repository, artifact_id) values ('x', 'one', 'x')`,
        sql`insert into reclaim_notes (sha256, repository, artifact_id) select sha256, 'one', id from deleted_artifacts`,
        sql`insert into npm_taken_versions (repository, name, version, released_at) values ('one', 'x', '1.0.0', '2026')`,
        sql`update storage_policies set enabled = 1, key_id = (select max(id) from service_keys) where repository = 'one'`,
      ])
        await statement.execute(tx)
    })
  })
  after(() => rich.catalog.close())

  /** What `look` answers while rows are as somebody left them who wrote past the service. Then they are as before. */
  const whenTampered = async <T>(
    tamper: (tx: Transaction) => Promise<void>,
    look: (tx: Transaction) => Promise<T>,
  ): Promise<T> => {
    let seen: { readonly value: T } | null = null
    const done = database.transaction(async (tx) => {
      const pastKeys =
        engine.name === 'sqlite'
          ? sql`pragma defer_foreign_keys = on`
          : sql`set local session_replication_role = replica`
      await pastKeys.execute(tx)
      await tamper(tx)
      seen = { value: await look(tx) }
      throw new TakenBack()
    })
    await done.catch((error: unknown) => {
      if (!(error instanceof TakenBack)) throw error
    })
    if (seen === null) assert.fail('nothing was looked at')
    return (seen as { value: T }).value
  }

  /** All that the doctor says of rows. Bytes are none of a transaction's business. */
  const saidOf = async (tx: Transaction): Promise<string[]> => {
    const within: Database = Object.create(database, {
      reader: { value: tx },
      snapshot: { value: (work: (q: Queries) => Promise<unknown>) => work(tx) },
    })
    const said: string[] = []
    for (const check of checks.filter(({ opensBytes }) => opensBytes !== true))
      for await (const { kind, text } of findingsOf(check, { ...rich.catalog.inspection, database: within }))
        if (kind === 'damage') said.push(text)
    return said
  }

  const run =
    (...statements: string[]) =>
    async (tx: Transaction): Promise<void> => {
      for (const statement of statements) await sql.raw(statement).execute(tx)
    }

  const seen = (said: readonly string[], expected: RegExp): void =>
    assert.ok(
      said.some((text) => expected.test(text)),
      `${expected} is none of\n${said.join('\n')}`,
    )

  it('finds nothing in what nobody touched', async () => {
    assert.deepEqual(await whenTampered(async () => {}, saidOf), [])
  })

  it('finds what each row names and nobody has', async () => {
    for (const relation of relations) {
      const { table } = relation
      const column = relation.columns.at(-1) ?? ''
      const numeric = ['revision', 'source_revision', 'piece'].includes(column)
      const named = relation.columns.join()
      const change = `update ${table} set ${column} = ${numeric ? '999' : `'${nobody}'`} where (${named}) in (
        select ${named} from ${table} where ${column} is not null limit 1)`
      const found = await whenTampered(run(change), (tx) => dangling(tx, relation, 10))
      assert.ok(found.length > 0, `${table} (${relation.columns.join()}) -> ${JSON.stringify(relation.to)}`)
      assert.deepEqual(await dangling(database.reader, relation, 10), [])
    }
  })

  it('looks at every foreign key of the schema', async () => {
    const golden = await readFile(new URL('../../src/database/migrations/golden/sqlite.sql', import.meta.url), 'utf8')
    const known = new Set(
      relations.flatMap(({ table, columns, to }) =>
        to.map((parent) => `${table}(${columns.join()})->${parent.table}(${parent.columns.join()})`),
      ),
    )
    const keys = golden.split('CREATE TABLE ').flatMap((text) => {
      const table = /^"(\w+)"/.exec(text)?.[1]
      const names = (list: string): string => list.replaceAll(/[" ]/g, '')
      const inline = [...text.matchAll(/^ +"(\w+)" [^\n]*references "(\w+)" \(([^)]*)\)/gm)]
      const apart = [...text.matchAll(/foreign key \(([^)]*)\) references "(\w+)" \(([^)]*)\)/g)]
      return [...inline, ...apart].map(
        ([, own = '', parent = '', theirs = '']) => `${table}(${names(own)})->${parent}(${names(theirs)})`,
      )
    })
    assert.ok(keys.length > 30)
    assert.deepEqual(
      keys.filter((key) => !known.has(key)),
      [],
    )
  })

  it('looks at every table', () => {
    const looked = new Set([...relations.flatMap(({ table, to }) => [table, ...to.map((parent) => parent.table)])])
    assert.deepEqual(tableNames.filter((name) => !looked.has(name)).sort(), Object.keys(lookedAtOtherwise))
  })

  describe('malformed JSON', () => {
    it('is looked for in every column of it', async () => {
      const folder = new URL('../../src/database/tables/', import.meta.url)
      const columns: string[] = []
      for (const name of await readdir(folder))
        for (const [, column = ''] of (await readFile(new URL(name, folder), 'utf8')).matchAll(
          /JSON [^*]*\*\/\n +(\w+):/g,
        ))
          columns.push(column)
      const known = new Set(jsonColumns.map(({ column }) => column))
      assert.deepEqual(
        columns.filter((column) => !known.has(column)),
        [],
      )
      // Deleted files are described as published ones are, freed versions as others, and what was said of a file before
      // as what is said now.
      assert.equal(jsonColumns.length, columns.length + 6)
    })

    const ofTexts = ({ ofStrings }: { ofStrings: boolean }): boolean => ofStrings
    for (const [what, array, object, of] of [
      ['is named in each column, and ends no other check', '{', '{', () => true],
      ['that is of another kind as well', '7', '7', () => true],
      ['and what is no text among texts', '[1]', '{"a":1}', ofTexts],
      ['and a zero character among texts', '["\\u0000"]', '{"a":"\\u0000"}', ofTexts],
      ['and half of a surrogate pair', '["\\\\ \\ud800"]', '{"\\uDFFF":""}', ofTexts],
    ] as const)
      it(what, async () => {
        const columns = jsonColumns.filter(of)
        const wrong = (form: string): string => (form === 'array' ? array : object)
        const said = await whenTampered(
          run(
            ...columns.map(
              ({ table, key, column, form }) =>
                `update ${table} set ${column} = '${wrong(form)}' where ${key} = (select max(${key}) from ${table})`,
            ),
            'update asset_revisions set revision = 77 where revision = 3',
          ),
          saidOf,
        )
        for (const { table, column } of columns) seen(said, new RegExp(`^${table}: ${column} of .+ is no JSON`))
        seen(said, /asset_revisions: a revision of one notes\/read me\.txt is missing/)
        assert.ok(
          said.every((line) => !line.includes('could not go on')),
          said.join('\n'),
        )
      })
  })

  for (const [what, statements, ...expected] of tamperings(engine.name))
    it(`finds ${what}`, async () => {
      const said = await whenTampered(run(...statements), saidOf)
      for (const pattern of expected) seen(said, pattern)
    })

  it('says that it mended what it does not find again, and of the rest that it is damaged', async () => {
    const inspection = rich.catalog.inspection
    let broken = true
    const check = {
      of: 'two things',
      async *look() {
        if (broken)
          yield {
            kind: 'damage' as const,
            text: 'can be mended',
            mend: async () => {
              broken = false
            },
          }
        yield { kind: 'damage' as const, text: 'stays so', mend: async () => {} }
        yield { kind: 'damage' as const, text: 'cannot', mend: () => Promise.reject(new Error('no room')) }
        yield { kind: 'damage' as const, text: 'is for a person', mend: null }
      },
    }
    assert.deepEqual(await Array.fromAsync(mendAll(inspection, [check]), ({ kind, text }) => `${kind}: ${text}`), [
      'mended: can be mended',
      'damage: stays so',
      'damage: cannot (putting it right failed: no room)',
      'damage: is for a person',
    ])
  })

  it('goes on where a check cannot', async () => {
    const broken = { of: 'a', look: () => ({ [Symbol.asyncIterator]: () => assert.fail('no such column') }) }
    const said = await Array.fromAsync(findingsOf(broken, rich.catalog.inspection), ({ text }) => text)
    assert.deepEqual(said, ['the check of a could not go on: no such column'])
  })
})
