import { openBlobDirectory } from '../../src/adapters/blob-directory/blob-directory.ts'
import { checkContent } from '../../src/content/checks.ts'
import { openDatabase } from '../../src/database/open.ts'
import { checkArtifacts } from '../../src/features/artifacts/checks.ts'
import { readSettings } from '../../src/main/settings/rules.ts'
import type { TestService } from './service.ts'

/** What `svc doctor` would call damaged in the bytes, claims and counters of a service, in words. */
export const damageIn = async (service: Pick<TestService, 'databaseUrl' | 'dataDir'>): Promise<string[]> => {
  const { blobStore } = readSettings({ SVC_DATA_DIR: service.dataDir })
  const database = await openDatabase({ url: service.databaseUrl, report: () => {} })
  try {
    const store = await openBlobDirectory({ root: blobStore.root, staging: blobStore.staging })
    const found: string[] = []
    for (const checks of [checkContent({ database, store }), checkArtifacts(database.reader)])
      for await (const { kind, text } of checks) if (kind === 'damage') found.push(text)
    return found
  } finally {
    await database[Symbol.asyncDispose]()
  }
}
