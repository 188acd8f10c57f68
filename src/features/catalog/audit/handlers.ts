import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Database } from '../../../database/database.ts'
import { sequenceAfter } from '../../../kernel/sequence.ts'
import { auditAfter } from './audit.ts'
import { listAudit } from './operations.ts'

export const auditHandlers = ({ database }: { database: Database }): BoundOperation[] => [
  handle(listAudit, async ({ path, query }) => ({
    status: 200,
    json: { items: await auditAfter(database, path.repository, sequenceAfter(query.after)) },
  })),
]
