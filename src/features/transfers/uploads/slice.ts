import { slice } from '../../../contract/slice.ts'
import type { JobKind } from '../../../jobs/enqueue.ts'
import { upkeepEveryMs } from '../../../kernel/limits/upkeep.ts'
import { checkUploads } from './checks.ts'
import { judgeCompletion, runCompletion } from './completion.ts'
import { uploadHandlers } from './handlers.ts'
import { settleUploads, sweepUploads } from './jobs.ts'
import * as operations from './operations.ts'
import type { UploadDeps } from './uploads.ts'

const completion: JobKind<UploadDeps> = { kind: 'completion', run: runCompletion, judge: judgeCompletion }

export const uploads = slice({
  operations,
  handlers: uploadHandlers,
  checks: [{ of: 'uploads', look: checkUploads }],
  upkeep: [
    { name: 'uploads', what: 'the upkeep of uploads', everyMs: upkeepEveryMs, run: settleUploads, wakes: 'deletions' },
    { name: 'staging', what: 'the sweep of staging', everyMs: upkeepEveryMs, run: sweepUploads },
  ],
  jobs: [completion],
})
