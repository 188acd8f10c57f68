import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../src/database/database.ts'
import { migrate } from '../src/database/migrate.ts'
import { migrations } from '../src/database/migrations/index.ts'
import { openDatabase } from '../src/database/open.ts'
import { openBlobStore } from '../src/main/engines.ts'
import { readSettings } from '../src/main/settings/rules.ts'
import type { BlobStore } from '../src/ports/blob-store.ts'
import { startPostgres } from '../test/harness/postgres.ts'
import { makeFolder } from './processes.ts'
import { type Bench, startSeconds, startSvc } from './servers.ts'
import { type SvcClient, svcClient } from './svc-client.ts'

/** A service that is asked one thing after the other, and the milliseconds that it takes. */
export interface Site {
  readonly server: Bench
  readonly client: SvcClient
}

type Settings = Readonly<Record<string, string>>

/** As of a server that is there for a catalog of this size: its own memory, and it keeps what it confirms. */
const postgresSettings = { shared_buffers: '1GB', fsync: 'on', full_page_writes: 'on', max_wal_size: '8GB' }

/** Runs `work` for each engine; `settings` makes those of a new place, with a database of its own. */
export const onEngines = async (
  engines: readonly string[],
  work: (engine: string, settings: () => Promise<Settings>) => Promise<void>,
): Promise<void> => {
  for (const engine of engines) {
    const postgres = engine === 'postgres' ? await startPostgres(postgresSettings) : undefined
    try {
      await work(engine, async () => ({
        SVC_DATA_DIR: await makeFolder('scale'),
        ...(postgres === undefined ? {} : { SVC_DATABASE_URL: await postgres.createDatabase() }),
      }))
    } finally {
      await postgres?.stop()
    }
  }
}

/** Lets `fill` have the database and the store of a place before a service runs there, and says how long it took. */
export const fillPlace = async (
  settings: Settings,
  what: { readonly count: number; readonly each: string },
  fill: (database: Database, store: BlobStore) => Promise<void>,
): Promise<void> => {
  const read = readSettings(settings)
  await mkdir(join(settings['SVC_DATA_DIR'] ?? '', 'blobs'), { recursive: true })
  const store = await openBlobStore(read)
  const report = (message: string, error: unknown): void => console.error(message, error)
  const database = await openDatabase({ url: read.databaseUrl, report })
  try {
    await migrate(database, migrations)
    const began = performance.now()
    await fill(database, store)
    const seconds = (performance.now() - began) / 1000
    console.log(`filled in ${seconds.toFixed(0)} s, ${((seconds / what.count) * 1e6).toFixed(0)} µs a ${what.each}`)
  } finally {
    await database[Symbol.asyncDispose]()
  }
}

export const startSite = async (settings: Settings): Promise<Site> => {
  const server = await startSvc([], settings)
  const { url, headers } = server.download('any', '')
  const credential = (headers['authorization'] ?? '').replace('Bearer ', '')
  return { server, client: svcClient(new URL(url).origin, credential, 1) }
}

/** How long starting takes, in a place that is filled and in one that is not; then comes what `measure` prints. */
export const printStarts = async (full: Settings, empty?: Settings): Promise<void> => {
  const told = (seconds: number): string => `${seconds.toFixed(2)} s`
  const beside = empty === undefined ? '' : `; with nothing stored ${told(await startSeconds(empty))}`
  console.log(`start-up: ${told(await startSeconds(full))}${beside}`)
  console.log(`${'milliseconds'.padEnd(nameWidth)}${['p50', 'p95', 'p99'].map((name) => name.padStart(8)).join('')}`)
}

/** The first requests find nothing compiled or cached, once in the life of a service: so many do not count. */
const warmUps = 40

/** Asks again and again, each time with another number, and prints what `ask` says that it took. */
export const measure = async (what: string, times: number, ask: (index: number) => Promise<number>): Promise<void> => {
  const took: number[] = []
  for (let index = 0; index < warmUps + times; index++) {
    const ms = await ask(index)
    if (index >= warmUps) took.push(ms)
  }
  printLine(what, took)
}

const nameWidth = 48

/** Milliseconds at 50, 95 and 99 of 100. */
const printLine = (what: string, took: readonly number[]): void => {
  const sorted = took.toSorted((a, b) => a - b)
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(1).padStart(8)
  console.log(`${what.padEnd(nameWidth)}${at(0.5)}${at(0.95)}${at(0.99)}`)
}
