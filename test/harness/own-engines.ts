import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Engines, openEngines, realEnvironment } from '../../src/main/engines.ts'
import { openLog } from '../../src/main/log.ts'
import { readSettings } from '../../src/main/settings/rules.ts'
import type { TestEngine } from './engines.ts'
import { inTheStore } from './kept-inline.ts'
import type { Environment } from './processes.ts'

/** The engines of a service without the service, on a folder and a database of their own; they go after the test. */
export const openOwnEngines = async (engine: TestEngine, more: Environment = {}): Promise<Engines> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-parts-'))
  const stack = engine.use(new AsyncDisposableStack())
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const settings = readSettings({
    SVC_DATA_DIR: folder,
    SVC_DATABASE_URL: await engine.readyDatabaseUrl(),
    SVC_FREE_SPACE_RESERVE_BYTES: '0',
    ...inTheStore,
    ...more,
  })
  return openEngines(settings, await openLog('error'), realEnvironment, stack)
}
