import { sql } from 'kysely'
import type { Database, Queries } from './database.ts'

/**
 * The whole schema as text, the same text for the same schema whatever way led to it. For golden files: a migration
 * that changes more or less than it should shows as a difference.
 */
export const dumpSchema = async (database: Database): Promise<string> => {
  const statements = await (database.engine === 'sqlite' ? sqliteStatements : postgresStatements)(database.reader)
  return statements.map((statement) => `${statement};\n`).join('\n')
}

const sqliteStatements = async (q: Queries): Promise<string[]> => {
  // Rows without text are the automatic indexes of constraints; `sqlite_stat` tables are statistics.
  const { rows } = await sql<{ sql: string }>`
    select sql from sqlite_schema where sql is not null and name not like 'sqlite\\_%' escape '\\'
    order by tbl_name, case type when 'table' then 0 else 1 end, type, name`.execute(q)
  return rows.map((row) => broken(row.sql))
}

/** One column or constraint a line, so that differences can be read. */
const broken = (statement: string): string => {
  let depth = 0
  let text = ''
  for (const character of statement) {
    if (character === ')') depth--
    if (character === ')' && depth === 0) text += '\n'
    text += character
    if (character === '(') depth++
    if ((character === '(' || character === ',') && depth === 1) text += '\n '
  }
  return text.replaceAll(/\n +/g, '\n  ')
}

const postgresStatements = async (q: Queries): Promise<string[]> => {
  const { rows } = await sql<{ statement: string }>`
    with own as (
      select c.oid, c.relname, c.relkind from pg_class c where c.relnamespace = current_schema()::regnamespace
        and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
    ), parts as (
      select 0 as place, extname::text as owner, 0 as kind, '' as name, format('create extension %I', extname) as statement
        from pg_extension where extname <> 'plpgsql'
      union all
      select 1, relname::text, 0, '', format(E'create table %I (\n%s\n)', relname, (
        select string_agg(format('  %I %s%s%s%s', attname, format_type(atttypid, atttypmod),
            case when attcollation = '"C"'::regcollation then ' collate "C"' else '' end,
            case when attnotnull then ' not null' else '' end,
            ' default ' || pg_get_expr(adbin, adrelid)), E',\n' order by attnum)
          from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
          where attrelid = own.oid and attnum > 0 and not attisdropped))
        from own where relkind = 'r'
      union all
      select 1, relname::text, 1, conname::text,
          format('alter table %I add constraint %I %s', relname, conname, pg_get_constraintdef(pg_constraint.oid))
        from pg_constraint join own on own.oid = conrelid where contype <> 'n'
      union all
      select 1, t.relname::text, 2, i.relname::text, pg_get_indexdef(indexrelid)
        from pg_index join own t on t.oid = indrelid join own i on i.oid = indexrelid
        where not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
      union all
      select 1, relname::text, 3, tgname::text, pg_get_triggerdef(pg_trigger.oid)
        from pg_trigger join own on own.oid = tgrelid where not tgisinternal
      union all
      select 1, relname::text, 0, '', format('create view %I as %s', relname, pg_get_viewdef(oid)) from own where relkind = 'v'
      union all
      select 1, relname::text, 0, '', format('create sequence %I', relname) from own where relkind = 'S'
      union all
      select 2, proname::text, 0, pg_get_function_arguments(oid), pg_get_functiondef(oid) from pg_proc
        where pronamespace = current_schema()::regnamespace
          and not exists (select from pg_depend d where d.objid = pg_proc.oid and d.deptype = 'e')
    )
    select replace(statement, quote_ident(current_schema()) || '.', '') as statement from parts
    order by place, owner collate "C", kind, name collate "C"`.execute(q)
  return rows.map((row) => row.statement.trim())
}
