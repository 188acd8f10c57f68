import { type BoundOperation, handle } from '../../../contract/handler.ts'
import * as operations from './operations.ts'
import { webhooksStand } from './shown.ts'
import type { StandingDeps } from './standing.ts'

export const webhookHandlers = (deps: StandingDeps): BoundOperation[] => [
  handle(operations.listWebhooks, async () => ({ status: 200, json: { items: await webhooksStand(deps) } })),
]
