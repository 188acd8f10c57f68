import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { storageEventPage } from '../../../journal/storage-events/storage-events.ts'
import { usageDaysDefault } from '../../../kernel/limits/samples.ts'
import { stretchAfter } from '../../../kernel/sequence.ts'
import * as operations from './operations.ts'
import { type SampleDeps, usageSamples } from './samples.ts'
import { cleanupSetting, type StorageDeps, setCleanup, storageUsage } from './storage.ts'

export const storageHandlers = (deps: StorageDeps & SampleDeps): BoundOperation[] => [
  handle(operations.getStorageUsage, async ({ path }) => ({
    status: 200,
    json: await storageUsage(deps, path.repository),
  })),
  handle(operations.listUsageSamples, async ({ path, query }) => ({
    status: 200,
    json: await usageSamples(deps, path.repository, query.days ?? usageDaysDefault),
  })),
  handle(operations.getCleanup, async ({ path }) => ({
    status: 200,
    json: await cleanupSetting(deps, path.repository),
  })),
  handle(operations.setCleanup, async ({ path, body }) => ({
    status: 200,
    json: await setCleanup(deps, path.repository, body),
  })),
  handle(operations.listStorageEvents, async ({ path, query }) => {
    const of = { repository: path.repository, level: query.level ?? null }
    return { status: 200, json: await storageEventPage(deps.database, of, stretchAfter(query.order, query.after)) }
  }),
]
