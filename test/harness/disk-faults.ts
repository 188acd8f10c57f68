import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from './processes.ts'
import { until } from './until.ts'

/*
 * A disk that is slow, full or broken at the moment that a test chooses. A small library, preloaded into a process of
 * its own, stands between the program (Node's thread pool, SQLite) and the system:
 *
 *   const disk = makeDiskFaults()
 *   const service = await startServiceApart(engine, { disk })  // or startSvc(['up'], { ...disk.environment, … })
 *   const held = disk.rule({ call: 'pwrite', path: '/staging/', action: 'hold', count: 1 })
 *   void send()
 *   await held.met()                                                        // the write hangs in its thread
 *   …
 *   held.end()                                                              // it lands now
 *   disk.close()
 *
 * Rules may come and go at any time, and count for each process by itself. The first rule that a call meets decides.
 */

/** The variants of a call (`at`, `64`, `v`) go by one name. */
type Call = 'any' | 'open' | 'write' | 'pwrite' | 'fsync' | 'fdatasync' | 'ftruncate' | 'rename' | 'link' | 'unlink'

export interface DiskRule {
  readonly call: Call
  /**
   * A piece of the path: of the file that is open, too. `rename` and `link` have `from -> to`. All files unless given.
   */
  readonly path?: string
  /**
   * `main` is where the event loop turns; everything else is `other`; any other text is a piece of the thread's name.
   */
  readonly thread?: 'any' | 'main' | 'other' | (string & {})
  /**
   * `delay` takes so many `ms`; `fail` does nothing and answers `error` (with `when: 'after'`: does it and denies it);
   * `hold` waits until the rule ends; `tell` only writes it down.
   */
  readonly action: 'delay' | 'fail' | 'hold' | 'tell'
  readonly ms?: number
  readonly error?: 'EIO' | 'ENOSPC' | 'EROFS' | 'EACCES' | 'EMFILE'
  /** Before the call is done, or after it. */
  readonly when?: 'before' | 'after'
  /** So many calls of each process are let by first. */
  readonly letBy?: number
  /** How many calls of each process it meets; all of them unless given. */
  readonly count?: number
}

export interface DiskHit {
  readonly pid: number
  readonly thread: 'main' | 'other'
  readonly call: string
  readonly path: string
}

export interface ActiveRule {
  /** Calls that the rule met so far. */
  hits(): DiskHit[]
  /** Resolves once so many calls met it. */
  met(calls?: number): Promise<DiskHit[]>
  /** Ends the rule. What it holds goes on. */
  end(): void
  /** Calls that met it and are through. */
  done(): number
}

export interface DiskFaults {
  /** For the processes that are to meet the rules. */
  readonly environment: Environment
  rule(rule: DiskRule): ActiveRule
  /** Ends all rules. */
  clear(): void
  /** Ends all rules, and removes what was written about them. */
  close(): void
}

const source = join(import.meta.dirname, 'disk-faults.c')

/** Compiled once for each state of the source. */
const library = (): string => {
  const folder = join(tmpdir(), 'svc-test-disk-faults')
  const built = join(folder, `${hash('sha256', readFileSync(source)).slice(0, 16)}.so`)
  if (existsSync(built)) return built
  mkdirSync(folder, { recursive: true })
  const fresh = `${built}.${process.pid}`
  execFileSync('cc', ['-shared', '-fPIC', '-O2', '-Wall', '-Werror', '-o', fresh, source, '-ldl', '-lpthread'])
  renameSync(fresh, built)
  return built
}

export const makeDiskFaults = (): DiskFaults => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-disk-faults-'))
  const control = join(folder, 'control')
  const log = join(folder, 'log')
  const lines = new Map<string, string>()
  let ids = 0

  const publish = (): void => {
    writeFileSync(`${control}.new`, [...lines.values()].join(''))
    renameSync(`${control}.new`, control)
  }

  const told = (): string[][] =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .split('\n')
          .slice(0, -1)
          .map((line) => line.split('\t'))
      : []

  publish()
  return {
    environment: { LD_PRELOAD: library(), SVC_TEST_FAULTS_CONTROL: control, SVC_TEST_FAULTS_LOG: log },

    rule(rule) {
      const id = String(++ids)
      lines.set(id, lineOf(id, rule))
      publish()
      const hits = (): DiskHit[] =>
        told()
          .filter((fields) => fields[2] === id && fields[5] !== 'done')
          .map(([pid, thread, , call = '', path = '']) => ({
            pid: Number(pid),
            thread: thread === 'main' ? 'main' : 'other',
            call,
            path,
          }))
      return {
        hits,
        met: (calls = 1) =>
          until(`${calls} calls of ${rule.call} on ${rule.path ?? 'any file'}`, () => {
            const found = hits()
            return found.length >= calls ? found : null
          }),
        end() {
          lines.delete(id)
          publish()
        },
        done: () => told().filter((fields) => fields[2] === id && fields[5] === 'done').length,
      }
    },

    clear() {
      lines.clear()
      publish()
    },

    close() {
      // Without a control file there are no rules: nobody is held any longer.
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const lineOf = (id: string, rule: DiskRule): string => {
  const { call, path = '', thread = 'any', when = 'before', action, ms = 0, error = 'EIO', letBy = 0, count = 0 } = rule
  const argument = action === 'fail' ? constants.errno[error] : ms
  return `${[id, call, path, thread, when, action, argument, letBy, count].join('\t')}\n`
}
