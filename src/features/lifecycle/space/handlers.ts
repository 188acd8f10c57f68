import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { storageEventsAfter } from '../../../journal/storage-events/storage-events.ts'
import * as operations from './operations.ts'
import { cleanupSetting, type StorageParts, setCleanup, storageUsage } from './storage.ts'

export const storageHandlers = (parts: StorageParts): BoundOperation[] => [
  handle(operations.getStorageUsage, async ({ path }) => ({
    status: 200,
    json: await storageUsage(parts, path.repository),
  })),
  handle(operations.getCleanup, async ({ path }) => ({
    status: 200,
    json: await cleanupSetting(parts, path.repository),
  })),
  handle(operations.setCleanup, async ({ path, body }) => ({
    status: 200,
    json: await setCleanup(parts, path.repository, body),
  })),
  handle(operations.listStorageEvents, async ({ path, query }) => {
    const of = { repository: path.repository, level: query.level ?? null }
    return { status: 200, json: await storageEventsAfter(parts.database, of, query.after) }
  }),
]
