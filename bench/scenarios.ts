import { join } from 'node:path'
import { MiB } from '../src/kernel/units.ts'
import { makeCredentials, makeLinks, randomRequests, type Said } from './credentials.ts'
import { underLoad } from './downloads-under-load.ts'
import { durableFilesPerSecond, durableWriteSeconds } from './floor.ts'
import { hostile } from './hostile.ts'
import {
  downloadSeconds,
  makeFile,
  probesDuringSignIns,
  smallGets,
  smallPuts,
  touchRoom,
  uploadSeconds,
} from './load.ts'
import { cpuSeconds, forgetPeak, peakMiB } from './processes.ts'
import type { Bench } from './servers.ts'
import type { Setting } from './setting.ts'
import { type Stored, storedEverywhere } from './stored.ts'
import { median, type Row } from './table.ts'
import { memoryOnS3, parts, reclaim } from './uploads-and-space.ts'

const smallBytes = 4096
const connections = 32
const parallel = 32
const signInsAtOnce = 50

const pidOf = (server: Bench): number => server.process.pid ?? Number.NaN

/**
 * What one measurement of one server gave: work done (in the unit of the row, without the time) and the time it took.
 */
interface Measured {
  readonly amount: number
  readonly seconds: number
}

/**
 * Measures each server once a round, the order turning from round to round; gives the medians of speed and of CPU per
 * amount. What `prepare` does counts for neither.
 */
const compare = async (
  { servers, sizes }: Setting,
  measure: (server: Bench, round: number) => Promise<Measured>,
  prepare?: (server: Bench) => Promise<unknown>,
): Promise<{ speed: Map<string, number>; cpu: Map<string, number> }> => {
  const speeds = new Map<string, number[]>(servers.map((server) => [server.name, []]))
  const cpus = new Map<string, number[]>(servers.map((server) => [server.name, []]))
  for (let round = 0; round < sizes.rounds; round++)
    for (const server of [...servers.slice(round), ...servers.slice(0, round)]) {
      await prepare?.(server)
      const before = cpuSeconds(pidOf(server))
      const { amount, seconds } = await measure(server, round)
      speeds.get(server.name)?.push(amount / seconds)
      cpus.get(server.name)?.push((cpuSeconds(pidOf(server)) - before) / amount)
    }
  const medians = (seen: Map<string, number[]>): Map<string, number> =>
    new Map([...seen].map(([name, values]) => [name, median(values)]))
  return { speed: medians(speeds), cpu: medians(cpus) }
}

const scaled = (figures: ReadonlyMap<string, number>, factor: number): Map<string, number> =>
  new Map([...figures].map(([name, value]) => [name, value * factor]))

const download = async (setting: Setting): Promise<Row[]> => {
  const { bigBytes } = setting.sizes
  const file = await storedEverywhere(setting, 'big', bigBytes)
  const fetched = (server: Bench, clients: number): Promise<number> =>
    downloadSeconds(server, file.name, file.sha256, bigBytes, clients)
  const times = (clients: number) =>
    compare(
      setting,
      async (server) => ({ amount: (clients * bigBytes) / MiB, seconds: await fetched(server, clients) }),
      // Brings the file back into memory, which the others may have taken.
      (server) => fetched(server, 1),
    )
  const [with1, with8, with64] = [await times(1), await times(8), await times(64)]
  return [
    {
      what: 'download, 1 client',
      unit: 'MiB/s',
      figures: with1.speed,
      better: 'more',
      meaning: 'one curl fetches a big file that is in memory and throws it away.',
    },
    { what: 'download, 8 clients', unit: 'MiB/s', figures: with8.speed, better: 'more', meaning: 'together.' },
    { what: 'download, 64 clients', unit: 'MiB/s', figures: with64.speed, better: 'more', meaning: 'together.' },
    {
      what: '  server CPU, 8 clients',
      unit: 's/GiB',
      figures: scaled(with8.cpu, 1024),
      better: 'less',
      meaning: 'of the server and its children, also in the kernel. Hardly moved by what else the machine does.',
    },
  ]
}

const upload = async (setting: Setting): Promise<Row[]> => {
  const { scratch, sizes } = setting
  const files: Stored[] = []
  for (let round = 0; round < sizes.rounds; round++) {
    const path = join(scratch, `up-${round}`)
    files.push({ name: `up-${round}`, sha256: await makeFile(path, sizes.bigBytes), path })
  }
  const amount = sizes.bigBytes / MiB
  const { speed, cpu } = await compare(
    setting,
    async (server, round) => {
      const file = files[round]
      if (file === undefined) throw new Error(`no file for round ${round}`)
      return { amount, seconds: await uploadSeconds(server, [file]) }
    },
    () => touchRoom(scratch, sizes.bigBytes),
  )
  const plain: number[] = []
  for (let round = 0; round < sizes.rounds; round++) {
    await touchRoom(scratch, sizes.bigBytes)
    plain.push(amount / (await durableWriteSeconds(scratch, sizes.bigBytes)))
  }
  return [
    {
      what: 'upload, 1 client',
      unit: 'MiB/s',
      figures: speed,
      better: 'more',
      meaning:
        'one curl stores a new big file. svc and docker-registry verify its SHA-256 and sync it; nginx does neither.',
    },
    {
      what: '  server CPU',
      unit: 's/GiB',
      figures: scaled(cpu, 1024),
      better: 'less',
      meaning: 'for the same.',
    },
    {
      what: '  plain write and sync',
      unit: 'MiB/s',
      figures: new Map([['svc', median(plain)]]),
      better: null,
      meaning: 'what this disk takes from a program that only writes: no server that syncs is faster.',
    },
  ]
}

const smallGet = async (setting: Setting): Promise<Row[]> => {
  const { name, sha256 } = await storedEverywhere(setting, 'small', smallBytes)
  const { speed, cpu } = await compare(setting, async (server) => {
    const { count, seconds } = await smallGets(server, name, sha256, setting.sizes.getSeconds)
    return { amount: count, seconds }
  })
  return [
    {
      what: `4 KiB GET, ${connections} connections`,
      unit: '1/s',
      figures: speed,
      better: 'more',
      meaning:
        'kept alive, driven by wrk. svc reads session, grant and path from its database each time; the others ask nobody.',
    },
    {
      what: '  server CPU',
      unit: 'µs each',
      figures: scaled(cpu, 1e6),
      better: 'less',
      meaning: 'its inverse is what one core can answer.',
    },
  ]
}

const smallPut = async (setting: Setting): Promise<Row[]> => {
  const { rounds, puts } = setting.sizes
  const { speed, cpu } = await compare(setting, async (server, round) => ({
    amount: puts,
    seconds: await smallPuts(server, smallBytes, puts, connections, String(round)),
  }))
  const plain: number[] = []
  for (let round = 0; round < rounds; round++) plain.push(await durableFilesPerSecond(smallBytes, puts, connections))
  return [
    {
      what: `4 KiB PUT, ${connections} connections`,
      unit: '1/s',
      figures: speed,
      better: 'more',
      meaning:
        'each with content of its own. svc answers when file, folder and catalog are synced; nginx syncs nothing.',
    },
    { what: '  server CPU', unit: 'µs each', figures: scaled(cpu, 1e6), better: 'less', meaning: 'for the same.' },
    {
      what: '  plain durable files',
      unit: '1/s',
      figures: new Map([['svc', median(plain)]]),
      better: null,
      meaning: `written, synced, renamed, folder synced, ${connections} at once, without any server: the disk's bound.`,
    },
  ]
}

const memory = async (setting: Setting): Promise<Row[]> => {
  const { servers, sizes, scratch } = setting
  const { bigBytes, parallelUploadBytes } = sizes
  const big = await storedEverywhere(setting, 'big-of-memory', bigBytes)
  const path = join(scratch, 'parallel')
  const sha256 = await makeFile(path, parallelUploadBytes)
  const files = Array.from({ length: parallel }, (_, index) => ({ name: `parallel-${index}`, sha256, path }))
  const down = new Map<string, number>()
  const up = new Map<string, number>()
  for (const server of servers) {
    forgetPeak(pidOf(server))
    await downloadSeconds(server, big.name, big.sha256, bigBytes, parallel)
    down.set(server.name, peakMiB(pidOf(server)))
    forgetPeak(pidOf(server))
    await uploadSeconds(server, files)
    up.set(server.name, peakMiB(pidOf(server)))
  }
  return [
    {
      what: `peak memory, ${parallel} downloads`,
      unit: 'MiB',
      figures: down,
      better: 'less',
      meaning: `resident memory while ${parallel} clients fetch ${bigBytes / MiB} MiB each at once.`,
    },
    {
      what: `peak memory, ${parallel} uploads`,
      unit: 'MiB',
      figures: up,
      better: 'less',
      meaning: `while ${parallel} clients store ${parallelUploadBytes / MiB} MiB each (less than downloads, to spare the disk).`,
    },
  ]
}

/** Does hashing passwords stop the event loop? */
const signIn = async ({ servers, sizes }: Setting): Promise<Row[]> => {
  const svc = servers.find((server) => server.name === 'svc')
  if (svc === undefined) return []
  const base = new URL(svc.download('any', '').url).origin
  const took = await probesDuringSignIns(base, sizes.signIns, signInsAtOnce)
  const at = (share: number) => new Map([['svc', took[Math.floor(took.length * share)] ?? Number.NaN]])
  const meaning = `${took.length} probes of /health/live, one after the other, while ${signInsAtOnce} people at a time sign in (argon2id).`
  return [
    { what: 'probe during sign-ins, p50', unit: 'ms', figures: at(0.5), better: 'less', meaning },
    { what: 'probe during sign-ins, p99', unit: 'ms', figures: at(0.99), better: 'less', meaning: 'the same.' },
  ]
}

/** What does it cost to know who asks? Each kind beside the cheapest operation that anyone may call. */
const authentication = async ({ servers, sizes, scratch }: Setting): Promise<Row[]> => {
  const svc = servers.find((server) => server.name === 'svc')
  if (svc?.recoveryKey === undefined) return []
  const base = new URL(svc.download('any', '').url).origin
  const open: Said = { path: '/api/v1/auth/options', credential: null }
  const asked = new Map<string, readonly Said[]>([['nobody', [open]]])
  const credentials = await makeCredentials(base, svc.recoveryKey)
  for (const [kind, all] of credentials)
    asked.set(
      kind,
      all.map((credential) => ({ path: '/api/v1/capabilities', credential })),
    )
  const { links, content } = await makeLinks(base, svc.recoveryKey)
  const keys = credentials.get('service key') ?? []
  asked.set(
    'file, by key',
    keys.map((credential) => ({ path: content, credential })),
  )
  asked.set(
    'file, by link',
    links.map((path) => ({ path, credential: null })),
  )
  // Code that ran little is slow: what comes first must not look dear.
  for (const said of asked.values()) await randomRequests(svc, base, scratch, said, 1)
  const micros = new Map<string, number[]>()
  for (let round = 0; round < sizes.rounds; round++)
    for (const [kind, said] of asked) {
      const before = cpuSeconds(pidOf(svc))
      const count = await randomRequests(svc, base, scratch, said, sizes.getSeconds / 2)
      micros.set(kind, [...(micros.get(kind) ?? []), ((cpuSeconds(pidOf(svc)) - before) / count) * 1e6])
    }
  const of = (kind: string): number => median(micros.get(kind) ?? [])
  const row = (what: string, figure: number, meaning: string): Row => ({
    what,
    unit: 'µs CPU',
    figures: new Map([['svc', figure]]),
    better: 'less',
    meaning,
  })
  return [
    row('GET without credential', of('nobody'), 'of /auth/options: all that a request costs before anyone is known.'),
    ...[...credentials.keys()].map((kind) =>
      row(
        `  ${kind}, on top`,
        of(kind) - of('nobody'),
        'GET of /capabilities with a credential drawn at random, less the above; its larger answer counts as well.',
      ),
    ),
    row('GET of a file by key', of('file, by key'), 'a dozen bytes, by a service key.'),
    row(
      'GET of a file by link',
      of('file, by link'),
      'the same by a download link, whose signature is checked each time.',
    ),
  ]
}

export const scenarios: Readonly<Record<string, (setting: Setting) => Promise<Row[]>>> = {
  download,
  'download-under-load': underLoad,
  upload,
  'small-get': smallGet,
  'small-put': smallPut,
  memory,
  'memory-s3': memoryOnS3,
  parts,
  reclaim,
  authentication,
  'sign-in': signIn,
  hostile,
}
