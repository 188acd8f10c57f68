import { sql } from 'kysely'
import { openDatabase } from '../../src/database/open.ts'
import { DatabaseUnavailable } from '../../src/database/unavailable.ts'

/**
 * A gateway that takes the row of a repository in a transaction and is then stopped by whoever started it. Woken, it
 * wants to go on, and says what it was told.
 */
const database = await openDatabase({ url: process.argv[2] ?? '', report: () => {} })
try {
  await database.transaction(async (tx) => {
    await sql`update repositories set journal_head = journal_head + 1000 where id = 'releases'`.execute(tx)
    console.log('inside')
    await new Promise((resolve) => process.stdin.once('data', resolve))
    await sql`select 1`.execute(tx)
  })
  console.log('committed')
} catch (error) {
  console.log(error instanceof DatabaseUnavailable && !error.outcomeUnknown ? 'unavailable' : String(error))
}
process.exit(0)
