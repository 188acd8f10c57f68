import { withInline } from '../../src/content/inline/inline.ts'
import { openDatabase } from '../../src/database/open.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { openBlobStore } from '../../src/main/engines.ts'
import { everyCheck } from '../../src/main/every-check.ts'
import { readSettings } from '../../src/main/settings/rules.ts'
import type { Environment, Findings } from './processes.ts'
import type { TestService } from './service.ts'

type Examined = Parameters<typeof everyCheck>[0]

/** What `svc doctor` finds; what is in quarantine should not be there, and counts as damage here. */
export const findingsIn = async (deps: Examined): Promise<Findings> => {
  const found: Findings = { damage: [], waiting: [] }
  for await (const { kind, text } of everyCheck(deps)) found[kind === 'waiting' ? 'waiting' : 'damage'].push(text)
  return found
}

/**
 * The same of what a service with these settings keeps, whether or not it runs. It is looked for from here: the command
 * in a process of its own would take longer to start than to look.
 */
export const examine = async (settings: Environment, aheadMs = 0): Promise<Findings> => {
  const read = readSettings({ ...settings })
  const stack = new AsyncDisposableStack()
  try {
    const database = stack.use(await openDatabase({ url: read.databaseUrl, report: () => {} }))
    const clock = { now: () => systemClock.now() + aheadMs }
    const store = withInline(await openBlobStore(read), database)
    return await findingsIn({ database: database.patient, store, clock })
  } finally {
    await stack.disposeAsync()
  }
}

/** The same of a service of a test. */
export const examineService = ({
  dataDir,
  databaseUrl,
  blobStoreUrl,
}: Pick<TestService, 'dataDir' | 'databaseUrl' | 'blobStoreUrl'>): Promise<Findings> =>
  examine({ SVC_DATA_DIR: dataDir, SVC_DATABASE_URL: databaseUrl, SVC_BLOB_STORE: blobStoreUrl })
