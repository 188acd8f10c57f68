import { join } from 'node:path'
import { openBlobDirectory } from '../adapters/blob-directory/blob-directory.ts'
import { guardBlobStore } from '../adapters/blob-guarded.ts'
import { makeFolder } from '../adapters/files/durable-file.ts'
import { createHashing, type Hashing } from '../content/hashing/hashing.ts'
import { createRunningHashes, type RunningHashes } from '../content/hashing/running-hash.ts'
import { type FreeSpace, watchFreeSpace } from '../content/ingest/free-space.ts'
import { createSmallBodies, type SmallBodies } from '../content/ingest/small-bodies.ts'
import { withInline } from '../content/inline/inline.ts'
import { createReclaimMeter, type ReclaimMeter } from '../content/reclaim/reclaim-meter.ts'
import type { Database } from '../database/database.ts'
import { currentSchema, migrate, requireSchema } from '../database/migrate.ts'
import { migrations } from '../database/migrations/index.ts'
import { openDatabase } from '../database/open.ts'
import { insideTransaction } from '../database/scope.ts'
import { createLeftLeases, type LeftLeases } from '../features/transfers/uploads/left-leases.ts'
import { createSignal, type Signal } from '../jobs/signal.ts'
import { type Clock, systemClock } from '../kernel/clock.ts'
import { noFaults, type ReachFaultPoint } from '../kernel/fault-points.ts'
import { realTimers, type Timers } from '../kernel/timers.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import { endSuspect } from './ending.ts'
import type { Logger } from './log.ts'
import { Outages } from './outages.ts'
import { narrowFiles } from './private-files.ts'
import type { Settings } from './settings/rules.ts'
import type { ProductSlice } from './slices.ts'
import { blaming } from './start-errors.ts'

/**
 * What tests may put in place of the real thing: the hands of the clock, a crash at a named point; and slices beside
 * those there are.
 */
export interface Environment {
  readonly clock: Clock
  readonly reach: ReachFaultPoint
  readonly more?: readonly ProductSlice[]
}

export const realEnvironment: Environment = { clock: systemClock, reach: noFaults }

/** The parts that every role shares. */
export interface Engines extends Environment {
  readonly settings: Settings
  readonly log: Logger
  readonly database: Database
  readonly store: BlobStore
  readonly freeSpace: FreeSpace
  readonly hashing: Hashing
  readonly smallBodies: SmallBodies
  /** Where the hashes of uploads in parts stand, as far as this process saw them. */
  readonly hashes: RunningHashes
  readonly leftLeases: LeftLeases
  /** What reclaim did in this process. */
  readonly meter: ReclaimMeter
  readonly timers: Timers
  /** Raised when a job waits for a worker, who may be in this process. */
  readonly jobsWaiting: Signal
  readonly report: (message: string, error: unknown) => void
  readonly outages: Outages
}

/**
 * Makes the folder that the database is to be in. For what begins a database only: a command beside the service must
 * not take a mistyped folder for an empty store.
 */
export const makeDataDir = async ({ databaseUrl, dataDir }: Settings): Promise<void> => {
  if (databaseUrl.startsWith(`sqlite:${join(dataDir, '/')}`))
    await blaming('SVC_DATA_DIR', dataDir, () => makeFolder(dataDir))
}

/**
 * Opens the engines and brings the schema up to date, or to the one that is named, which whoever only reads leaves to
 * others. What is opened closes with the stack, in reverse order.
 */
export const openEngines = async (
  settings: Settings,
  log: Logger,
  environment: Environment,
  stack: AsyncDisposableStack,
  { readOnly = false, schema }: { readonly readOnly?: boolean; readonly schema?: number } = {},
): Promise<Engines> => {
  const outages = new Outages(log)
  const { report } = outages
  if (!readOnly) await narrowFiles(settings, log)
  const database = stack.use(
    await blaming('SVC_DATABASE_URL', settings.databaseUrl, () =>
      openDatabase({ url: settings.databaseUrl, report, lost: endSuspect }),
    ),
  )
  // A point that is older goes into tables as they were then.
  const known =
    schema === undefined || (await currentSchema(database)) > schema ? migrations : migrations.slice(0, schema)
  await (readOnly ? requireSchema : migrate)(database, known)
  const store = withInline(guardBlobStore(await openBlobStore(settings, readOnly), insideTransaction), database)
  const freeSpace = watchFreeSpace(store, environment.clock, settings.freeSpaceReserveBytes)
  stack.defer(
    outages.watch({
      database: () => database.probe(),
      store: () => store.probe(),
      disk: () => freeSpace.refuseUnlessRoomFor(0),
    }),
  )
  const hashing = createHashing({ saveable: false, report })
  const savingStates = store.readsParts ? hashing : createHashing({ saveable: true, report })
  stack.defer(() => savingStates.close())
  stack.defer(() => hashing.close())
  const hashes = createRunningHashes(savingStates, store.readsParts)
  return {
    ...environment,
    settings,
    log,
    database,
    store,
    freeSpace,
    hashing,
    // A body of unknown length that no file may have is refused where larger ones are.
    smallBodies: createSmallBodies(Math.min(settings.inlineBytes, settings.maxObjectBytes)),
    hashes,
    leftLeases: createLeftLeases(),
    meter: createReclaimMeter(),
    timers: realTimers,
    jobsWaiting: createSignal(),
    report,
    outages,
  }
}

/** The store that the settings name. What speaks S3 takes 37 MiB of memory, and is loaded only where it is needed. */
export const openBlobStore = async (
  { blobStore }: Pick<Settings, 'blobStore'>,
  readOnly = false,
): Promise<BlobStore> => {
  if (blobStore.kind === 'directory')
    return blaming('SVC_BLOB_STORE', `file:${blobStore.root}`, () => openBlobDirectory({ ...blobStore, readOnly }))
  const { openBlobS3 } = await import('../adapters/blob-s3/blob-s3.ts')
  return openBlobS3(blobStore)
}
