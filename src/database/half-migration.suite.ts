/** A process that says when it stands in the middle of its second migration, and stays there to be killed. */
import { setTimeout as pause } from 'node:timers/promises'
import { migrate } from './migrate.ts'
import type { Migration } from './migration.ts'
import { openDatabase } from './open.ts'

const table = (number: number, afterwards: () => Promise<void>): Migration => ({
  number,
  name: `table ${number}`,
  up: async (q, { integer }) => {
    await q.schema.createTable(`t${number}`).addColumn('id', integer).execute()
    await afterwards()
  },
})

const stay = async (): Promise<void> => {
  process.stdout.write('half\n')
  await pause(60_000)
}

if (import.meta.main) {
  const report = (message: string): void => void process.stderr.write(`${message}\n`)
  const database = await openDatabase({ url: process.argv[2] ?? '', report })
  await migrate(database, [table(1, async () => {}), table(2, stay)])
}
