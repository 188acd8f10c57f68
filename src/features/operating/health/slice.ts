import { slice } from '../../../contract/slice.ts'
import { upkeepEveryMs } from '../../../kernel/limits/upkeep.ts'
import { healthHandlers } from './handlers.ts'
import * as operations from './operations.ts'
import { sampleService } from './samples.ts'

export const health = slice({
  operations,
  handlers: healthHandlers,
  upkeep: [{ name: 'samples', what: 'what is written down of queues', everyMs: upkeepEveryMs, run: sampleService }],
})
