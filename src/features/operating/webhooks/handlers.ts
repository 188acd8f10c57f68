import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Database } from '../../../database/database.ts'
import * as operations from './operations.ts'
import { webhooksStand } from './standing.ts'

export const webhookHandlers = (deps: { readonly database: Database }): BoundOperation[] => [
  handle(operations.listWebhooks, async () => ({ status: 200, json: { items: await webhooksStand(deps) } })),
]
