import { slice } from '../../../contract/slice.ts'
import { upkeepEveryMs } from '../../../kernel/limits/upkeep.ts'
import { linkHandlers } from './handlers.ts'
import { settleLinkKeys } from './jobs.ts'
import * as operations from './operations.ts'

export const links = slice({
  operations,
  handlers: linkHandlers,
  upkeep: [{ name: 'link_keys', what: 'the upkeep of link keys', everyMs: upkeepEveryMs, run: settleLinkKeys }],
})
