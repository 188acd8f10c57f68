import { mkdir, writeFile } from 'node:fs/promises'
import type { Profiler } from 'node:inspector'
import { join } from 'node:path'

/** Looks at what a process does on its event loop; it has to run with `--inspect` on this port. */
export interface Profiling {
  /** Writes `<folder>/<name>.cpuprofile`, and answers where most of the time went. */
  during<T>(name: string, work: () => Promise<T>): Promise<{ result: T; most: string }>
  close(): void
}

const told = 12

export const startProfiling = async (port: number, folder: string): Promise<Profiling> => {
  await mkdir(folder, { recursive: true })
  const [target]: { webSocketDebuggerUrl: string }[] = JSON.parse(
    await (await fetch(`http://127.0.0.1:${port}/json`)).text(),
  )
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '')
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', () => reject(new Error(`no inspector on port ${port}`)))
  })
  let asked = 0
  const ask = (method: string): Promise<Partial<Profiler.StopReturnType>> =>
    new Promise((resolve) => {
      asked += 1
      const mine = asked
      const listener = ({ data }: MessageEvent): void => {
        const answer: { id?: number; result: Partial<Profiler.StopReturnType> } = JSON.parse(String(data))
        if (answer.id !== mine) return
        socket.removeEventListener('message', listener)
        resolve(answer.result)
      }
      socket.addEventListener('message', listener)
      socket.send(JSON.stringify({ id: mine, method }))
    })
  await ask('Profiler.enable')
  return {
    async during(name, work) {
      await ask('Profiler.start')
      const result = await work()
      const { profile } = await ask('Profiler.stop')
      if (profile === undefined) throw new Error('the inspector gave no profile')
      await writeFile(join(folder, `${name.replaceAll(' ', '-')}.cpuprofile`), JSON.stringify(profile))
      return { result, most: mostOf(profile) }
    },
    close: () => socket.close(),
  }
}

/** The functions that took most of the time by themselves, with their share of it. */
const mostOf = ({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): string => {
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => {
      const file = url.split('/').slice(-2).join('/')
      return [id, `${functionName || '(anonymous)'}${file === '' ? '' : ` ${file}:${lineNumber + 1}`}`]
    }),
  )
  const micros = new Map<string, number>()
  for (const [index, id] of samples.entries()) {
    const name = names.get(id) ?? ''
    micros.set(name, (micros.get(name) ?? 0) + (timeDeltas[index] ?? 0))
  }
  const all = [...micros.values()].reduce((sum, each) => sum + each, 0)
  return [...micros]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, told)
    .map(([name, each]) => `${((100 * each) / all).toFixed(1).padStart(8)} % ${name}`)
    .join('\n')
}
