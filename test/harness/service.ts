import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../src/kernel/clock.ts'
import { noFaults, type ReachFaultPoint } from '../../src/kernel/fault-points.ts'
import { logTo } from '../../src/main/log.ts'
import { type Roles, type Running, run } from '../../src/main/run.ts'
import { readSettings } from '../../src/main/settings/rules.ts'
import type { ProductSlice } from '../../src/main/slices.ts'
import { type Ask, ask, type Told } from './client.ts'
import { keepsItsContract } from './contract-check.ts'
import type { TestEngine } from './engines.ts'
import { asThisRunSays } from './kept-inline.ts'

/** A clock that can be turned forward. */
export interface ManualClock extends Clock {
  advance(milliseconds: number): void
}

/** What `hands` shows, plus how far the clock was turned. */
const clockFrom = (hands: () => number): ManualClock => {
  let offset = 0
  return {
    now: () => hands() + offset,
    advance: (milliseconds) => {
      offset += milliseconds
    },
  }
}

/** A clock that stands still until it is turned, so that a model knows exactly what time it is. */
export const stillClock = (): ManualClock => {
  const start = Date.now()
  return clockFrom(() => start)
}

export interface ServiceOptions {
  readonly settings?: Readonly<Record<string, string>>
  readonly roles?: Roles
  readonly reach?: ReachFaultPoint
  /** Keeps the bytes in its folder on every engine, for tests that look at files. */
  readonly onDisk?: boolean
  /** Starts on the data of another service, such as a reader beside its writer. */
  readonly on?: Pick<TestService, 'dataDir' | 'databaseUrl' | 'blobStoreUrl' | 'clock'>
  /** Beside those of the product. */
  readonly slices?: readonly ProductSlice[]
  /** Instead of one that goes on by itself. */
  readonly clock?: ManualClock
}

export interface TestService {
  readonly url: string
  readonly dataDir: string
  readonly databaseUrl: string
  /** What SVC_BLOB_STORE says; empty for the folder below `dataDir`. */
  readonly blobStoreUrl: string
  readonly clock: ManualClock
  readonly recoveryKey: string
  readonly healthKey: string
  /** Everything that was logged so far, a JSON text a line. */
  readonly log: readonly string[]
  /** Asks and holds the answer against the declarations. */
  ask(request: Ask): Promise<Told>
  /** Stops and starts again on the same data; the address changes. */
  restart(settings?: Readonly<Record<string, string>>): Promise<void>
  stop(): Promise<void>
}

/** What is enough for whoever only asks: services in a process of their own are this as well. */
export type Answering = Pick<TestService, 'ask' | 'recoveryKey'>

const everything: Roles = { gateway: 'api', worker: true, agent: true }

/** Boots the real service on a fresh data directory and database. One line in a test; call `stop` when done. */
export const startService = async (engine: TestEngine, options: ServiceOptions = {}): Promise<TestService> => {
  const { roles = everything, reach = noFaults, slices = [] } = options
  const dataDir = options.on?.dataDir ?? (await mkdtemp(join(tmpdir(), 'svc-data-')))
  const databaseUrl = options.on?.databaseUrl ?? (await engine.readyDatabaseUrl())
  const fresh = async (): Promise<string> => (options.onDisk === true ? '' : ((await engine.freshBlobStoreUrl()) ?? ''))
  const blobStoreUrl = options.on?.blobStoreUrl ?? (await fresh())
  const log: string[] = []
  const logger = logTo({ write: (line) => void log.push(line.trimEnd()) }, 'debug')
  const clock = options.clock ?? options.on?.clock ?? clockFrom(Date.now)
  const start = (settings: Readonly<Record<string, string>>): Promise<Running> =>
    run(
      readSettings({
        SVC_DATA_DIR: dataDir,
        SVC_LISTEN: '127.0.0.1:0',
        SVC_DATABASE_URL: databaseUrl,
        SVC_FREE_SPACE_RESERVE_BYTES: '0',
        // Upstreams of tests are on this machine.
        SVC_NPM_UPSTREAM_ALLOW_PRIVATE: '127.0.0.0/8',
        ...asThisRunSays,
        SVC_BLOB_STORE: blobStoreUrl,
        ...settings,
      }),
      logger,
      roles,
      { clock, reach, more: slices },
    )
  let running = await start(options.settings ?? {})
  const key = async (name: string): Promise<string> => (await readFile(join(dataDir, 'config', name), 'utf8')).trim()
  const recoveryKey = await key('bootstrap-token.txt')
  const healthKey = await key('health-token.txt')
  return {
    get url() {
      return running.address ?? ''
    },
    dataDir,
    databaseUrl,
    blobStoreUrl,
    clock,
    recoveryKey,
    healthKey,
    log,
    async ask(request) {
      const told = await ask(running.address ?? '', request)
      keepsItsContract(request, told, slices)
      return told
    },
    async restart(settings) {
      await running.stop()
      running = await start({ ...options.settings, ...settings })
    },
    async stop() {
      await running.stop()
      if (options.on === undefined) await rm(dataDir, { recursive: true, force: true })
    },
  }
}
