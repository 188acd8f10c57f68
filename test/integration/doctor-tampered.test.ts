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

after(closeConnections)

const nobody = '00000000-0000-7000-8000-000000000000'

/** Ends a transaction whose changes nobody shall see. */
class TakenBack extends Error {}

/**
 * Tables that no row of another names and that hold no JSON: who looks at them, or why there is nothing to hold them
 * against.
 */
const lookedAtOtherwise = {
  counters: 'each is counted again',
  download_gateways: 'it is of the moment',
  download_queue: 'a secret',
  installation: 'one row, which says how far an import is',
  link_keys: 'keys of other processes, until they end',
  quarantine: 'names of bytes of which no row knows',
  reclaim_candidates: 'a queue of digests of which none need be known',
  reclaim_holds: 'it is of the moment',
  security_audit: 'its lines go to its counter without gaps',
  throttles: 'wrong tries of names that need not be known',
  upkeep_runs: 'it tells when upkeep ran, by the names of its kinds',
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
        sql`insert into removals (name, size, begun_at, tries, due_at) values ('x', 1, '2026', 0, '2026')`,
        sql`insert into removal_notes (name, repository, artifact_id) values ('x', 'one', 'x')`,
        sql`insert into reclaim_notes (sha256, repository, artifact_id) select sha256, 'one', id from deleted_artifacts`,
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
    for (const check of checks.slice(1))
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
      const numeric = column === 'revision' || column === 'source_revision'
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
      // Deleted files are described as published ones are, freed versions as others.
      assert.equal(jsonColumns.length, columns.length + 3)
    })

    for (const [what, text, of] of [
      ['is named in each column, and ends no other check', '{', () => true],
      ['that is of another kind as well', '7', () => true],
      ['and what is no text among texts', '', ({ ofStrings }: { ofStrings: boolean }) => ofStrings],
    ] as const)
      it(what, async () => {
        const columns = jsonColumns.filter(of)
        const wrong = (form: string): string => (text !== '' ? text : form === 'array' ? '[1]' : '{"a":1}')
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

  const one = (table: string, key = 'artifact_id'): string => `${key} = (select max(${key}) from ${table})`
  for (const [what, statements, ...expected] of [
    [
      'a version under another order',
      [`update packages set version_key = '0' where ${one('packages')}`],
      /the package .+ is not the version that its manifest says/,
    ],
    [
      'a folded name that is none',
      [`update packages set name_key = 'TOOL' where ${one('packages')}`],
      /is not the version that its manifest says/,
    ],
    [
      'a version that is said to be no pre-release',
      ['update packages set prerelease = 0 where prerelease = 1'],
      /is not the version that its manifest says/,
    ],
    [
      'another manifest',
      [`update packages set manifest = '{"name":"other","version":"1.0.0"}' where ${one('packages')}`],
      /is not the version that its manifest says/,
    ],
    [
      'a package in another repository than its file',
      [`update packages set repository = 'two' where ${one('packages')}`],
      /a row of packages names artifact_id, repository .+ two, which artifacts does not have/,
    ],
    [
      'stages of packages that no file has',
      [
        "insert into package_stages select artifact_id, 'never', repository, group_key, name_key, prerelease, version_key, '' from packages",
      ],
      /is not found by the stages/,
    ],
    [
      'a gap in the history of a path',
      ['delete from asset_revisions where revision = 2'],
      /asset_revisions: a revision of one notes\/read me\.txt is missing/,
    ],
    [
      'a path without a history',
      ["delete from asset_revisions where path = 'empty'"],
      /empty.+ does not show the newest revision/,
    ],
    [
      'a history without its path',
      ["delete from assets where path = 'empty'"],
      /a row of asset_revisions names repository, path one empty, which assets or removed_paths does not have/,
    ],
    [
      'a history without its beginning',
      ["delete from asset_revisions where revision = 1 and path = 'notes/read me.txt'"],
      /the oldest revisions of .+read me.+ are missing/,
    ],
    [
      'a removed path without the revision that says so',
      ['delete from asset_revisions where removed = 1'],
      /removed.+ was removed, and its history does not end with that/,
    ],
    [
      'a path that shows a file and is removed',
      [
        "insert into assets select repository, path, 1, artifact_id, 1 from asset_revisions where path = 'removed' and revision = 1",
      ],
      /removed.+ was removed, and its history does not end with that/,
    ],
    [
      'a path that shows the file of another repository',
      ["update assets set artifact_id = (select max(id) from artifacts where repository = 'two') where path = 'empty'"],
      /does not show the newest revision/,
    ],
    [
      'a gap in the history of attachments',
      ['delete from attachments where revision = 2', 'delete from attachment_revisions where revision = 2'],
      /attachment_revisions: a revision of .+ is missing/,
    ],
    [
      'an attachment in no place',
      ['update attachments set position = 5 where revision = 1'],
      /attachments: a position of .+ 1 is missing/,
    ],
    [
      'a reference to nobody',
      [`update artifact_references set artifact_id = '${nobody}'`],
      /a row of artifact_references names artifact_id/,
    ],
    [
      'annotations of nobody',
      [`update annotations set artifact_id = '${nobody}' where ${one('annotations')}`],
      /annotations of .+ belong to no file/,
    ],
    ['a stage in another repository', ["update artifact_stages set repository = 'two'"], /stands in another one/],
    [
      'a copy that is not there',
      [`update promotions set copy_id = '${nobody}'`],
      /a row of promotions names copy_id, target/,
    ],
    [
      'a file that is published and deleted',
      [
        'insert into artifacts select id, repository, name, size, sha256, labels, metadata, created_at, expires_at, published_at from deleted_artifacts',
      ],
      /is published and deleted at once/,
    ],
    [
      'a file whose claim is another',
      [`update artifacts set size = size + 1 where ${one('artifacts', 'id')}`],
      /is published without a live claim/,
    ],
    [
      'files in a deleted repository',
      ["update repositories set deleted_at = '2026' where id = 'two'"],
      /repository two is deleted, and there are artifacts in it/,
    ],
    [
      'a policy on the authority of nobody',
      ['update storage_policies set key_id = null'],
      /repository one: its storage policy is enabled on the authority of no key/,
    ],
    [
      'a policy that is disabled and due',
      ["update storage_policies set enabled = 0, next_run_at = '2026'"],
      /disabled, and has a key or a next run/,
    ],
    [
      'events beyond their counter',
      ["insert into storage_events values ('one', 900, '2026', 'info', 'x', '{}')"],
      /repository one: the storage events go to 900/,
    ],
    [
      'a journal beyond its counter',
      ["update repositories set journal_head = 1 where id = 'one'"],
      /repository one: the journal has \d+ lines/,
    ],
    [
      'a gap in a journal',
      ["delete from journal where repository = 'one' and sequence = 3"],
      /repository one: the journal has \d+ lines/,
    ],
    [
      'a consumer that is ahead of its journal',
      ['update journal_cursors set sequence = 9999'],
      /webhook:x has come to 9999/,
    ],
    [
      'a gap in the security audit',
      ['delete from security_audit where sequence = 3'],
      /the security audit has \d+ lines/,
    ],
    [
      'a security audit beyond its counter',
      ["update counters set value = 1 where name = 'security_audit'"],
      /the security audit has \d+ lines/,
    ],
    [
      'an account that is not found by its name',
      ["update accounts set name_key = 'somebody' where name = 'writer'"],
      /accounts: writer is not found by its name/,
    ],
    [
      'a wrong count of accounts',
      ["update counters set value = 77 where name = 'accounts'"],
      /the counter of accounts says 77/,
    ],
    [
      'a wrong count of jobs',
      ["update counters set value = 77 where name = 'open_jobs'"],
      /the counter of open jobs says 77/,
    ],
    [
      'a key of no account',
      [`update service_keys set account_id = '${nobody}'`],
      /a row of service_keys names account_id/,
    ],
    [
      'a label that search does not know',
      [`update annotations set labels = '["otherwise"]'`],
      /search does not know the artifact/,
    ],
    ['paths that search has otherwise', ["update search_entries set paths = 'x'"], /search does not know the artifact/],
    [
      'a path that leads to another file than search knows',
      ['delete from assets where path = (select min(path) from assets)'],
      /search does not know the artifact/,
    ],
    ['text that search has otherwise', ["update search_entries set text = 'x'"], /search does not know the artifact/],
    ...(engine.name === 'sqlite'
      ? ([
          [
            'what search knows of no file',
            ["insert into search_index (rowid, tokens) values (7, 'abc')"],
            /search knows something at 7, where no file is/,
          ],
        ] as const)
      : []),
  ] as const)
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
