/**
 * `svc up` without what `opening.ts` does: it takes what the system's memory shows of the log for what the disk holds,
 * as an ordinary program would. Tests see that this is found.
 */
import { rmSync } from 'node:fs'
import { SqliteDatabase, type SqliteOptions } from '../../src/database/sqlite/database.ts'
import { serve } from '../../src/main/commands/serve.ts'

Object.assign(SqliteDatabase, {
  open: async (options: SqliteOptions): Promise<SqliteDatabase> => {
    rmSync(`${options.path}-suspect`, { force: true })
    return new SqliteDatabase(options)
  },
})

await serve({ gateway: 'api', worker: true })
