import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { type SvcClient, svcClient } from '../svc-client.ts'
import { quantile } from '../table.ts'

/** Small requests at once: a few, each as soon as the last one is answered. */
const clients = 4
const smallBytes = 4_096
const uploadBytes = 1024 * 1024
/** Of what may take long, the longest of so many is told. */
const longOnes = 3
const probePauseMs = 10

/** Milliseconds, and answers a second. */
export interface Pace {
  readonly p50: number
  readonly p99: number
  readonly perSecond: number
}

/** What somebody who does nothing unusual met with. */
export interface Met {
  readonly get: Pace
  readonly put: Pace
  /** Of whether the process is alive, asked all the while. */
  readonly probe: { readonly p99: number; readonly longest: number }
  /** The longest times until a large download began, and until an upload was answered. */
  readonly firstByteMs: number
  readonly uploadMs: number
  /** Requests that were not answered with success, by what was answered. */
  readonly refused: ReadonlyMap<string, number>
}

export interface Measured {
  readonly base: string
  readonly credential: string
  /** Paths of a small and of a large file, and of a folder for new ones. */
  readonly small: string
  readonly large: string
  readonly folder: string
  readonly seconds: number
}

/** Asks as one account does, over connections of its own: first what takes long, then small requests. */
export const measure = async (setting: Measured, name: string): Promise<Met> => {
  const { base, credential, seconds } = setting
  const refused = new Map<string, number>()
  /** Milliseconds that it took, also where it was refused. */
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const began = performance.now()
    try {
      await work()
    } catch (error) {
      const why = refusalOf(error)
      refused.set(why, (refused.get(why) ?? 0) + 1)
    }
    return performance.now() - began
  }
  const client = svcClient(base, credential, clients)
  const prober = svcClient(base, credential, 1)
  let puts = 0
  const put = (bytes: number) => (): Promise<unknown> => {
    const path = `${setting.folder}/${name}/${puts++}`
    return client.send('PUT', path, randomBytes(bytes), { 'content-length': String(bytes) })
  }
  try {
    const uploadMs = await longestOf(() => timed(put(uploadBytes)))
    const firstByteMs = await longestOf(() => timed(() => firstByte(setting)))
    const probing = probe(prober, timed)
    const get = await paced(seconds, () => timed(() => client.timed(setting.small)))
    const putPace = await paced(seconds, () => timed(put(smallBytes)))
    return { get, put: putPace, probe: await probing.end(), firstByteMs, uploadMs, refused }
  } finally {
    client.close()
    prober.close()
  }
}

const longestOf = async (ask: () => Promise<number>): Promise<number> => {
  let longest = 0
  for (let each = 0; each < longOnes; each++) longest = Math.max(longest, await ask())
  return longest
}

/** The client names method, path and status; a connection that broke has a code. */
const refusalOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const status = /: (\d{3}) .*?(?:"code":\s*"(\w+)")?/.exec(error.message)
  if (status !== null) return status.slice(1).filter(Boolean).join(' ')
  return 'code' in error ? String(error.code) : error.message
}

/** Waits for the first byte of a large file, which needs a slot, and goes away. */
const firstByte = ({ base, large, credential }: Measured): Promise<void> =>
  new Promise((resolve, reject) => {
    const asked = request(`${base}${large}`, { agent: false, headers: { authorization: `Bearer ${credential}` } })
    asked.on('error', reject)
    asked.on('response', (answer) => {
      // It is we who go away.
      answer.on('error', () => {})
      answer.once('data', () => {
        if (answer.statusCode === 200) resolve()
        else reject(new Error(`GET ${large}: ${answer.statusCode} `))
        asked.destroy()
      })
    })
    asked.end()
  })

const paced = async (seconds: number, ask: () => Promise<number>): Promise<Pace> => {
  const began = performance.now()
  const took: number[] = []
  const worker = async (): Promise<void> => {
    while (performance.now() - began < seconds * 1000) took.push(await ask())
  }
  await Promise.all(Array.from({ length: clients }, worker))
  const perSecond = took.length / ((performance.now() - began) / 1000)
  return { p50: quantile(took, 0.5), p99: quantile(took, 0.99), perSecond }
}

const probe = (client: SvcClient, timed: (work: () => Promise<unknown>) => Promise<number>) => {
  const took: number[] = []
  let over = false
  const probing = (async () => {
    while (!over) {
      took.push(await timed(() => client.timed('/health/live')))
      await pause(probePauseMs)
    }
  })()
  return {
    async end() {
      over = true
      await probing
      return { p99: quantile(took, 0.99), longest: Math.max(...took) }
    },
  }
}
