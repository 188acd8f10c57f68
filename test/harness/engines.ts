import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, describe } from 'node:test'
import { createBucket, type TestBucket } from './object-store.ts'
import { databasesOn, type PostgresDatabases, type PostgresServer, startPostgres } from './postgres.ts'
import { copyReadySqlite, forgetReadySqlite, preparePostgres } from './ready-database.ts'
import { objectStoreUrl, stopOwnObjectStore } from './shared-object-store.ts'

/** An engine under test. */
export interface TestEngine {
  readonly name: 'sqlite' | 'postgres'
  /** Address of a new, empty database, removed when the tests of the engine are done. */
  freshDatabaseUrl(): Promise<string>
  /** The same with today's schema, which comes several times faster: for all but tests of how it is made. */
  readyDatabaseUrl(): Promise<string>
  /**
   * Address of a new, empty place for bytes, or null for the folder of the service. The object store goes with the run.
   */
  freshBlobStoreUrl(): Promise<string | null>
  /** Disposes of it after the test, the last one first; answers it. */
  use<T extends AsyncDisposable>(resource: T): T
}

/** Defines the same tests once per engine, in a describe block that bears its name. */
export const forEachEngine = (define: (engine: TestEngine) => void): void => {
  onSqlite(define)
  onPostgres(define)
}

/** For tests of what only SQLite does. */
export const onSqlite = (define: (engine: TestEngine) => void): void => {
  describe('sqlite', () => {
    const folders: string[] = []
    blocks++
    const freshPath = async (): Promise<string> => {
      const folder = await mkdtemp(join(tmpdir(), 'svc-sqlite-'))
      folders.push(folder)
      return join(folder, 'svc.db')
    }
    define({
      name: 'sqlite',
      use: disposer(),
      freshBlobStoreUrl: async () => null,
      freshDatabaseUrl: async () => `sqlite:${await freshPath()}`,
      readyDatabaseUrl: async () => {
        const path = await freshPath()
        await copyReadySqlite(path)
        return `sqlite:${path}`
      },
    })
    // Last, for hooks run in the order of their definition: what the tests have open is closed before.
    after(async () => {
      for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
      await blockEnds()
    })
  })
}

/** For tests of what only PostgreSQL does. */
export const onPostgres = (define: (engine: TestEngine) => void): void => {
  describe('postgres', () => {
    const urls: string[] = []
    blocks++
    const made = async (url: Promise<string>): Promise<string> => {
      urls.push(await url)
      return url
    }
    define({
      name: 'postgres',
      use: disposer(),
      freshBlobStoreUrl: freshPrefix,
      freshDatabaseUrl: async () => made((await server()).databases.createDatabase()),
      readyDatabaseUrl: async () => {
        const { databases, ready } = await server()
        return made(databases.createDatabase(await ready()))
      },
    })
    after(async () => {
      for (const url of urls.splice(0)) await (await server()).databases.dropDatabase(url)
      await blockEnds()
    })
  })
}

/**
 * To be called inside the describe block whose tests it cleans up after. (`using` is more than our import check can
 * parse.)
 */
const disposer = (): TestEngine['use'] => {
  const used: AsyncDisposable[] = []
  afterEach(async () => {
    for (let resource = used.pop(); resource !== undefined; resource = used.pop()) await resource[Symbol.asyncDispose]()
  })
  return (resource) => {
    used.push(resource)
    return resource
  }
}

interface Started {
  readonly databases: PostgresDatabases
  readonly own: PostgresServer | undefined
  /** Address of a database with today's schema, to be copied. */
  readonly ready: () => Promise<string>
}

/** Describe blocks of this file that may still need what is started for all of them. */
let blocks = 0

const blockEnds = async (): Promise<void> => {
  blocks--
  if (blocks === 0) await Promise.all([stopOwn(), stopOwnObjectStore(), forgetReadySqlite()])
}

let started: Promise<Started> | undefined

/**
 * The server of the whole run if there is one (test/run.ts names it), else one of our own, started when first needed.
 */
const server = (): Promise<Started> => {
  started ??= start()
  return started
}

const start = async (): Promise<Started> => {
  const adminUrl = process.env['SVC_TEST_POSTGRES_URL']
  const own = adminUrl === undefined || adminUrl === '' ? await startPostgres() : undefined
  const databases = own ?? databasesOn(adminUrl ?? '')
  const given = process.env['SVC_TEST_READY_POSTGRES_URL']
  let ready: Promise<string> | undefined
  const prepared = (): Promise<string> => {
    ready ??= given === undefined || given === '' ? preparePostgres(databases) : Promise.resolve(given)
    return ready
  }
  return { databases, own, ready: prepared }
}

const stopOwn = async (): Promise<void> => {
  const running = started
  started = undefined
  await (await running)?.own?.stop()
}

let bucket: Promise<TestBucket> | undefined
let prefixes = 0

/** A part of its own in one bucket of this process. Its key is found where the service looks for it. */
const freshPrefix = async (): Promise<string> => {
  bucket ??= objectStoreUrl().then(createBucket)
  const { url, credentials } = await bucket
  Object.assign(process.env, credentials)
  return url.replace('/files?', `/service-${++prefixes}?`)
}

/** PostgreSQL with databases from elsewhere: a server of the test's own, or a proxy before one. */
export const engineOn = (freshUrl: () => Promise<string>): TestEngine => ({
  name: 'postgres',
  freshBlobStoreUrl: async () => null,
  freshDatabaseUrl: freshUrl,
  readyDatabaseUrl: freshUrl,
  use: (resource) => resource,
})
