import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { cpus, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { durableFilesPerSecond } from './floor.ts'
import { downloadSeconds, makeFile, probeWhile, smallGets, smallPuts, touchRoom, uploadSeconds } from './load.ts'
import { cpuSeconds, installed, peakMiB, stopAll } from './processes.ts'
import { type Bench, startServers } from './servers.ts'

/**
 * `npm run bench`: this service beside the peers that are installed, in one run, their rounds interleaved. Machines differ
 * and are noisy: read the ratios, and of those the medians. `--quick` takes a minute and small sizes; `--only <word>`
 * runs the scenarios whose name contains the word.
 */
const quick = process.argv.includes('--quick')
const only = process.argv.includes('--only') ? (process.argv[process.argv.indexOf('--only') + 1] ?? '') : ''
const rounds = quick ? 1 : 3
const MiB = 1024 * 1024
const bigBytes = (quick ? 128 : 1024) * MiB

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

interface Row {
  readonly what: string
  readonly unit: string
  readonly figures: Map<string, number>
  /** Ratios only make sense where more is better. */
  readonly ratio: boolean
}

const rows: Row[] = []

/** Measures each server once a round, in turn, and keeps the medians. */
const compare = async (
  what: string,
  unit: string,
  servers: readonly Bench[],
  measure: (server: Bench, round: number) => Promise<number>,
  ratio = true,
): Promise<void> => {
  if (!what.includes(only)) return
  console.log(`… ${what}`)
  const seen = new Map<string, number[]>(servers.map((server) => [server.name, []]))
  for (let round = 0; round < rounds; round++)
    for (const server of servers) seen.get(server.name)?.push(await measure(server, round))
  rows.push({ what, unit, ratio, figures: new Map([...seen].map(([name, values]) => [name, median(values)])) })
}

const shown = (figure: number | undefined): string =>
  figure === undefined ? '' : figure >= 100 ? figure.toFixed(0) : figure.toPrecision(3)

const print = (names: readonly string[]): void => {
  const heads = ['', 'unit', ...names, ...names.slice(1).map((name) => `svc / ${name}`)]
  const table = rows.map(({ what, unit, figures, ratio }) => {
    const ours = figures.get('svc') ?? Number.NaN
    const ratios = names
      .slice(1)
      .map((name) => (ratio && figures.has(name) ? `${(ours / (figures.get(name) ?? 1)).toFixed(2)} x` : ''))
    return [what, unit, ...names.map((name) => shown(figures.get(name))), ...ratios]
  })
  const widths = heads.map((head, column) => Math.max(head.length, ...table.map((row) => row[column]?.length ?? 0)))
  for (const row of [heads, ...table])
    console.log(
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  '),
    )
}

const main = async (): Promise<void> => {
  for (const tool of ['curl', 'wrk'])
    if (!installed(tool)) throw new Error(`install ${tool} first (apt-get install ${tool})`)
  const scratch = await mkdtemp(join(tmpdir(), 'bench-files-'))
  const disk = await statfs(scratch)
  console.log(
    `${cpus().length} x ${cpus()[0]?.model.trim()}, Linux ${release()}, Node ${process.version}, file system type 0x${disk.type.toString(16)}`,
  )
  console.log(`${rounds} rounds, interleaved; medians. Big files have ${bigBytes / MiB} MiB, small ones 4 KiB.\n`)
  const servers: Bench[] = []
  try {
    await startServers(servers)
    const began = servers.map((server) => cpuSeconds(server.process.pid ?? 0))
    await scenarios(servers, scratch)
    console.log('')
    print(servers.map((server) => server.name))
    explain()
    console.log(
      `CPU seconds used: ${servers.map((server, index) => `${server.name} ${(cpuSeconds(server.process.pid ?? 0) - (began[index] ?? 0)).toFixed(1)}`).join(', ')}`,
    )
  } finally {
    for (const server of servers) await server.stop()
    await rm(scratch, { recursive: true, force: true })
  }
}

const scenarios = async (servers: readonly Bench[], scratch: string): Promise<void> => {
  const path = join(scratch, 'big')
  const bigDigest = await makeFile(path, bigBytes)
  const big = { name: 'big', sha256: bigDigest, path }
  const smallPath = join(scratch, 'small')
  const small = { name: 'small', sha256: await makeFile(smallPath, 4096), path: smallPath }
  for (const server of servers) {
    await uploadSeconds(server, [big])
    await uploadSeconds(server, [small])
    await downloadSeconds(server, 'big', bigDigest, bigBytes, 1)
  }
  const MiBs = bigBytes / MiB
  // The first read of each round is not timed: it brings the file back into memory.
  const download = async (server: Bench, clients: number): Promise<number> => {
    await downloadSeconds(server, 'big', bigDigest, bigBytes, 1)
    return (clients * MiBs) / (await downloadSeconds(server, 'big', bigDigest, bigBytes, clients))
  }
  await compare('download, 1 client', 'MiB/s', servers, (server) => download(server, 1))
  await compare('download, 8 clients', 'MiB/s', servers, (server) => download(server, 8))
  const fresh = new Map<number, { name: string; sha256: string; path: string }>()
  for (let round = 0; round < rounds; round++) {
    const file = join(scratch, `up-${round}`)
    fresh.set(round, { name: `up-${round}`, sha256: await makeFile(file, bigBytes), path: file })
  }
  await compare('upload, 1 client', 'MiB/s', servers, async (server, round) => {
    const file = fresh.get(round)
    await touchRoom(scratch, bigBytes)
    return file === undefined ? Number.NaN : MiBs / (await uploadSeconds(server, [file]))
  })
  const seconds = quick ? 3 : 8
  const cpu = new Map<string, number[]>()
  await compare('4 KiB GET, 32 connections', '1/s', servers, async (server) => {
    const { perSecond, cpuMicros } = await smallGets(server, 'small', small.sha256, seconds)
    cpu.set(server.name, [...(cpu.get(server.name) ?? []), cpuMicros])
    return perSecond
  })
  if (cpu.size > 0)
    rows.push({
      what: '  server CPU for each',
      unit: 'µs',
      ratio: false,
      figures: new Map([...cpu].map(([name, values]) => [name, median(values)])),
    })
  const puts = quick ? 500 : 4_000
  await compare('4 KiB PUT, 32 connections', '1/s', servers, (server, round) =>
    smallPuts(server, 4096, puts, 32, String(round)),
  )
  if ('4 KiB PUT'.includes(only) || only === '') {
    const floor = await durableFilesPerSecond(puts, 32)
    rows.push({ what: '  plain durable files', unit: '1/s', ratio: false, figures: new Map([['svc', floor]]) })
  }
  await memory(servers, scratch, big)
  await signIns(servers)
}

const memory = async (
  servers: readonly Bench[],
  scratch: string,
  big: { name: string; sha256: string; path: string },
): Promise<void> => {
  if (!'memory'.includes(only)) return
  console.log('… memory')
  const parallel = 32
  const uploadBytes = (quick ? 16 : 256) * MiB
  const down = new Map<string, number>()
  const up = new Map<string, number>()
  const path = join(scratch, 'parallel')
  const sha256 = await makeFile(path, uploadBytes)
  for (const server of servers) {
    await downloadSeconds(server, 'big', big.sha256, bigBytes, parallel)
    down.set(server.name, peakMiB(server.process.pid ?? 0))
    await uploadSeconds(
      server,
      Array.from({ length: parallel }, (_, index) => ({ name: `p-${index}`, sha256, path })),
    )
    up.set(server.name, peakMiB(server.process.pid ?? 0))
  }
  rows.push({ what: `peak memory, ${parallel} downloads`, unit: 'MiB', ratio: false, figures: down })
  rows.push({ what: `peak memory, and ${parallel} uploads`, unit: 'MiB', ratio: false, figures: up })
}

/** Does hashing passwords stop the event loop? Probes while people sign in, many at once. */
const signIns = async (servers: readonly Bench[]): Promise<void> => {
  const svc = servers.find((server) => server.name === 'svc')
  if (svc === undefined || !'sign-in'.includes(only)) return
  console.log('… sign-in')
  const base = new URL(svc.download('x', '').url).origin
  const signIn = async (): Promise<void> => {
    const body = JSON.stringify({ name: 'bench', password: 'correct horse battery staple' })
    const answer = await fetch(`${base}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    if (answer.status !== 200) throw new Error(`sign-in: ${answer.status}`)
    await answer.arrayBuffer()
  }
  const took = await probeWhile(`${base}/health/live`, Promise.all(Array.from({ length: 50 }, signIn)))
  const at = (share: number): number => took[Math.floor(took.length * share)] ?? Number.NaN
  rows.push({
    what: 'health probe during 50 sign-ins, p50',
    unit: 'ms',
    ratio: false,
    figures: new Map([['svc', at(0.5)]]),
  })
  rows.push({
    what: 'health probe during 50 sign-ins, p99',
    unit: 'ms',
    ratio: false,
    figures: new Map([['svc', at(0.99)]]),
  })
}

const explain = (): void => {
  console.log(`
What is compared: svc authenticates each request, verifies the checksum of each upload and answers only when file, folder
and catalog are synced. docker-registry verifies and does not sync; nginx does neither. One worker process each.
`)
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    stopAll()
    process.exit(1)
  })
try {
  await main()
} finally {
  stopAll()
}
