import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Database } from '../../../database/database.ts'
import { stretchAfter } from '../../../kernel/sequence.ts'
import * as operations from './operations.ts'
import { authorityChanges, wantedOf } from './security-audit.ts'

export const securityAuditHandlers = ({ database }: { database: Database }): BoundOperation[] => [
  handle(operations.listSecurityAudit, async ({ query }) => ({
    status: 200,
    json: await authorityChanges(
      database,
      stretchAfter(query.order, query.after),
      await wantedOf(database.reader, query),
    ),
  })),
]
