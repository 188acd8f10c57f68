import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { after } from 'node:test'
import { asThisRunSays } from './kept-inline.ts'
import { until } from './until.ts'

/*
 * svc as processes of their own, started the way that an operator starts it. Imports nothing from src, so that wire
 * tests may use it. Whatever is started here is ended with the test file, also when that fails.
 */

export const root = resolve(import.meta.dirname, '../..')
/**
 * What `node` is given to run a program of the sources. `npm test` builds them once, as svc is published, and starts
 * them hundreds of times; a test file that is run by itself starts the sources.
 */
export const programOf = (source: string): string => {
  const built = process.env['SVC_TEST_BUILT']
  return built === undefined ? source : join(built, `${basename(source, '.ts')}.js`)
}

export const svcFile = programOf(join(root, 'src/main/svc.ts'))

/** What `npm start` tells Node itself. */
export const nodeFlags: readonly string[] =
  readFileSync(join(root, 'package.json'), 'utf8')
    .match(/"start": "exec node (.*?) ?src/)?.[1]
    ?.split(' ') ?? []

export type Environment = Readonly<Record<string, string>>
/** The same where what is undefined is not there, whatever whoever runs the tests has. */
export type ProgramEnvironment = Readonly<Record<string, string | undefined>>

export interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Program {
  readonly child: ChildProcess
  readonly pid: number
  readonly stdout: () => string
  readonly stderr: () => string
  /** Resolves when the process is gone and everything that it wrote is here. */
  readonly ended: Promise<End>
}

/** What is alive, and whether it leads a group of processes that goes with it. */
const alive = new Map<ChildProcess, boolean>()

const killAll = (): void => {
  for (const [{ pid }, group] of alive) {
    try {
      if (pid !== undefined) process.kill(group ? -pid : pid, 'SIGKILL')
    } catch {
      // Gone already.
    }
  }
  alive.clear()
}

/** To be called once by each test file that starts programs. */
export const endProgramsAfterTests = (): void => {
  after(killAll)
  process.once('exit', killAll)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))
}

/**
 * The environment of whoever runs the tests, without settings of svc and traces of the test runner. With compiled
 * sources kept, a process starts in half the time.
 */
const plainEnvironment = (): NodeJS.ProcessEnv => ({
  NODE_COMPILE_CACHE: join(tmpdir(), 'svc-test-compiled'),
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_') && name !== 'NODE_TEST_CONTEXT'),
  ),
})

export const startProgram = (
  command: string,
  args: readonly string[],
  environment: ProgramEnvironment = {},
  { messages = false, group = false, cwd = root } = {},
): Program => {
  const stdio: StdioOptions = ['ignore', 'pipe', 'pipe', ...(messages ? (['ipc'] as const) : [])]
  const child = spawn(command, args, { cwd, stdio, detached: group, env: { ...plainEnvironment(), ...environment } })
  if (child.pid === undefined) throw new Error(`${command} does not start`)
  alive.set(child, group)
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text
    })
  }
  const ended = once(child, 'close').then(([code, signal]): End => {
    alive.delete(child)
    return { code, signal }
  })
  return { child, pid: child.pid, stdout: () => texts.stdout, stderr: () => texts.stderr, ended }
}

/** Runs `svc <command>` and leaves it running. */
export const startSvc = (args: readonly string[], environment: Environment): Program =>
  startProgram(process.execPath, [...nodeFlags, svcFile, ...args], environment)

/** Runs a program to its end. */
export const runProgram = async (
  command: string,
  args: readonly string[],
  environment?: ProgramEnvironment,
  options?: { readonly cwd?: string },
): Promise<End & { stdout: string; stderr: string }> => {
  const program = startProgram(command, args, environment, options)
  const end = await program.ended
  return { ...end, stdout: program.stdout(), stderr: program.stderr() }
}

export const runSvc = (args: readonly string[], environment: Environment) =>
  runProgram(process.execPath, [...nodeFlags, svcFile, ...args], environment)

/** Runs `svc <command>` to its end while nothing else happens in this process. */
export const runSvcMeanwhile = (args: readonly string[], environment: Environment) => {
  const env = { ...plainEnvironment(), ...environment }
  const { status, stderr, stdout } = spawnSync(process.execPath, [...nodeFlags, svcFile, ...args], {
    cwd: root,
    env,
    encoding: 'utf8',
  })
  return { code: status, stderr, stdout }
}

/** The address that a starting service prints once it listens. Fails when it ends instead. */
export const listening = async (program: Program): Promise<string> => {
  const ended = { is: false }
  void program.ended.then(() => {
    ended.is = true
  })
  return await until('the service listens', () => {
    const url = / listens on (http:\S+)/.exec(program.stdout())?.[1]
    if (url !== undefined) return url
    if (ended.is) throw new Error(`the service ended instead of listening:\n${program.stdout()}${program.stderr()}`)
    return null
  })
}

/** Settings of a service on a port of its own. */
export const settingsFor = (place: { dataDir: string; databaseUrl?: string }, more: Environment = {}): Environment => ({
  SVC_DATA_DIR: place.dataDir,
  // Who is signed in on this machine is nobody in a test.
  XDG_CONFIG_HOME: `${place.dataDir}-home`,
  SVC_LISTEN: '127.0.0.1:0',
  SVC_FREE_SPACE_RESERVE_BYTES: '0',
  ...asThisRunSays,
  SVC_LOG_LEVEL: 'warn',
  ...(place.databaseUrl === undefined ? {} : { SVC_DATABASE_URL: place.databaseUrl }),
  ...more,
})

/** What commands take as the service of this machine: without it they keep the recovery key to themselves. */
export const ownService = (address: string): Environment => ({
  SVC_URL: address,
  SVC_LISTEN: new URL(address).host,
})

export const keyIn = (dataDir: string, name: 'bootstrap-token.txt' | 'health-token.txt'): string =>
  readFileSync(join(dataDir, 'config', name), 'utf8').trim()

/** The largest resident memory of a program so far, in MiB. */
export const peakMiBOf = ({ pid }: Pick<Program, 'pid'>): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

/** The places in staging. */
export const stagedIn = (dataDir: string): string[] => [
  ...new Set(readdirSync(join(dataDir, 'staging')).map((name) => name.replace(/\..*/, ''))),
]

/** The files that hold stored bytes, in order. */
const blobFiles = (dataDir: string): string[] => globSync(join(dataDir, 'blobs', '*', '*')).sort()

/** Digests of what the store holds. */
export const storedIn = (dataDir: string): string[] => blobFiles(dataDir).map((path) => basename(path).slice(0, 64))

/** Where the bytes of a digest lie, which the digest alone does not say: their name has a generation, too. */
export const blobFile = (dataDir: string, digest: string): string => {
  const [path, ...others] = blobFiles(dataDir).filter((each) => basename(each).startsWith(digest))
  if (path === undefined || others.length > 0) throw new Error(`${others.length} files besides ${path} hold ${digest}`)
  return path
}

export interface Findings {
  readonly damage: string[]
  readonly waiting: string[]
}

/** What `svc doctor` says. */
export const askDoctor = async (environment: Environment): Promise<Findings> => {
  const { code, stdout, stderr } = await runSvc(['doctor'], environment)
  const lines = (...kinds: string[]): string[] =>
    stdout.split('\n').filter((line) => kinds.some((kind) => line.startsWith(`${kind}: `)))
  const found = { damage: lines('damage', 'quarantine'), waiting: lines('waiting') }
  const consistent = code === (found.damage.length > 0 ? 1 : 0) && (code === 1 || /in order\.$/.test(stdout.trim()))
  if (!consistent) throw new Error(`svc doctor ended with ${code}:\n${stdout}${stderr}`)
  return found
}

/** Resolves when doctor finds nothing at all. What waits for upkeep may take a moment; damage is never forgiven. */
export const untilInOrder = (doctor: () => Promise<Findings>): Promise<unknown> =>
  until('doctor finds nothing damaged and nothing waiting', async () => {
    const { damage, waiting } = await doctor()
    if (damage.length > 0) throw new Error(damage.join('\n'))
    return waiting.length === 0
  })
