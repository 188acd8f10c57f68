import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { migrate } from '../src/database/migrate.ts'
import { migrations } from '../src/database/migrations/index.ts'
import { openDatabase } from '../src/database/open.ts'
import { openBlobStore } from '../src/main/parts.ts'
import { readSettings } from '../src/main/settings/rules.ts'
import { startPostgres } from '../test/harness/postgres.ts'
import { makeFolder } from './processes.ts'
import { catalogFile } from './scale-catalog.ts'
import { fill } from './scale-fill.ts'
import { type Bench, startSvc } from './servers.ts'
import { type SvcClient, svcClient } from './svc-client.ts'

const api = '/api/v1/repositories/releases'
const times = 200

interface Site {
  readonly server: Bench
  readonly client: SvcClient
}

/**
 * `npm run bench -- --scale <files>`: does it stay as quick when very much is stored? Fills a repository and asks it over
 * HTTP, one request after the other, beside a service that has nothing. `--engine sqlite` or `postgres` asks one only.
 */
export const measureScale = async (count: number, engines: readonly string[]): Promise<void> => {
  for (const engine of engines) {
    console.log(`\n${engine}, ${count} files`)
    const postgres = engine === 'postgres' ? await startPostgres() : undefined
    try {
      const empty = await site(postgres === undefined ? {} : { SVC_DATABASE_URL: await postgres.createDatabase() })
      const settings = { SVC_DATA_DIR: await makeFolder('scale') }
      const url = postgres === undefined ? {} : { SVC_DATABASE_URL: await postgres.createDatabase() }
      const took = await filled({ ...settings, ...url }, count)
      console.log(`filled in ${took.toFixed(0)} s, ${((took / count) * 1e6).toFixed(0)} µs a file`)
      const full = await site({ ...settings, ...url })
      const seconds = ({ server }: Site): string => `${server.startSeconds?.toFixed(2)} s`
      console.log(`start-up: ${seconds(full)}; with nothing stored ${seconds(empty)}`)
      await report(full, empty, count)
      full.client.close()
      empty.client.close()
    } finally {
      await postgres?.stop()
    }
  }
}

const filled = async (settings: Readonly<Record<string, string>>, count: number): Promise<number> => {
  const read = readSettings(settings)
  await mkdir(join(settings['SVC_DATA_DIR'] ?? '', 'blobs'), { recursive: true })
  const store = await openBlobStore(read)
  const report = (message: string, error: unknown): void => console.error(message, error)
  const database = await openDatabase({ url: read.databaseUrl, report })
  try {
    await migrate(database, migrations)
    return await fill(database, store, count)
  } finally {
    await database[Symbol.asyncDispose]()
  }
}

const site = async (settings: Readonly<Record<string, string>>): Promise<Site> => {
  const server = await startSvc([], settings)
  const { url, headers } = server.download('any', '')
  const credential = (headers['authorization'] ?? '').replace('Bearer ', '')
  return { server, client: svcClient(new URL(url).origin, credential, 1) }
}

/** Milliseconds at 50, 95 and 99 of 100. */
const line = (what: string, took: readonly number[]): void => {
  const sorted = took.toSorted((a, b) => a - b)
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(1).padStart(8)
  console.log(`${what.padEnd(44)}${at(0.5)}${at(0.95)}${at(0.99)}`)
}

const timed = async (what: string, { client }: Site, path: (index: number) => string): Promise<void> => {
  const took: number[] = []
  for (let index = 0; index < times; index++) took.push(await client.timedGet(path(index)))
  line(what, took)
}

const report = async (full: Site, empty: Site, count: number): Promise<void> => {
  console.log(`${'milliseconds'.padEnd(44)}${['p50', 'p95', 'p99'].map((name) => name.padStart(8)).join('')}`)
  const after = await someIds(full.client, count)
  const from = (index: number): string => `after=${after[index % after.length] ?? ''}`
  await timed('page of files', full, (index) => `${api}/artifacts?limit=100&${from(index)}`)
  await timed('page of paths under a deep prefix', full, (index) => {
    const path = catalogFile((index * 7919) % count)
      .path.split('/')
      .slice(0, 4)
      .join('/')
    return `${api}/assets/page?limit=100&prefix=${encodeURIComponent(`${path}/`)}`
  })
  const some = (index: number): string => catalogFile((index * 7919) % count).metadata['commit'] ?? ''
  const needles: Readonly<Record<string, (index: number) => string>> = {
    'common, 1 character': () => 'e',
    'common, 2': () => 'se',
    'common, 3': () => 'ser',
    'common, 12': () => 'amd64.tar.gz',
    'rare, 1': () => '№',
    'rare, 2': () => ' №',
    'rare, 3': () => 'd-p',
    'rare, 12': (index) => some(index).slice(4, 16),
    'one in 64, 12': () => 'runner-17.ci',
    'absent, 1': () => '☃',
    'absent, 2': () => 'zq',
    'absent, 3': () => 'zzq',
    'absent, 12': () => 'quick-silver',
    'absent, 12 digits': () => '0123456789ab',
  }
  for (const [what, needle] of Object.entries(needles))
    for (const filter of ['', '&label=release', '&collection=chosen']) {
      const name = `search: ${what}${filter.replace('&', ', ').replace('=', ' ')}`
      await timed(name, full, (index) => {
        // Half of them from the beginning, half from somewhere.
        const start = index % 2 === 0 ? '' : `&${from(index)}`
        return `${api}/search?q=${encodeURIComponent(needle(index))}${filter}${start}`
      })
    }
  for (const filter of ['label=release', 'collection=chosen', 'label=none', 'metadataKey=branch&metadataValue=main'])
    await timed(`search: ${filter.replaceAll('=', ' ').replace('&', ', ')}`, full, () => `${api}/search?${filter}`)
  for (const [what, { client }] of [
    ['publish', full],
    ['publish, nothing stored', empty],
    ['publish again', full],
  ] as const) {
    const took: number[] = []
    for (let index = 0; index < times; index++) {
      const body = Buffer.from(`${what} ${index}`)
      const began = performance.now()
      await client.send('PUT', `${api}/raw/bench/${what.replaceAll(/\W/g, '-')}/${index}-service.tar.gz`, body, {
        'content-length': String(body.byteLength),
      })
      took.push(performance.now() - began)
    }
    line(what, took)
  }
}

/** Ids from all over the repository, found by files that are known. */
const someIds = async (client: SvcClient, count: number): Promise<string[]> => {
  const ids: string[] = []
  for (let index = 0; index < count; index += Math.ceil(count / 50)) {
    const { artifactId } = await client.ask('GET', `${api}/asset?path=${encodeURIComponent(catalogFile(index).path)}`)
    ids.push(String(artifactId))
  }
  return ids
}
