import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GiB, KiB } from '../src/kernel/units.ts'
import { createBucket, startObjectStore } from '../test/harness/object-store.ts'
import { startPostgres } from '../test/harness/postgres.ts'
import { eachOnce, makeFile, timedPuts, uploadSeconds } from './load.ts'
import { cpuSeconds, makeFolder, run } from './processes.ts'
import { type Bench, startSvc } from './servers.ts'
import { aligned, median, quantile, shown } from './table.ts'

type Settings = Readonly<Record<string, string>>

const sizes = [4 * KiB, 16 * KiB, 64 * KiB]
const rounds = 3
const uploadsBeside = 2

/** One way of keeping small files. */
interface Way {
  readonly name: string
  readonly server: Bench
}

/**
 * `npm run bench -- --small <files>`: what it brings that small files are kept in the database. So many are stored and
 * fetched again, each once, with the disk's memory emptied before where the user may: in the database, beside it, and
 * by the version in the checkout that `--before` names. Then small files are stored beside large ones. SQLite has its
 * bytes in a directory, PostgreSQL in an object store.
 */
export const measureSmallFiles = async (
  count: number,
  engines: readonly string[],
  before: string | undefined,
): Promise<void> => {
  for (const engine of engines)
    await onEngine(engine, async (settings) => {
      const ways: Way[] = [
        { name: 'in the database', server: await startSvc([], { ...(await settings()), SVC_INLINE_BYTES: '64KiB' }) },
        { name: 'beside it', server: await startSvc([], { ...(await settings()), SVC_INLINE_BYTES: '0' }) },
      ]
      if (before !== undefined) ways.push({ name: 'before', server: await startSvc([], await settings(), before) })
      console.log(`\n${engine}, ${count} files of each size, 32 connections, medians of ${rounds} rounds`)
      const lines: string[][] = []
      for (const bytes of sizes) lines.push(...(await storedAndFetched(ways, bytes, count)))
      lines.push(...(await besideUploads(ways, count)))
      console.log(aligned([['', ...ways.map(({ name }) => name)], ...lines]).concat('\n'))
    })
}

const onEngine = async (engine: string, work: (settings: () => Promise<Settings>) => Promise<void>): Promise<void> => {
  const folder = async (): Promise<Settings> => ({ SVC_DATA_DIR: await makeFolder('small') })
  if (engine !== 'postgres') return work(folder)
  const postgres = await startPostgres({ fsync: 'on', full_page_writes: 'on', shared_buffers: '256MB' })
  const store = await startObjectStore()
  try {
    await work(async () => {
      const { url, credentials } = await createBucket(store.url)
      const SVC_DATABASE_URL = await postgres.createDatabase()
      return { ...(await folder()), SVC_DATABASE_URL, SVC_BLOB_STORE: url, ...credentials }
    })
  } finally {
    await store.stop()
    await postgres.stop()
  }
}

const storedAndFetched = async (ways: readonly Way[], bytes: number, count: number): Promise<string[][]> => {
  const none = () => new Map<Way, number[]>()
  const figures = { put: none(), putCpu: none(), get: none(), getCpu: none() }
  const add = (kind: keyof typeof figures, way: Way, figure: number): void => {
    figures[kind].set(way, [...(figures[kind].get(way) ?? []), figure])
  }
  let wasEmptied = false
  for (let round = 0; round < rounds; round++)
    for (const way of [...ways.slice(round % ways.length), ...ways.slice(0, round % ways.length)]) {
      const files = { round: `${bytes}-${round}`, bytes, count }
      const pid = way.server.process.pid ?? Number.NaN
      const cpuBefore = cpuSeconds(pid)
      add('put', way, count / (await eachOnce(way.server, 'PUT', files)))
      const cpuBetween = cpuSeconds(pid)
      add('putCpu', way, ((cpuBetween - cpuBefore) / count) * 1e6)
      wasEmptied = await emptyMemory()
      add('get', way, count / (await eachOnce(way.server, 'GET', files)))
      add('getCpu', way, ((cpuSeconds(pid) - cpuBetween) / count) * 1e6)
    }
  const line = (what: string, kind: keyof typeof figures): string[] => [
    what,
    ...ways.map((way) => shown(median(figures[kind].get(way) ?? []))),
  ]
  const kib = `${bytes / KiB} KiB`
  return [
    line(`${kib} PUT, 1/s`, 'put'),
    line('  µs CPU of the server', 'putCpu'),
    line(`${kib} GET, each once${wasEmptied ? ', disk memory empty' : ''}, 1/s`, 'get'),
    line('  µs CPU of the server', 'getCpu'),
  ]
}

/** Of the disk, so that what is fetched has to be read. False where that is not ours to do. */
const emptyMemory = async (): Promise<boolean> => {
  await run('sync', [])
  return writeFile('/proc/sys/vm/drop_caches', '3').then(
    () => true,
    () => false,
  )
}

const besideUploads = async (ways: readonly Way[], count: number): Promise<string[][]> => {
  const path = join(await makeFolder('large'), 'large')
  const sha256 = await makeFile(path, GiB)
  const idle: string[] = []
  const busy: string[] = []
  for (const { server } of ways) {
    const p99 = (took: readonly number[]): number => quantile(took, 0.99)
    const alone = p99(await timedPuts(server, 4 * KiB, count, 4, 'idle', () => false))
    let uploading = true
    const uploads = uploadSeconds(
      server,
      Array.from({ length: uploadsBeside }, (_, index) => ({ name: `large-${index}`, sha256, path })),
    ).finally(() => {
      uploading = false
    })
    const beside = p99(await timedPuts(server, 4 * KiB, count, 4, 'busy', () => uploading))
    await uploads
    idle.push(shown(alone))
    busy.push(`${shown(beside)} (${(beside / alone).toFixed(1)} x)`)
  }
  return [
    ['4 KiB PUT, 4 connections, p99 ms', ...idle],
    [`  beside ${uploadsBeside} uploads of 1 GiB`, ...busy],
  ]
}
