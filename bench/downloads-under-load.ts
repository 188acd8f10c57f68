import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { MiB } from '../src/kernel/units.ts'
import { downloadSeconds } from './load.ts'
import { forgetPeak, peakMiB } from './processes.ts'
import type { Bench } from './servers.ts'
import type { Setting } from './setting.ts'
import { type Stored, storedEverywhere } from './stored.ts'
import { median, type Row } from './table.ts'

/*
 * Sixty-four clients fetch one big file at once, and somebody fetches a small one meanwhile, again and again. How long
 * does the small one take, beside what it takes on an idle server?
 */
const clients = 64
const probesIdle = 600

/** Milliseconds of one GET over a connection that is kept. */
const timedGet = (agent: Agent, url: string, headers: Readonly<Record<string, string>>): Promise<number> =>
  new Promise((resolve, reject) => {
    const began = performance.now()
    const asked = request(url, { agent, headers }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${url}: ${answer.statusCode}`))
      answer.resume().on('end', () => resolve(performance.now() - began))
    })
    asked.on('error', reject).end()
  })

/** The time that 99 of 100 stay under. */
const p99 = async (server: Bench, { name, sha256 }: Stored, goesOn: (count: number) => boolean): Promise<number> => {
  const { url, headers } = server.download(name, sha256)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const took: number[] = []
  while (goesOn(took.length)) {
    took.push(await timedGet(agent, url, headers))
    await pause(2)
  }
  agent.destroy()
  return took.sort((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? Number.NaN
}

export const underLoad = async (setting: Setting): Promise<Row[]> => {
  const { bigBytes, rounds } = setting.sizes
  const big = await storedEverywhere(setting, 'big-of-many', bigBytes)
  const small = await storedEverywhere(setting, 'small-of-one', 4096)
  const seen = {
    speed: new Map<string, number[]>(),
    idle: new Map<string, number[]>(),
    busy: new Map<string, number[]>(),
  }
  const peak = new Map<string, number>()
  const note = (to: Map<string, number[]>, { name }: Bench, value: number): void => {
    to.set(name, [...(to.get(name) ?? []), value])
  }
  for (let round = 0; round < rounds; round++)
    for (const server of [...setting.servers.slice(round), ...setting.servers.slice(0, round)]) {
      // Into memory again, and warm.
      await downloadSeconds(server, big.name, big.sha256, bigBytes, 1)
      note(seen.idle, server, await p99(server, small, (count) => count < probesIdle))
      forgetPeak(server.process.pid ?? Number.NaN)
      let over = false
      const bulk = downloadSeconds(server, big.name, big.sha256, bigBytes, clients).finally(() => {
        over = true
      })
      const [busy, seconds] = await Promise.all([p99(server, small, () => !over), bulk])
      note(seen.busy, server, busy)
      note(seen.speed, server, (clients * bigBytes) / MiB / seconds)
      peak.set(server.name, Math.max(peak.get(server.name) ?? 0, peakMiB(server.process.pid ?? Number.NaN)))
    }
  const medians = (values: Map<string, number[]>) => new Map([...values].map(([name, all]) => [name, median(all)]))
  const [idle, busy] = [medians(seen.idle), medians(seen.busy)]
  const added = new Map([...busy].map(([name, value]) => [name, value / (idle.get(name) ?? Number.NaN)]))
  return [
    {
      what: `download, ${clients} clients`,
      unit: 'MiB/s',
      figures: medians(seen.speed),
      better: 'more',
      meaning: 'as many curls at once as there are slots.',
    },
    { what: '4 KiB GET, idle, p99', unit: 'ms', figures: idle, better: 'less', meaning: 'one after the other.' },
    {
      what: '  during these downloads, p99',
      unit: 'ms',
      figures: busy,
      better: 'less',
      meaning: 'the same meanwhile.',
    },
    { what: '  grown by', unit: 'times', figures: added, better: 'less', meaning: 'below 5 is the aim.' },
    {
      what: '  peak memory',
      unit: 'MiB',
      figures: peak,
      better: 'less',
      meaning: 'of the server meanwhile; below 250 is the aim.',
    },
  ]
}
