import { slice } from '../../../contract/slice.ts'
import { upkeepEveryMs } from '../../../kernel/limits/upkeep.ts'
import { deletionHandlers } from './handlers.ts'
import { settleDeletions } from './jobs.ts'
import * as operations from './operations.ts'

export const deletion = slice({
  operations,
  handlers: deletionHandlers,
  upkeep: [
    {
      name: 'deletions',
      what: 'the release of what was deleted',
      everyMs: upkeepEveryMs,
      run: settleDeletions,
      wakes: 'reclaim',
    },
  ],
})
