import { execFileSync, spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { spoolsIn } from '../src/adapters/files/spool.ts'
import { type CaptureProgress, capture } from '../src/features/operating/backups/capture.ts'
import { readManifest } from '../src/features/operating/backups/manifest.ts'
import { Structure } from '../src/features/operating/backups/structure.ts'
import { KiB, MiB } from '../src/kernel/units.ts'
import { openBackupRoom } from '../src/main/backup-vault.ts'
import { openEngines, realEnvironment } from '../src/main/engines.ts'
import { openLog } from '../src/main/log.ts'
import { run } from '../src/main/run.ts'
import { readSettings } from '../src/main/settings/rules.ts'
import { startPostgres } from '../test/harness/postgres.ts'
import { NumberedBlobs, publishNumbered } from './numbered-files.ts'
import { installed, makeFolder } from './processes.ts'
import { onEngines } from './scale-site.ts'
import { aligned, shown } from './table.ts'

type Environment = Readonly<Record<string, string>>

/** What a command took: seconds, and the most memory that its process had. */
interface Took {
  readonly seconds: number
  readonly peakMiB: number
  readonly said: string
}

const root = join(import.meta.dirname, '..')
/** As it is published: restic is compiled as well. */
const program = join(root, 'dist/main/svc.js')

/**
 * `npm run bench -- --backups <files>`: backups beside restic's, on the same data: so many small files, half of them
 * text, and one of 4 MiB to each hundred. A first point, a second one with 1 % new, every byte verified, everything
 * restored. restic encrypts always, svc not here; restic's repository is without compression and with. What restic has
 * restored is synced, since svc says of nothing that it is restored before a disk has it. Then the same point into
 * PostgreSQL, and a first one from there. Then ten times as many files,
 * generated, of which one changes between two points.
 */
export const measureBackups = async (files: number): Promise<void> => {
  if (!installed('restic')) throw new Error('install restic first (apt-get install restic)')
  execFileSync(process.execPath, [join(root, 'scripts/build.ts')], { cwd: root, stdio: 'ignore' })
  const place = { SVC_DATA_DIR: await makeFolder('backed-up'), SVC_BACKUP_VAULT: `file:${await makeFolder('vault')}` }
  const ways = [await svcWay(place), await resticWay(place, 'off'), await resticWay(place, 'auto')]
  const lines = [['', ...ways.map(({ name }) => name)]]
  let phases = ''
  const alternately = async (what: string, of: (way: Way) => Promise<Took>): Promise<void> => {
    const took: Took[] = []
    for (const way of ways) took.push(await of(way))
    lines.push([`${what}, s`, ...took.map(({ seconds }) => shown(seconds))])
    lines.push([`${what}, MiB of memory`, ...took.map(({ peakMiB }) => shown(peakMiB))])
  }
  await store(place, 'first', files)
  await alternately('first', ({ backup }) => backup())
  await store(place, 'second', Math.ceil(files / 100))
  await alternately('1 % new', ({ backup }) => backup())
  await alternately('every byte verified', ({ verify }) => verify())
  await alternately('restored', async ({ restore }) => {
    const took = await restore()
    phases ||= phasesIn(took)
    return took
  })
  console.log(`\n${files} files of 64 KiB, ${Math.ceil(files / 100)} of 4 MiB`)
  console.log(aligned(lines))
  // restic has no rows, no search and no doctor.
  console.log(`svc restored, in seconds: ${phases}`)
  await measureOnPostgres(place)
  await measureGenerated(files * 10, ['sqlite'])
}

/** What a restore says of its phases. */
const phasesIn = ({ said }: Took): string => /in seconds: (.*)\.$/m.exec(said)?.[1] ?? ''

/** The same point restored into PostgreSQL, and a first one taken from there. */
const measureOnPostgres = async (settings: Environment): Promise<void> => {
  const postgres = await startPostgres({ fsync: 'on', full_page_writes: 'on', shared_buffers: '256MB' })
  try {
    const there = { SVC_DATABASE_URL: await postgres.createDatabase(), SVC_DATA_DIR: await makeFolder('on-postgres') }
    const restored = await timed(process.execPath, [program, 'restore', 'latest'], { ...settings, ...there })
    const vault = `file:${await makeFolder('vault-of-postgres')}`
    const first = await timed(process.execPath, [program, 'backup', 'run'], { ...there, SVC_BACKUP_VAULT: vault })
    const seconds = [restored, first].map((took) => shown(took.seconds))
    console.log(`on PostgreSQL: restored in ${seconds[0]} s (${phasesIn(restored)}), first in ${seconds[1]} s\n`)
  } finally {
    await postgres.stop()
  }
}

interface Way {
  readonly name: string
  backup(): Promise<Took>
  verify(): Promise<Took>
  restore(): Promise<Took>
}

const svcWay = async (settings: Environment): Promise<Way> => ({
  name: 'svc',
  backup: () => timed(process.execPath, [program, 'backup', 'run'], settings),
  async verify() {
    const { said } = await timed(process.execPath, [program, 'backup', 'points'], settings)
    return await timed(process.execPath, [program, 'backup', 'verify', said.split(' ')[0] ?? ''], settings)
  },
  async restore() {
    const to = { ...settings, SVC_DATA_DIR: await makeFolder('restored') }
    return await timed(process.execPath, [program, 'restore', 'latest'], to)
  },
})

const resticWay = async (settings: Environment, compression: string): Promise<Way> => {
  const environment = { RESTIC_REPOSITORY: await makeFolder('restic'), RESTIC_PASSWORD: 'bench' }
  await timed('restic', ['init', '--repository-version', '2'], environment)
  const restic = (...args: string[]) => timed('restic', [...args, '--no-cache'], environment)
  return {
    name: `restic, compression ${compression}`,
    backup: () => restic('backup', settings['SVC_DATA_DIR'] ?? '', '--compression', compression),
    verify: () => restic('check', '--read-data'),
    async restore() {
      const target = await makeFolder('restic-restored')
      const restored = await restic('restore', 'latest', '--target', target)
      const synced = await timed('sync', ['-f', target], environment)
      return { ...restored, seconds: restored.seconds + synced.seconds }
    },
  }
}

/** Stores files by the service, which ends then: so that both back up what nobody is using. */
const store = async (settings: Environment, name: string, files: number): Promise<void> => {
  const all = { ...settings, SVC_LISTEN: '127.0.0.1:0', SVC_INLINE_BYTES: '0', SVC_REQUESTS_PER_SECOND: '1000000' }
  const log = await openLog('error')
  const service = await run(readSettings(all), log, { gateway: 'api', worker: false }, realEnvironment)
  const key = readFileSync(join(settings['SVC_DATA_DIR'] ?? '', 'config/bootstrap-token.txt'), 'utf8').trim()
  const put = async (path: string, body: Buffer): Promise<void> => {
    const answer = await fetch(`${service.address}/api/v1/repositories/releases/raw/${path}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}` },
      body: Uint8Array.from(body),
    })
    const said = await answer.text()
    if (answer.status !== 201) throw new Error(`${answer.status} ${said}`)
  }
  for (let file = 0; file < files; file++) {
    const text = `${name} ${file} ${randomBytes(8).toString('hex')}\n`.repeat(4_000).slice(0, 64 * KiB)
    await put(`${name}-${file}`, file % 2 === 0 ? randomBytes(64 * KiB) : Buffer.from(text))
    if (file % 100 === 0) await put(`${name}-large-${file}`, randomBytes(4 * MiB))
  }
  await service.stop()
}

/**
 * Points of generated files, each with a content of its own, which is its number: so that no disk is measured but that
 * of the vault. One more is published between two points.
 */
export const measureGenerated = (files: number, engines: readonly string[]): Promise<void> =>
  onEngines(engines, async (engine, settings) => {
    const vault = { SVC_BACKUP_VAULT: `file:${await makeFolder('generated-vault')}` }
    await measurePoints(engine, files, { ...(await settings()), ...vault })
  })

const measurePoints = async (engine: string, files: number, environment: Environment): Promise<void> => {
  const filled = await timed(process.execPath, [join(root, 'bench/points-fill.ts'), `${files}`], environment)
  console.log(`… published after ${shown(filled.seconds)} s`)
  const settings = readSettings(environment)
  const stack = new AsyncDisposableStack()
  const engines = await openEngines(settings, await openLog('error'), realEnvironment, stack)
  const store = new NumberedBlobs()
  store.count = files
  const room = await openBackupRoom(settings)
  const lines = [
    [
      `${files} files, generated, ${engine}`,
      's',
      's of rows',
      'MiB new',
      'MiB of memory',
      'ms without a round for others',
    ],
  ]
  let before: string | null = null
  for (const what of ['first point', 'one more', 'one more']) {
    const began = performance.now()
    let rowsBehind = 0
    const told = ({ phase }: CaptureProgress): void => {
      if (phase === 'plan') rowsBehind = performance.now()
    }
    const way = { room, spool: spoolsIn(settings.dataDir), program: 'bench', pace: async () => {} }
    const deps = { ...engines, ...way, database: engines.database.patient, store }
    const peak = watchMemory()
    const rounds = monitorEventLoopDelay({ resolution: 1 })
    rounds.enable()
    const wish = { id: randomUUID(), before, isDamaged: () => false, goOn: () => {}, told }
    const { id, newBytes, blobs } = await capture(deps, wish)
    await new Structure(room).check(await readManifest(room.vault, id))
    rounds.disable()
    if (blobs.count !== store.count) throw new Error(`the point has ${blobs.count} files instead of ${store.count}`)
    const seconds = [performance.now() - began, rowsBehind - began].map((ms) => shown(ms / 1000))
    lines.push([what, ...seconds, ...[newBytes / MiB, peak(), rounds.max / 1e6].map(shown)])
    console.log(`… ${what} after ${seconds[0]} s`)
    before = id
    await publishNumbered(engines.database, store, 1)
  }
  await stack.disposeAsync()
  console.log(aligned(lines).concat('\n'))
}

/** The most memory that this process has had since. */
const watchMemory = (): (() => number) => {
  let most = 0
  const look = (): void => {
    most = Math.max(most, process.memoryUsage.rss() / MiB)
  }
  const looking = setInterval(look, 20)
  return () => {
    look()
    clearInterval(looking)
    return most
  }
}

/** Runs a command to its end, and looks now and then at its memory. */
const timed = async (command: string, args: readonly string[], environment: Environment): Promise<Took> => {
  const began = performance.now()
  const child = spawn(command, args, { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] })
  let [peakMiB, said, wrong] = [0, '', '']
  child.stdout.on('data', (piece: Buffer) => {
    said = `${said}${piece}`.slice(0, 100_000)
  })
  child.stderr.on('data', (piece: Buffer) => {
    wrong = `${wrong}${piece}`.slice(-1_000)
  })
  const looking = setInterval(() => {
    try {
      const [, peak] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
      peakMiB = Math.max(peakMiB, Number(peak ?? 0) / 1024)
    } catch {
      // It has just ended.
    }
  }, 100)
  const [code] = await once(child, 'exit')
  clearInterval(looking)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${wrong}`)
  return { seconds: (performance.now() - began) / 1000, peakMiB, said }
}
