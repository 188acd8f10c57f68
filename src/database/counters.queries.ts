import type { Transaction } from './database.ts'
import type { CounterName } from './tables/counters.ts'

/** Adds to a server-wide total and returns the new value; holds its row lock until the end of the transaction. */
export const moveCounter = async (tx: Transaction, name: CounterName, by: number): Promise<number> => {
  const row = await tx
    .updateTable('counters')
    .set((eb) => ({ value: eb('value', '+', by) }))
    .where('name', '=', name)
    .returning('value')
    .executeTakeFirstOrThrow()
  return row.value
}
