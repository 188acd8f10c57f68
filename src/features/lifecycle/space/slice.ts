import { slice } from '../../../contract/slice.ts'
import { usageLookEveryMs } from '../../../kernel/limits/samples.ts'
import { storageHandlers } from './handlers.ts'
import * as operations from './operations.ts'
import { sampleUsage } from './samples.ts'

export const space = slice({
  operations,
  handlers: storageHandlers,
  upkeep: [{ name: 'usage', what: 'what is written down of usage', everyMs: usageLookEveryMs, run: sampleUsage }],
})
