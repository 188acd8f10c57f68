import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { checkBulk, notLookedUp } from './bulk.ts'
import * as operations from './operations.ts'

export const npmAdvisoryHandlers = (): BoundOperation[] => [
  handle(operations.listNpmAdvisories, async ({ body, headers }) => {
    await checkBulk(body.bytes, headers['content-encoding'])
    return { status: 200, json: {}, headers: { 'npm-notice': notLookedUp } }
  }),
]
