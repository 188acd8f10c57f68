/** Another process on the same database file: appends `count` notes, each in its own transaction. */
import { sql } from 'kysely'
import { openDatabase } from '../open.ts'

const [url = '', first = '0', count = '0', pauseMs = '0'] = process.argv.slice(2)

const main = async (): Promise<void> => {
  const report = (message: string): void => void process.stderr.write(`${message}\n`)
  const database = await openDatabase({ url, report })
  process.stdout.write('ready\n')
  for (let id = Number(first); id < Number(first) + Number(count); id++) {
    await database.transaction(async (tx) => {
      await sql`insert into notes (id, body) values (${id}, 'neighbour')`.execute(tx)
      if (pauseMs !== '0') await new Promise((resolve) => setTimeout(resolve, Number(pauseMs)))
    })
  }
  await database[Symbol.asyncDispose]()
}

if (import.meta.main) await main()
