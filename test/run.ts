/**
 * `npm test`: the check, then the tests in the order in which a failure comes soonest. Every phase runs even when an
 * earlier one failed; a failing phase fails the run. The last line sums up all phases: `N passed, N failed`.
 *
 * `npm test -- <file or folder…>` runs only those tests, without the check. What starts with `-` goes to `node --test`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, constants, tmpdir } from 'node:os'
import { join, normalize } from 'node:path'
import { buildAll } from '../scripts/build.ts'
import { runSteps } from '../scripts/check/steps.ts'
import { installTestPackages } from '../scripts/test-packages.ts'
import { startObjectStore } from './harness/object-store.ts'
import { startPostgres } from './harness/postgres.ts'
import { preparePostgres } from './harness/ready-database.ts'

interface Counts {
  readonly passed: number
  readonly failed: number
  /** Each test that failed, and the suites it is in, as their names read. */
  readonly names?: readonly string[]
}

interface Phase {
  readonly name: string
  readonly files: string[]
}

/** A test that takes longer has hung; the slowest take seconds. */
const testTimeoutMs = 300_000

/** Tests wait for disks, leases and other processes a fifth of their time: one file more than there are cores. */
const filesAtOnce = availableParallelism() + 1

const flags = process.argv.slice(2).filter((argument) => argument.startsWith('-'))
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('-'))
const scratch = mkdtempSync(join(tmpdir(), 'svc-test-run-'))

let running: ChildProcess | undefined
let signalled: NodeJS.Signals | undefined

const filesUnder = (path: string): string[] => {
  const found = statSync(path, { throwIfNoEntry: false })?.isDirectory()
    ? globSync(join(path, '**/*.test.ts'))
    : globSync(path)
  if (found.length === 0) throw new Error(`There is no test at ${path}.`)
  return found.map(normalize).sort()
}

/** Every test file, once: what belongs to no later phase is a unit test, so that none is forgotten. */
const phases = (): Phase[] => {
  if (wanted.length > 0) return [{ name: 'chosen tests', files: wanted.flatMap(filesUnder) }]
  const all = globSync('{src,scripts,test,bench,console}/**/*.test.ts', { exclude: ['**/node_modules/**'] })
    .map(normalize)
    .sort()
  const under = (name: string): string[] => all.filter((file) => file.startsWith(join('test', name, '/')))
  const later = ['integration', 'wire', 'console', 'faults'].map((name) => ({ name, files: under(name) }))
  // The check runs what is under tidy.
  const elsewhere = new Set([...under('tidy'), ...later.flatMap((phase) => phase.files)])
  const units = all.filter((file) => !elsewhere.has(file))
  return [{ name: 'unit', files: units }, ...later].filter((phase) => phase.files.length > 0)
}

/** Programs that are svc on a stage where a test can do something to it. */
const staged = 'test/{faults,harness}/{backup,moving,svc}-{on,that}-*.ts'

/** The program as it is published, and those on a stage: where they lie. */
const build = async (): Promise<string> => {
  copyFileSync('package.json', join(scratch, 'package.json'))
  return buildAll(join(scratch, 'dist'), globSync(staged))
}

/**
 * Settings of whoever runs the tests must not reach the services under test. Hundreds of processes start from the same
 * sources: they share what the first one compiled, and the next run begins anew.
 */
const environment = (
  built: string,
  postgresUrl: string,
  readyUrl: string,
  objectStoreUrl: string,
): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:SVC_(?!TEST_)|AWS_)/.test(name))),
  SVC_TEST_BUILT: built,
  SVC_TEST_POSTGRES_URL: postgresUrl,
  SVC_TEST_READY_POSTGRES_URL: readyUrl,
  SVC_TEST_S3_URL: objectStoreUrl,
  NODE_COMPILE_CACHE: join(scratch, 'compiled'),
})

/** The totals at the end of what the TAP reporter wrote; a run that died before it wrote them failed once. */
const countsOf = (report: string): Counts & { skipped: number } => {
  const total = (name: string): number =>
    Number([...report.matchAll(new RegExp(`^# ${name} (\\d+)$`, 'gm'))].at(-1)?.[1] ?? 0)
  const complete = /^# duration_ms /m.test(report)
  return {
    passed: total('pass'),
    failed: total('fail') + total('cancelled') + (complete ? 0 : 1),
    skipped: total('skipped') + total('todo'),
  }
}

/** How the process of a file ended, where that and no test in it failed. */
const endingOf = (told: string): string => {
  const facts = ['exitCode', 'signal'].flatMap((key) => {
    const [, value = '~'] = new RegExp(`^ +${key}: (.+)$`, 'm').exec(told) ?? []
    return value === '~' ? [] : [`${key} ${value}`]
  })
  return facts.length === 0 ? '' : ` (${facts.join(', ')})`
}

const failedIn = (report: string): string[] =>
  [...report.matchAll(/^ *not ok \d+ - (.*)(?:\n +---\n([\s\S]*?)\n +\.\.\.$)?/gm)].map(
    ([, name = '', told = '']) => `${name}${endingOf(told)}`,
  )

const runPhase = async ({ name, files }: Phase, env: NodeJS.ProcessEnv): Promise<Counts> => {
  const report = join(scratch, `${name}.tap`)
  const reporters = ['spec', 'stdout', 'tap', report].map(
    (value, index) => `--test-reporter${index % 2 === 0 ? '' : '-destination'}=${value}`,
  )
  const options = [...reporters, `--test-concurrency=${filesAtOnce}`, `--test-timeout=${testTimeoutMs}`, ...flags]
  console.log(`\n── ${name}: ${files.length} ${files.length === 1 ? 'file' : 'files'} ──`)
  running = spawn(process.execPath, ['--test', ...options, ...files], { stdio: 'inherit', env })
  const [status] = (await once(running, 'exit')) as [number | null]
  running = undefined
  const text = readFileSync(report, 'utf8')
  const { passed, failed, skipped } = countsOf(text)
  if (skipped > 0)
    console.log(`${skipped} skipped or left to do: a test that cannot run here must fail and say what it needs.`)
  return { passed, failed: Math.max(failed + skipped, status === 0 ? 0 : 1), names: failedIn(text) }
}

const runCheck = async (): Promise<Counts> => {
  console.log('── check ──')
  const results = await runSteps()
  const passed = results.filter((step) => step.passed).length
  return { passed, failed: results.length - passed }
}

const stop = (signal: NodeJS.Signals): void => {
  signalled = signal
  running?.kill(signal)
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)

const needed = async <T>(what: string, start: () => Promise<T>): Promise<T> => {
  try {
    return await start()
  } catch (error) {
    throw new Error(`The tests need ${what}, and it does not start.`, { cause: error })
  }
}

const runAll = async (): Promise<Map<string, Counts>> => {
  const results = new Map<string, Counts>()
  const planned = phases()
  if (wanted.length === 0) results.set('check', await runCheck())
  if (signalled !== undefined) return results
  const stack = new AsyncDisposableStack()
  try {
    const postgres = await needed('PostgreSQL', () => startPostgres())
    stack.defer(() => postgres.stop())
    const objectStore = await needed('an object store', () => {
      installTestPackages()
      return startObjectStore()
    })
    stack.defer(() => objectStore.stop())
    const built = await needed('the program', build)
    const env = environment(built, postgres.url, await preparePostgres(postgres), objectStore.url)
    for (const phase of planned) {
      if (signalled === undefined) results.set(phase.name, await runPhase(phase, env))
    }
  } catch (error) {
    console.error(error)
    results.set('what the tests need', { passed: 0, failed: 1 })
  } finally {
    await stack.disposeAsync()
  }
  return results
}

try {
  const results = await runAll()
  const sum = (field: 'passed' | 'failed'): number =>
    [...results.values()].reduce((total, counts) => total + counts[field], 0)
  const failing = [...results].filter(([, counts]) => counts.failed > 0)
  console.log('')
  for (const [phase, { names = [] }] of failing) console.log([`Failed: ${phase}`, ...names].join('\n  '))
  if (signalled !== undefined) console.log(`Stopped by ${signalled}.`)
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
  process.exitCode = failing.length > 0 ? 1 : 0
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
if (signalled !== undefined) process.exitCode = 128 + constants.signals[signalled]
