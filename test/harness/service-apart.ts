import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Roles } from '../../src/main/run.ts'
import { ask } from './client.ts'
import { keepsItsContract } from './contract-check.ts'
import type { DiskFaults } from './disk-faults.ts'
import type { TestEngine } from './engines.ts'
import {
  type Environment,
  keyIn,
  listening,
  nodeFlags,
  type Program,
  programOf,
  settingsFor,
  startProgram,
} from './processes.ts'
import type { Answering, TestService } from './service.ts'
import { until } from './until.ts'

const program = programOf(join(import.meta.dirname, 'svc-on-a-stage.ts'))

type Data = Pick<TestService, 'dataDir' | 'databaseUrl' | 'blobStoreUrl'>

export interface ServiceApartOptions {
  readonly settings?: Environment
  readonly roles?: Roles
  /** What its disk does to it. */
  readonly disk?: DiskFaults
  /** Keeps the bytes in its folder on every engine. */
  readonly onDisk?: boolean
  /** Starts on the data of another service. */
  readonly on?: Data
}

/**
 * The real service in a process of its own: it can be killed, frozen, and given a bad disk. Test files that start one
 * call `endProgramsAfterTests`.
 */
export interface ServiceApart extends Answering, Data, AsyncDisposable {
  readonly url: string
  readonly pid: number
  /** What it logged so far. */
  log(): string
  /** Turns its clock forward. */
  advance(milliseconds: number): Promise<void>
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
  /** SIGSTOP, until it is thawed. */
  freeze(): void
  thaw(): void
  /** Starts again on the same data after it was killed; the address changes, the clock stays ahead. */
  start(): Promise<void>
  /** Kills it, and removes its folder if that is its own. */
  stop(): Promise<void>
}

export const startServiceApart = async (
  engine: TestEngine,
  options: ServiceApartOptions = {},
): Promise<ServiceApart> => {
  const { on, roles = { gateway: 'api', worker: true, agent: true } } = options
  const dataDir = on?.dataDir ?? (await mkdtemp(join(tmpdir(), 'svc-data-')))
  const databaseUrl = on?.databaseUrl ?? (await engine.freshDatabaseUrl())
  const blobStoreUrl = on?.blobStoreUrl ?? (options.onDisk === true ? '' : ((await engine.freshBlobStoreUrl()) ?? ''))
  let running: Program
  let url = ''
  let aheadMs = 0

  const start = async (): Promise<void> => {
    const environment = settingsFor(
      { dataDir, databaseUrl },
      {
        SVC_BLOB_STORE: blobStoreUrl,
        SVC_TEST_ROLES: JSON.stringify(roles),
        SVC_TEST_CLOCK_AHEAD_MS: String(aheadMs),
        ...options.disk?.environment,
        ...options.settings,
      },
    )
    running = startProgram(process.execPath, [...nodeFlags, program], environment, { messages: true })
    if (roles.gateway === null) await until('the worker runs', () => running.stdout().includes('is running'))
    else url = await listening(running)
  }
  const kill = async (): Promise<void> => {
    running.child.kill('SIGKILL')
    await running.ended
  }
  const stop = async (): Promise<void> => {
    await kill()
    if (on === undefined) await rm(dataDir, { recursive: true, force: true })
  }

  await start()
  return {
    get url() {
      return url
    },
    get pid() {
      return running.pid
    },
    dataDir,
    databaseUrl,
    blobStoreUrl,
    get recoveryKey() {
      return keyIn(dataDir, 'bootstrap-token.txt')
    },
    log: () => running.stdout() + running.stderr(),
    async ask(request) {
      const told = await ask(url, request)
      keepsItsContract(request, told)
      return told
    },
    async advance(milliseconds) {
      aheadMs += milliseconds
      const turned = once(running.child, 'message')
      running.child.send(milliseconds)
      await turned
    },
    kill,
    freeze: () => void running.child.kill('SIGSTOP'),
    thaw: () => void running.child.kill('SIGCONT'),
    start,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
