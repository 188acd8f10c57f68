import { type Kysely, sql } from 'kysely'
import { idPosition } from '../../kernel/id-position.ts'
import { exactTokensOf, searchText, tokensOf } from '../../kernel/search-text.ts'
import type { ColumnTypes, Migration } from '../migration.ts'

/** What search knows of published files, and of those that there are already. */
export const search: Migration = {
  number: 12,
  name: 'search',
  async up(q, types) {
    await q.schema
      .createTable('search_entries')
      .addColumn('artifact_id', types.text, (c) => c.primaryKey().references('artifacts.id').onDelete('cascade'))
      .addColumn('repository', types.text, (c) => c.notNull())
      .addColumn('position', types.integer, (c) => c.notNull())
      .addColumn('text', types.text, (c) => c.notNull())
      .execute()
    await (types.engine === 'postgres' ? invertedIndex(q) : fullTextTable(q))
    await fill(q, types)
  },
}

const invertedIndex = async (q: Kysely<unknown>): Promise<void> => {
  await sql`alter table search_entries add column exact int4[] not null`.execute(q)
  await sql`alter table search_entries add column tokens int4[] not null`.execute(q)
  // Statistics of arrays are dear, and no query leaves the choice of its plan to them.
  for (const name of ['exact', 'tokens'])
    await sql`alter table search_entries alter column ${sql.ref(name)} set statistics 0`.execute(q)
  await q.schema
    .createIndex('search_entries_by_repository')
    .on('search_entries')
    .columns(['repository', 'artifact_id'])
    .execute()
  // Without a list of what is yet to be sorted in, which every search would read and some writer would have to work
  // off.
  await sql`create index search_entries_by_token on search_entries using gin (tokens) with (fastupdate = off)`.execute(
    q,
  )
}

const fullTextTable = async (q: Kysely<unknown>): Promise<void> => {
  await q.schema.createIndex('search_entries_by_position').on('search_entries').column('position').execute()
  await sql`create virtual table search_index using fts5(tokens, content = '', contentless_delete = 1,
    detail = none, tokenize = 'ascii')`.execute(q)
}

interface Row {
  readonly id: string
  readonly repository: string
  readonly name: string
  readonly labels: string
  readonly metadata: string
  readonly collections: string
}

const page = 500

const fill = async (q: Kysely<unknown>, { engine }: ColumnTypes): Promise<void> => {
  let before: { position: number; tokens: Set<number> } | undefined
  for (let after = ''; ; ) {
    const { rows } = await sql<Row>`
      select a.id, a.repository, a.name, coalesce(n.labels, a.labels) as labels,
        coalesce(n.metadata, a.metadata) as metadata, coalesce(n.collections, '[]') as collections
      from artifacts a left join annotations n on n.artifact_id = a.id
      where a.id > ${after} order by a.id limit ${page}`.execute(q)
    for (const { id, repository, name, ...row } of rows) {
      const [labels, metadata, collections] = [row.labels, row.metadata, row.collections].map((json) =>
        JSON.parse(json),
      )
      const text = searchText({ name, metadata })
      const file = { repository, name, labels, metadata, collections }
      const tokens = tokensOf(file, text)
      const position = idPosition(id)
      if (engine === 'postgres') {
        const [exact, all] = [exactTokensOf(file), tokens].map((set) => `{${[...set].join()}}`)
        await sql`insert into search_entries (artifact_id, repository, position, text, exact, tokens)
          values (${id}, ${repository}, ${position}, ${text}, ${exact}::int4[], ${all}::int4[])`.execute(q)
        continue
      }
      await sql`insert into search_entries (artifact_id, repository, position, text)
        values (${id}, ${repository}, ${position}, ${text})`.execute(q)
      // Neighbours may stand at the same place, and the index knows a place once.
      const all = before?.position === position ? before.tokens.union(tokens) : tokens
      const words = Array.from(all, (token) => (token >>> 0).toString(36)).join(' ')
      await sql`insert or replace into search_index (rowid, tokens) values (${position}, ${words})`.execute(q)
      before = { position, tokens: all }
    }
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.id
  }
}
