import { type Kysely, sql } from 'kysely'
import { idPosition } from '../../kernel/id-position.ts'
import { exactTokensOf, pathsText, searchText, tokensOf, whereTokensOf } from '../../kernel/search-text.ts'
import type { ColumnTypes, Migration } from '../migration.ts'

/**
 * Search knows files by their digests and by the paths that show them; deleted files can be listed, and the jobs of one
 * caller. All entries of search are written anew.
 */
export const whatPeopleLookFor: Migration = {
  number: 28,
  name: 'what-people-look-for',
  async up(q, types) {
    await q.schema.alterTable('search_entries').addColumn('paths', types.text).execute()
    await q.schema.createIndex('jobs_by_owner').on('jobs').columns(['owner', 'id']).execute()
    await sql`create index deleted_artifacts_restorable on deleted_artifacts (repository, deleted_at, id)
      where released_at is null`.execute(q)
    await (types.engine === 'postgres' ? invertedAnew(q, types) : fullTextAnew(q, types))
  },
}

const invertedAnew = async (q: Kysely<unknown>, types: ColumnTypes): Promise<void> => {
  await sql`drop index if exists search_entries_by_token`.execute(q)
  await fill(q, types)
  await sql`create index search_entries_by_token on search_entries using gin (tokens) with (fastupdate = off)`.execute(
    q,
  )
}

const fullTextAnew = async (q: Kysely<unknown>, types: ColumnTypes): Promise<void> => {
  await sql`insert into search_index (search_index) values ('delete-all')`.execute(q)
  await fill(q, types)
}

interface Row {
  readonly id: string
  readonly repository: string
  readonly name: string
  readonly sha256: string
  readonly labels: string
  readonly metadata: string
  readonly collections: string
  readonly paths: string
}

const page = 500
/** One more path than search takes: so it is seen that there are more. */
const pathsRead = 33

const fill = async (q: Kysely<unknown>, { engine }: ColumnTypes): Promise<void> => {
  const list = engine === 'sqlite' ? sql`json_group_array(path)` : sql`json_agg(path)::text`
  let before: { position: number; tokens: Set<number> } | undefined
  for (let after = ''; ; ) {
    const { rows } = await sql<Row>`
      select a.id, a.repository, a.name, a.sha256, coalesce(n.labels, a.labels) as labels,
        coalesce(n.metadata, a.metadata) as metadata, coalesce(n.collections, '[]') as collections,
        coalesce((select ${list} from (
          select path from assets where artifact_id = a.id order by path limit ${sql.lit(pathsRead)}) as shown), '[]') as paths
      from artifacts a left join annotations n on n.artifact_id = a.id
      where a.id in (select id from artifacts where id > ${after} order by id limit ${page}) order by a.id`.execute(q)
    for (const { id, repository, name, sha256, ...row } of rows) {
      const [labels, metadata, collections, shown] = [row.labels, row.metadata, row.collections, row.paths].map(
        (json) => JSON.parse(json),
      )
      const text = searchText({ name, metadata })
      const paths = pathsText(shown)
      const file = { repository, name, labels, metadata, collections }
      const tokens = tokensOf(file, text).union(whereTokensOf({ sha256, paths }))
      if (engine === 'postgres') {
        const exact = exactTokensOf(file).union(whereTokensOf({ sha256, paths: '' }))
        const [few, all] = [exact, tokens].map((set) => `{${[...set].join()}}`)
        await sql`update search_entries set paths = ${paths}, exact = ${few}::int4[], tokens = ${all}::int4[]
          where artifact_id = ${id}`.execute(q)
        continue
      }
      await sql`update search_entries set paths = ${paths} where artifact_id = ${id}`.execute(q)
      // Neighbours may stand at the same position, and the index knows a position once.
      const position = idPosition(id)
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
