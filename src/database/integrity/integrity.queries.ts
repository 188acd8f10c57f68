import { type RawBuilder, sql } from 'kysely'
import type { Queries } from '../database.ts'
import { engineOf } from '../engine-of.ts'
import type { JsonColumn } from './json-columns.ts'
import type { Relation } from './relations.ts'
import type { Numbering } from './sequences.ts'

const all = (conditions: readonly RawBuilder<unknown>[]) => sql.join(conditions, sql` and `)
const column = (alias: string, name: string) => sql.ref(`${alias}.${name}`)
/** Shown in words; of any type. */
const asText = (alias: string, names: readonly string[]) =>
  sql.join(
    names.map((name) => sql`cast(${column(alias, name)} as text)`),
    sql` || ' ' || `,
  )

/** What rows name that is nowhere. */
export const dangling = async (q: Queries, { table, columns, to }: Relation, limit: number): Promise<string[]> => {
  const named = columns.map((name) => sql`${column('c', name)} is not null`)
  const missing = to.map((parent) => {
    const same = parent.columns.map((name, at) => sql`${column('p', name)} = ${column('c', columns[at] ?? '')}`)
    return sql`not exists (select 1 from ${sql.table(parent.table)} as p where ${all(same)})`
  })
  const { rows } = await sql<{ names: string }>`
    select distinct ${asText('c', columns)} as names from ${sql.table(table)} as c
    where ${all([...named, ...missing])} limit ${limit}`.execute(q)
  return rows.map(({ names }) => names)
}

/**
 * Texts that PostgreSQL cannot take out of JSON: zero characters and halves of surrogate pairs. Asked of JSON as it is
 * written here, which escapes nothing else so.
 */
const heldByOneEngine = (value: RawBuilder<unknown>) => {
  const escapes = sql`lower(replace(${value}, '\\\\', ''))`
  return sql`(${escapes} like '%\\u0000%' or ${escapes} glob '*\\ud[89a-f]*')`
}

/** Rows whose column is not the JSON that it should be. */
export const notJson = async (
  q: Queries,
  { table, key, column: name, form, ofStrings }: JsonColumn,
  limit: number,
): Promise<string[]> => {
  const value = column('t', name)
  const other =
    engineOf(q) === 'sqlite'
      ? sql`case when not json_valid(${value}) then 1 when json_type(${value}) <> ${form} then 1
          when ${ofStrings ? 1 : 0} = 0 then 0 when ${heldByOneEngine(value)} then 1
          else exists (select 1 from json_each(${value}) as e where e.type <> 'text') end = 1`
      : sql`case when ${form === 'array' ? sql`${value} is not json array` : sql`${value} is not json object`} then true
          when ${sql.lit(!ofStrings)} then false when not pg_input_is_valid(${value}, 'jsonb') then true
          else exists (select 1 from ${
            form === 'array' ? sql`json_array_elements(cast(${value} as json))` : sql`json_each(cast(${value} as json))`
          } as e where json_typeof(e.value) <> 'string') end`
  const { rows } = await sql<{ names: string }>`
    select ${asText('t', [key])} as names from ${sql.table(table)} as t where ${other} limit ${limit}`.execute(q)
  return rows.map(({ names }) => names)
}

/** Owners of numbered rows whose numbers do not go up from the first by one. */
export const misnumbered = async (
  q: Queries,
  { table, of, number, first }: Numbering,
  limit: number,
): Promise<string[]> => {
  const owner = sql.join(of.map((name) => column('t', name)))
  const n = column('t', number)
  const { rows } = await sql<{ names: string }>`
    select ${asText('t', of)} as names from ${sql.table(table)} as t group by ${owner}
    having ${first === null ? sql`1 = 0` : sql`min(${n}) <> ${first}`} or max(${n}) - min(${n}) + 1 <> count(*) limit ${limit}`.execute(
    q,
  )
  return rows.map(({ names }) => names)
}

/** Files that are said to be published and deleted at once. */
export const publishedAndDeleted = async (q: Queries, limit: number): Promise<string[]> =>
  (
    await q
      .selectFrom('artifacts')
      .innerJoin('deleted_artifacts', 'deleted_artifacts.id', 'artifacts.id')
      .select('artifacts.id')
      .limit(limit)
      .execute()
  ).map(({ id }) => id)

/** Files and uploads in repositories that were deleted. */
export const inDeletedRepositories = async (
  q: Queries,
  table:
    | 'artifacts'
    | 'claims'
    | 'group_grants'
    | 'npm_cached_packages'
    | 'npm_packages'
    | 'npm_upstreams'
    | 'npm_versions'
    | 'oci_blobs'
    | 'oci_images'
    | 'oci_immutable_tags'
    | 'storage_policies'
    | 'uploads',
  limit: number,
): Promise<string[]> =>
  (
    await q
      .selectFrom(table)
      .innerJoin('repositories', 'repositories.id', `${table}.repository`)
      .select('repositories.id')
      .distinct()
      .where('repositories.deleted_at', 'is not', null)
      .limit(limit)
      .execute()
  ).map(({ id }) => id)

/** Names whose key is another one. They are ASCII by grammar. */
export const namesBesideKeys = async (
  q: Queries,
  table: 'access_groups' | 'accounts' | 'service_accounts',
  limit: number,
): Promise<string[]> =>
  (
    await q
      .selectFrom(table)
      .select('name')
      .where((eb) => eb('name_key', '<>', eb.fn<string>('lower', ['name'])))
      .limit(limit)
      .execute()
  ).map(({ name }) => name)
