import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, describe } from 'node:test'
import { createBucket, type TestBucket } from './object-store.ts'
import { databasesOn, type PostgresDatabases, type PostgresServer, startPostgres } from './postgres.ts'
import { objectStoreUrl, stopOwnObjectStore } from './shared-object-store.ts'

/** An engine under test. */
export interface TestEngine {
  readonly name: 'sqlite' | 'postgres'
  /** Address of a new, empty database, removed when the tests of the engine are done. */
  freshDatabaseUrl(): Promise<string>
  /** Address of a new, empty place for bytes, or null for the folder of the service. The object store goes with the run. */
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
    after(async () => {
      for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
    })
    define({
      name: 'sqlite',
      use: disposer(),
      freshBlobStoreUrl: async () => null,
      freshDatabaseUrl: async () => {
        const folder = await mkdtemp(join(tmpdir(), 'svc-sqlite-'))
        folders.push(folder)
        return `sqlite:${join(folder, 'svc.db')}`
      },
    })
  })
}

/** For tests of what only PostgreSQL does. */
export const onPostgres = (define: (engine: TestEngine) => void): void => {
  describe('postgres', () => {
    const urls: string[] = []
    blocks++
    after(async () => {
      for (const url of urls.splice(0)) await (await server()).databases.dropDatabase(url)
      blocks--
      if (blocks === 0) await Promise.all([stopOwn(), stopOwnObjectStore()])
    })
    define({
      name: 'postgres',
      use: disposer(),
      freshBlobStoreUrl: freshPrefix,
      freshDatabaseUrl: async () => {
        const url = await (await server()).databases.createDatabase()
        urls.push(url)
        return url
      },
    })
  })
}

/** To be called inside the describe block whose tests it cleans up after. (`using` is more than our import check can parse.) */
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
}

/** Describe blocks of this file that may still need the server. */
let blocks = 0
let started: Promise<Started> | undefined

/** The server of the whole run if there is one (test/run.ts names it), else one of our own, started when first needed. */
const server = (): Promise<Started> => {
  started ??= start()
  return started
}

const start = async (): Promise<Started> => {
  const adminUrl = process.env['SVC_TEST_POSTGRES_URL']
  if (adminUrl !== undefined && adminUrl !== '') return { databases: databasesOn(adminUrl), own: undefined }
  const own = await startPostgres()
  return { databases: own, own }
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
