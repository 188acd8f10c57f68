import assert from 'node:assert/strict'
import { DatabaseSync, type SQLInputValue, StatementSync } from 'node:sqlite'
import type { CompiledQuery } from 'kysely'
import { Client } from 'pg'
import type { Queries } from '../../src/database/database.ts'
import { engineOf } from '../../src/database/engine-of.ts'
import type { PlannedQuery } from '../../src/database/prepared.ts'

/** A statement as it went to the engine. */
export interface IssuedQuery {
  readonly sql: string
  readonly parameters: readonly unknown[]
  /** PostgreSQL keeps one plan of it for all values. */
  readonly kept: boolean
}

const isQuery = (value: unknown): value is { readonly text: string; readonly values?: unknown } =>
  typeof value === 'object' && value !== null && 'text' in value && typeof value.text === 'string'

/**
 * Everything that this process asks its databases while `work` runs, on either engine. Services under test run in this
 * process, so these are the statements of a request, whoever wrote them.
 */
export const queriesOf = async (work: () => Promise<unknown>): Promise<IssuedQuery[]> => {
  const issued: IssuedQuery[] = []
  const note = (sql: string, parameters: unknown, kept = false): void => {
    if (/^\s*(?:select|with|update|delete)\b/i.test(sql))
      issued.push({ sql, parameters: Array.isArray(parameters) ? parameters : [], kept })
  }
  const { all, run } = StatementSync.prototype
  const { query } = Client.prototype
  StatementSync.prototype.all = function (this: StatementSync, ...given: unknown[]) {
    note(this.sourceSQL, given[0])
    return Reflect.apply(all, this, given)
  }
  StatementSync.prototype.run = function (this: StatementSync, ...given: unknown[]) {
    note(this.sourceSQL, given[0])
    return Reflect.apply(run, this, given)
  }
  Client.prototype.query = function (this: Client, ...given: unknown[]) {
    const [first, values] = given
    if (typeof first === 'string') note(first, values)
    else if (isQuery(first)) note(first.text, first.values, 'name' in first)
    return Reflect.apply(query, this, given)
  }
  try {
    await work()
  } finally {
    Object.assign(StatementSync.prototype, { all, run })
    Object.assign(Client.prototype, { query })
  }
  return issued
}

/**
 * How the engine would run every statement that `work` runs, in its own words: one text a statement, and on PostgreSQL
 * another one for the plan that it would keep for all values where the statement asks for that.
 */
export const plansOf = async (q: Queries, work: (q: Queries) => Promise<unknown>): Promise<string[]> => {
  const executor = q.getExecutor()
  const run = executor.executeQuery.bind(executor)
  const plans: string[] = []
  const explain = async (how: string, query: CompiledQuery): Promise<void> => {
    const { rows } = await run<Record<string, unknown>>({ ...query, sql: `${how} ${query.sql}` })
    plans.push(rows.map((row) => String(row['detail'] ?? row['QUERY PLAN'])).join('\n'))
  }
  const explaining = async (asked: PlannedQuery): Promise<unknown> => {
    const { statementName, ...query } = asked
    await explain(engineOf(q) === 'sqlite' ? 'explain query plan' : 'explain', query)
    if (engineOf(q) === 'postgres' && statementName !== undefined)
      await explain('explain (generic_plan)', { ...query, parameters: [] })
    return run(asked)
  }
  Object.assign(executor, { executeQuery: explaining })
  try {
    await work(q)
  } finally {
    Object.assign(executor, { executeQuery: run })
  }
  assert.ok(plans.length > 0, 'nothing was asked')
  return plans
}

/**
 * Brings the planner's statistics up to date, and keeps them: a test that adds thousands of rows for one case would
 * else find other plans whenever the server looks again by itself. SQLite plans without.
 */
export const analyze = async (databaseUrl: string): Promise<void> => {
  if (databaseUrl.startsWith('sqlite:')) return
  await onServer(databaseUrl, async (client) => {
    const { rows } = await client.query(
      "select oid::regclass as name from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace",
    )
    for (const { name } of rows) await client.query(`alter table ${name} set (autovacuum_enabled = off)`)
    await client.query('analyze')
  })
}

/**
 * What is wrong with the plans of these queries, in words: a table that is read from end to end, or a result that is
 * sorted because no index has its order. Tables with fewer rows than `smallRows` may be read whole on PostgreSQL, whose
 * planner rightly prefers that; SQLite decides without looking at sizes.
 */
export const planFaults = async (
  databaseUrl: string,
  queries: readonly IssuedQuery[],
  smallRows: number,
): Promise<string[]> => {
  const each = [...new Map(queries.map((query) => [query.sql, query])).values()]
  const faults = databaseUrl.startsWith('sqlite:')
    ? sqliteFaults(databaseUrl.slice('sqlite:'.length), each)
    : await onServer(databaseUrl, (client) => postgresFaults(client, each, smallRows))
  return [...faults, ...each.filter(goesOnByOr).map(({ sql }) => `a page that begins at the beginning: ${sql}`)]
}

/**
 * A page behind a row that is told as "this column is beyond, or it is the same and that one is beyond": no engine
 * finds where to begin in an index by that.
 */
const goesOnByOr = ({ sql }: IssuedQuery): boolean => /("\w+"(?:\."\w+")?) [<>] (?:\?|\$\d+) or \(\1 = /.test(sql)

/** Of people and groups there are few. */
const ofTheCaller = /\b(?:group_members|group_grants|sqlite_schema)\b/

/**
 * Looks at the plans of what requests ask on a service: what is wrong with them, behind what was done. `isFew` says of
 * a fault that it is none, since there are few of such rows.
 */
export const planReader =
  (service: () => { readonly databaseUrl: string }, smallRows: number, isFew: (fault: string) => boolean) =>
  async (what: string, work: () => Promise<unknown>): Promise<string[]> => {
    const queries = await queriesOf(work)
    assert.ok(queries.length > 1, `${what}: its queries were not seen`)
    const ours = queries.filter(({ sql }) => !ofTheCaller.test(sql))
    const found = await planFaults(service().databaseUrl, ours, smallRows)
    return found.filter((fault) => !isFew(fault)).map((fault) => `${what}: ${fault}`)
  }

const sqliteFaults = (path: string, queries: readonly IssuedQuery[]): string[] => {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return queries.flatMap(({ sql, parameters }) => {
      const steps = database
        .prepare(`explain query plan ${sql}`)
        .all(...parameters.filter(isInput))
        .map(({ detail }) => String(detail))
      // What is read from end to end may be a sub-query's few rows, or those of a parameter.
      const derived = new Set(steps.map((step) => /^(?:MATERIALIZE|CO-ROUTINE) (\S+)$/.exec(step)?.[1]))
      const bad = steps.filter((step) => {
        const scanned = /^SCAN (?!CONSTANT|json_each\b)(\S+)/.exec(step)?.[1]
        return (scanned !== undefined && !derived.has(scanned)) || step.startsWith('USE TEMP B-TREE')
      })
      return bad.map((step) => `${step} in ${sql}`)
    })
  } finally {
    database.close()
  }
}

const isInput = (value: unknown): value is SQLInputValue =>
  value === null || ['string', 'number', 'bigint'].includes(typeof value) || value instanceof Uint8Array

/** What we look at of a plan. */
interface PlanNode {
  readonly type: string
  readonly relation: string | undefined
  /** What of the question the index answers, in PostgreSQL's words. */
  readonly indexCondition: string
  readonly children: readonly PlanNode[]
}

const postgresFaults = async (
  client: Client,
  queries: readonly IssuedQuery[],
  smallRows: number,
): Promise<string[]> => {
  const big = new Set<unknown>()
  const sizes = await client.query("select relname, reltuples from pg_class where relkind = 'r' and reltuples >= $1", [
    smallRows,
  ])
  for (const row of sizes.rows) big.add(row.relname)
  const faults: string[] = []
  // A few rows are rightly sorted rather than read in order; what still sorts now has no index to go by.
  await client.query('set enable_sort = off')
  for (const { sql, parameters, kept } of queries) {
    const { rows } = await client.query(`explain (format json) ${sql}`, [...parameters])
    if (kept) rows.push(...(await client.query(`explain (generic_plan, format json) ${sql}`)).rows)
    for (const node of rows.flatMap((row) => nodesOf(toNode(row['QUERY PLAN'][0].Plan)))) {
      const whole = node.type === 'Seq Scan' && big.has(node.relation)
      const sorts = /Sort/.test(node.type) && nodesOf(node).some(({ relation }) => big.has(relation))
      if (whole || sorts) faults.push(`${node.type} ${node.relation ?? ''} in ${sql}`)
      if (comparesFromTheBeginning(node)) faults.push(`${node.indexCondition} begins at the beginning in ${sql}`)
    }
  }
  return faults
}

/**
 * A row is compared whose first column an equation fixes: the index is then read from the first entry of that equation
 * on, and not from the row on, unless what is beyond it is said of the second column as well.
 */
const comparesFromTheBeginning = ({ indexCondition }: PlanNode): boolean =>
  [...indexCondition.matchAll(/ROW\((\w+), (\w+)/g)].some(
    ([, first, second]) =>
      indexCondition.includes(`(${first} = `) && !new RegExp(`\\(${second} [<>]`).test(indexCondition),
  )

const toNode = (plan: Readonly<Record<string, unknown>>): PlanNode => ({
  type: String(plan['Node Type']),
  relation: typeof plan['Relation Name'] === 'string' ? plan['Relation Name'] : undefined,
  indexCondition: String(plan['Index Cond'] ?? ''),
  children: Array.isArray(plan['Plans']) ? plan['Plans'].map(toNode) : [],
})

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...node.children.flatMap(nodesOf)]

const onServer = async <T>(url: string, work: (client: Client) => Promise<T>): Promise<T> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
