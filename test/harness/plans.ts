import type { CompiledQuery } from 'kysely'
import type { Queries } from '../../src/database/database.ts'
import type { Engine } from '../../src/database/migration.ts'

/** How the engine would run every statement that `work` runs, in its own words, one text a statement. */
export const plansOf = async (
  engine: Engine,
  q: Queries,
  work: (q: Queries) => Promise<unknown>,
): Promise<string[]> => {
  const executor = q.getExecutor()
  const plans: string[] = []
  const explaining = instead(executor, 'executeQuery', async (query: CompiledQuery) => {
    const sql = `${engine === 'sqlite' ? 'explain query plan' : 'explain'} ${query.sql}`
    const { rows } = await executor.executeQuery<Record<string, unknown>>({ ...query, sql })
    plans.push(rows.map((row) => String(row['detail'] ?? row['QUERY PLAN'])).join('\n'))
    return executor.executeQuery(query)
  })
  await work(instead(q, 'getExecutor', () => explaining))
  return plans
}

/** The same object with one method replaced; what it keeps to itself stays its own. */
const instead = <T extends object>(object: T, name: keyof T, method: unknown): T =>
  new Proxy(object, {
    get(target, key) {
      if (key === name) return method
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
