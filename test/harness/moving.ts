import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Captured, CaptureWish } from '../../src/features/operating/moving/capture.ts'
import type { Restored } from '../../src/features/operating/moving/restore.ts'
import { type Engines, type Environment, openEngines } from '../../src/main/engines.ts'
import { openLog } from '../../src/main/log.ts'
import { exportTo, importFrom } from '../../src/main/moving.ts'
import { readSettings } from '../../src/main/settings/rules.ts'
import type { TestEngine } from './engines.ts'
import { byEngine } from './kept-inline.ts'
import type { TestService } from './service.ts'

/** Where a service is, or is to be. */
export type Place = Pick<TestService, 'dataDir' | 'databaseUrl' | 'blobStoreUrl' | 'clock'>

/** What `svc export` and `svc import` run on, in this process. */
export const withPartsOf = async <T>(
  place: Place,
  work: (engines: Engines) => Promise<T>,
  reach: Environment['reach'] = () => {},
): Promise<T> => {
  const settings = readSettings({
    SVC_DATA_DIR: place.dataDir,
    SVC_DATABASE_URL: place.databaseUrl,
    SVC_BLOB_STORE: place.blobStoreUrl,
    SVC_FREE_SPACE_RESERVE_BYTES: '0',
    ...byEngine({ name: place.databaseUrl.startsWith('sqlite:') ? 'sqlite' : 'postgres' }),
  })
  const stack = new AsyncDisposableStack()
  try {
    const engines = await openEngines(settings, await openLog('error'), { clock: place.clock, reach }, stack)
    // What takes long by its nature is patient, as the commands are.
    return await work({ ...engines, database: engines.database.patient })
  } finally {
    await stack.disposeAsync()
  }
}

const silent = { tell: (words: () => string) => void words() }

export const exportFrom = (
  place: Place,
  path: string,
  wish: Partial<CaptureWish> = {},
  reach?: Environment['reach'],
): Promise<Captured> =>
  withPartsOf(
    place,
    (engines) => exportTo(engines, path, { withoutBytes: false, refresh: false, verify: false, ...wish }, silent),
    reach,
  )

export const importTo = (place: Place, path: string, reach?: Environment['reach']): Promise<Restored> =>
  withPartsOf(place, (engines) => importFrom(engines, path, silent), reach)

export const freshFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'svc-export-'))

/** A place for a service with nothing in it but the keys of another, by whose clock it lives. */
export const placeLike = async (other: TestService, engine: TestEngine): Promise<Place & AsyncDisposable> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-data-'))
  await cp(join(other.dataDir, 'config'), join(dataDir, 'config'), { recursive: true })
  return {
    dataDir,
    databaseUrl: await engine.freshDatabaseUrl(),
    blobStoreUrl: (await engine.freshBlobStoreUrl()) ?? '',
    clock: other.clock,
    [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }),
  }
}
