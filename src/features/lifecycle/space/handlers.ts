import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { storageEventsAfter } from '../../../journal/storage-events/storage-events.ts'
import { getCleanup, getStorageUsage, listStorageEvents, setCleanup } from './operations.ts'
import { cleanupSetting, type StorageParts, storageUsage, setCleanup as store } from './storage.ts'

export const storageHandlers = (parts: StorageParts): BoundOperation[] => [
  handle(getStorageUsage, async ({ path }) => ({ status: 200, json: await storageUsage(parts, path.repository) })),
  handle(getCleanup, async ({ path }) => ({ status: 200, json: await cleanupSetting(parts, path.repository) })),
  handle(setCleanup, async ({ path, body }) => ({ status: 200, json: await store(parts, path.repository, body) })),
  handle(listStorageEvents, async ({ path, query }) => {
    const of = { repository: path.repository, level: query.level ?? null }
    return { status: 200, json: await storageEventsAfter(parts.database, of, query.after) }
  }),
]
