import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { type AttentionDeps, attentionOf } from './attention.ts'
import * as operations from './operations.ts'

export const attentionHandlers = (deps: AttentionDeps): BoundOperation[] => [
  handle(operations.getAttention, async ({ caller }) => ({
    status: 200,
    json: { items: await attentionOf(deps, caller) },
  })),
]
