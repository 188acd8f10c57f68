import type { Queries, Transaction } from './database.ts'
import { type Parameters, prepareQuery } from './prepared.ts'
import type { CounterName } from './tables/counters.ts'

const addTo = prepareQuery((q, p: Parameters<{ name: CounterName; by: number }>) =>
  q
    .updateTable('counters')
    .set((eb) => ({ value: eb('value', '+', p('by')) }))
    .where('name', '=', p('name'))
    .returning('value'),
)

/** What a server-wide total says. */
export const totalOf = async (q: Queries, name: CounterName): Promise<number> =>
  (await q.selectFrom('counters').select('value').where('name', '=', name).executeTakeFirstOrThrow()).value

/** Adds to a server-wide total and returns the new value; holds its row lock until the end of the transaction. */
export const moveCounter = async (tx: Transaction, name: CounterName, by: number): Promise<number> => {
  const [row] = await addTo(tx, { name, by })
  if (row === undefined) throw new Error(`there is no counter ${name}`)
  return row.value
}

/** Sets a total to what is counted anew, under the lock that everyone takes who changes it. */
export const recount = async (tx: Transaction, name: CounterName, count: () => Promise<number>): Promise<void> => {
  const said = await moveCounter(tx, name, 0)
  await moveCounter(tx, name, (await count()) - said)
}
