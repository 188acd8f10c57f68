import type { Database } from '../../../database/database.ts'
import { installation } from '../../../database/moving/installation.queries.ts'
import { Failure } from '../../../kernel/failure.ts'

/** Throws unless the database can be used: while something is being imported, only the import may go on. */
export const refuseUnfinishedImport = async (database: Database): Promise<void> => {
  if ((await installation(database.reader)).importing === null) return
  throw new Failure(
    'unavailable',
    'An import into this database is not finished. Go on with it by running the same svc import or svc restore again, or begin with a new database.',
  )
}
