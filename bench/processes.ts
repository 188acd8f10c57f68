import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'

/** Everything that the benchmark has started and made. It ends and removes these and nothing else. */
const started = new Set<ChildProcess>()
const folders = new Set<string>()
let tidying = false

const startedChild = (child: ChildProcess): ChildProcess => {
  if (tidying) child.kill('SIGKILL')
  started.add(child)
  child.on('exit', () => started.delete(child))
  return child
}

/** Starts a server. What it says last is shown if it ends by itself. */
export const start = (
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcess => {
  const child = startedChild(
    spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...env } }),
  )
  let said = ''
  child.stderr?.on('data', (piece) => {
    said = `${said}${piece}`.slice(-2_000)
  })
  child.on('exit', (code) => {
    if (!tidying && code !== 0) console.error(`${command} ended with ${code}: ${said}`)
  })
  return child
}

/** Starts a program of ours that sends and takes messages. What it says of its errors is shown. */
export const startTalking = (program: string, args: readonly string[]): ChildProcess =>
  startedChild(spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }))

/** Runs a client to its end and returns what it printed. */
export const run = async (command: string, args: readonly string[]): Promise<string> => {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  startedChild(child)
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${err.slice(-500)}`)
  return out
}

/** A new folder for temporary data, on the disk that holds the system's temporary files. */
export const makeFolder = async (name: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), `bench-${name}-`))
  folders.add(folder)
  return folder
}

export const removeFolder = async (folder: string): Promise<void> => {
  await rm(folder, { recursive: true, force: true })
  folders.delete(folder)
}

/** Ends what still runs, first asking (nginx would leave its workers behind if killed), and removes all folders. */
export const tidyUp = async (): Promise<void> => {
  tidying = true
  await Promise.all([...started].map(stop))
  await Promise.all([...folders].map(removeFolder))
}

const stop = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000)
  await ended
  clearTimeout(timer)
}

export const installed = (command: string): boolean => spawnSync('which', [command]).status === 0

export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** Waits until something answers, at most 15 seconds. */
export const answers = async (url: string): Promise<void> => {
  for (let attempt = 0; attempt < 1_500; attempt++) {
    try {
      await (await fetch(url)).arrayBuffer()
      return
    } catch {
      await pause(10)
    }
  }
  throw new Error(`${url} does not answer`)
}

/**
 * How many files (connections, too) this process and those that it starts may have open: as many as wanted, if the
 * system lets us. Node itself goes up to the hard limit.
 */
export const openFilesMax = (wanted: number): number => {
  const hard = (): number =>
    Number(
      /^Max open files +\S+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Number.POSITIVE_INFINITY,
    )
  if (hard() < wanted) spawnSync('prlimit', ['--pid', String(process.pid), `--nofile=${wanted}:${wanted}`])
  return hard()
}

/** A process and its children: nginx works in a child. */
const treeOf = (pid: number): number[] => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  return [pid, ...children.map(Number).flatMap(treeOf)]
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

/** Linux counts CPU time in this many ticks a second for every program, whatever the kernel's own clock (USER_HZ). */
const ticksPerSecond = 100

const secondsIn = (path: string): number => {
  const fields = readFileSync(path, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** CPU seconds that a process and its children have used, in the kernel too. */
export const cpuSeconds = (pid: number): number => sum(treeOf(pid).map((each) => secondsIn(`/proc/${each}/stat`)))

/** The same of one thread. */
export const threadSeconds = (pid: number, thread: number): number => secondsIn(`/proc/${pid}/task/${thread}/stat`)

/** Largest resident memory since {@link forgetPeak}, in MiB, of a process and its children. */
export const peakMiB = (pid: number): number =>
  sum(
    treeOf(pid).map((each) => {
      const status = readFileSync(`/proc/${each}/status`, 'utf8')
      return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024
    }),
  )

/** From now on the peak is counted anew (proc_pid_clear_refs(5)). */
export const forgetPeak = (pid: number): void => {
  for (const each of treeOf(pid)) writeFileSync(`/proc/${each}/clear_refs`, '5')
}
