import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** Processes that the benchmark started. It ends these and no others. */
const started = new Set<ChildProcess>()

export const start = (
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcess => {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...env } })
  let said = ''
  child.stderr?.on('data', (text) => {
    said = `${said}${text}`.slice(-2_000)
  })
  child.on('exit', (code) => {
    if (started.delete(child) && code !== 0 && code !== null) console.error(`${command} ended with ${code}: ${said}`)
  })
  started.add(child)
  return child
}

export const stop = async (child: ChildProcess): Promise<void> => {
  if (!started.delete(child) || child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000)
  await ended
  clearTimeout(timer)
}

export const stopAll = (): void => {
  for (const child of started) child.kill('SIGKILL')
  started.clear()
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
  for (let attempt = 0; attempt < 150; attempt++) {
    try {
      await fetch(url)
      return
    } catch {
      await pause(100)
    }
  }
  throw new Error(`${url} does not answer`)
}

const childrenOf = (pid: number): number[] => {
  try {
    const direct = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .filter(Boolean)
      .map(Number)
    return [pid, ...direct.flatMap(childrenOf)]
  } catch {
    return []
  }
}

/** CPU seconds that a process and its children have used. */
export const cpuSeconds = (pid: number): number =>
  childrenOf(pid).reduce((sum, each) => {
    const fields = readFileSync(`/proc/${each}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return sum + (Number(fields[11]) + Number(fields[12])) / 100
  }, 0)

/** Largest resident memory so far, in MiB, summed over a process and its children. */
export const peakMiB = (pid: number): number =>
  childrenOf(pid).reduce((sum, each) => {
    const status = readFileSync(`/proc/${each}/status`, 'utf8')
    return sum + Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
  }, 0)
