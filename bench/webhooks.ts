import { hash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { webhooksMax } from '../src/kernel/limits/webhooks.ts'
import { KiB, second } from '../src/kernel/units.ts'
import { startPostgres } from '../test/harness/postgres.ts'
import { offeredPuts, timedPuts } from './load.ts'
import { cpuSeconds, makeFolder, startTalking, threadSeconds } from './processes.ts'
import { type Bench, startSvc } from './servers.ts'
import { svcClient } from './svc-client.ts'
import { aligned, median, quantile, shown } from './table.ts'

type Settings = Readonly<Record<string, string>>

const changesPerSecond = 1_000
const changesAtOnce = 50
const putBytes = 4 * KiB
const putsPerSecond = 100
const rounds = 5
const roundMs = 2 * second

/**
 * `npm run bench -- --webhooks <changes>`: a repository has a thousand changes a second, so many in all, and sixteen
 * subscriptions follow it: how far the slowest of them is behind the head, whether any missed one, and what a delivery
 * costs. Then a hundred small files a second are stored, and after that as many as can be, with subscriptions and
 * without, and without while a process of its own sends as many bare posts: what those take of the machine is not the
 * service's. On few cores read the subscriptions' ratio beside theirs, and the CPU of the service's first thread for
 * each file, which needs no cores.
 */
export const measureWebhooks = async (changes: number, engines: readonly string[]): Promise<void> => {
  for (const engine of engines)
    await onEngine(engine, async (settings) => {
      const receivers = await startReceivers()
      const off = await startSvc([], await settings())
      const on = await startSvc([], { ...(await settings()), ...(await receivers.subscribed()) })
      console.log(`\n${engine}, ${webhooksMax} subscriptions, ${changes} changes, ${changesPerSecond} a second`)
      const sites = { on, off, receivers }
      const lines = [
        ...(await paced(on, receivers, changes)),
        ...(await besideSome(sites)),
        ...(await besideAll(sites)),
      ]
      console.log(`${aligned(lines)}\n`)
      off.process.kill()
      on.process.kill()
    })
}

const onEngine = async (engine: string, work: (settings: () => Promise<Settings>) => Promise<void>): Promise<void> => {
  const folder = async (): Promise<Settings> => ({ SVC_DATA_DIR: await makeFolder('webhooks') })
  if (engine !== 'postgres') return work(folder)
  const postgres = await startPostgres({ fsync: 'on', full_page_writes: 'on', shared_buffers: '256MB' })
  try {
    await work(async () => ({ ...(await folder()), SVC_DATABASE_URL: await postgres.createDatabase() }))
  } finally {
    await postgres.stop()
  }
}

interface Taken {
  readonly last: number
  readonly count: number
  readonly outOfOrder: number
}

interface Receivers {
  /** Settings of a service whose subscriptions they are. */
  subscribed(): Promise<Settings>
  taken(): Promise<readonly Taken[]>
  cpuSeconds(): number
  /** From now on so many bare posts a second come from elsewhere. */
  postBare(perSecond: number): void
}

const startReceivers = async (): Promise<Receivers> => {
  const child = startTalking(join(import.meta.dirname, 'webhook-receivers.ts'), [])
  const [{ port }] = await once(child, 'message')
  const posts = startTalking(join(import.meta.dirname, 'webhook-posts.ts'), [String(port)])
  return {
    postBare: (perSecond) => void posts.send(perSecond),
    async subscribed() {
      const folder = await makeFolder('subscriptions')
      const file = join(folder, 'webhooks.json')
      const secretFile = join(folder, 'secret')
      const webhooks = Array.from({ length: webhooksMax }, (_, n) => ({
        id: `hook-${n}`,
        repository: 'releases',
        url: `http://127.0.0.1:${port}/hook-${n}`,
        secretFile,
      }))
      await writeFile(secretFile, 'a secret of sixteen bytes or more')
      await writeFile(file, JSON.stringify({ webhooks }))
      await chmod(file, 0o600)
      return { SVC_WEBHOOKS_FILE: file, SVC_WEBHOOKS_ALLOW_PRIVATE: '127.0.0.0/8' }
    },
    async taken() {
      child.send('look')
      const [{ taken }] = await once(child, 'message')
      return taken
        .filter(([name]: [string, Taken]) => name.startsWith('hook-'))
        .map(([, each]: [string, Taken]) => each)
    },
    cpuSeconds: () => cpuSeconds(child.pid ?? Number.NaN),
  }
}

/** How far the slowest has come. */
const slowest = async (receivers: Receivers): Promise<number> => {
  const taken = await receivers.taken()
  return taken.length < webhooksMax ? 0 : Math.min(...taken.map(({ last }) => last))
}

/** Moves some tags between two images at a time: each is a change. */
const moving = (server: Bench): ((nth: number) => Promise<void>) => {
  const { url, headers } = server.download('', '')
  const { origin } = new URL(url)
  const mediaType = 'application/vnd.oci.image.index.v1+json'
  const images = [{ a: '0' }, { a: '1' }].map((annotations) =>
    JSON.stringify({ schemaVersion: 2, mediaType, manifests: [], annotations }),
  )
  const tags = Array.from({ length: changesAtOnce }, (_, n) => `tag=t${n}`).join('&')
  return async (nth) => {
    const body = images[nth % 2] ?? ''
    const address = `${origin}/v2/releases/moving/manifests/sha256:${hash('sha256', body)}?${tags}`
    const answer = await fetch(address, { method: 'PUT', headers: { ...headers, 'content-type': mediaType }, body })
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
    await answer.arrayBuffer()
  }
}

const paced = async (server: Bench, receivers: Receivers, changes: number): Promise<string[][]> => {
  const pid = server.process.pid ?? Number.NaN
  const { url } = server.download('', '')
  const client = svcClient(new URL(url).origin, server.recoveryKey ?? '', 1)
  const headOf = async (): Promise<number> => {
    const { items } = await client.ask('GET', '/api/v1/webhooks')
    return Array.isArray(items) ? Number(items[0]?.head) : Number.NaN
  }
  const move = moving(server)
  const [began, first] = [performance.now(), await headOf()]
  const [cpuBefore, theirsBefore] = [cpuSeconds(pid), receivers.cpuSeconds()]
  const heads: { readonly atMs: number; readonly head: number }[] = []
  const lags: number[] = []
  const seconds: number[] = []
  const look = async (): Promise<void> => {
    const head = await headOf()
    heads.push({ atMs: performance.now(), head })
    const at = await slowest(receivers)
    const passed = heads.find((each) => each.head > at)
    lags.push(Math.max(0, head - at))
    seconds.push(passed === undefined ? 0 : (performance.now() - passed.atMs) / 1_000)
  }
  const took: number[] = []
  let moved = 0
  let isMoving = true
  const watching = (async () => {
    while (isMoving) {
      await look()
      await pause(50)
    }
  })()
  for (; moved < changes / changesAtOnce; moved++) {
    const earlyMs = (moved * changesAtOnce * 1_000) / changesPerSecond - (performance.now() - began)
    if (earlyMs > 1) await pause(earlyMs)
    const askedMs = performance.now()
    await move(moved)
    took.push(performance.now() - askedMs)
  }
  const movedMs = performance.now() - began
  await look()
  const [lagAtEnd = 0, secondsAtEnd = 0] = [lags.at(-1), seconds.at(-1)]
  isMoving = false
  await watching
  const last = await headOf()
  while ((await slowest(receivers)) < last) await pause(20)
  const allMs = performance.now() - began
  client.close()
  const taken = await receivers.taken()
  const deliveries = taken.reduce((sum, { count }) => sum + count, 0)
  const micros = ((cpuSeconds(pid) - cpuBefore) / deliveries) * 1e6
  const theirs = ((receivers.cpuSeconds() - theirsBefore) / deliveries) * 1e6
  return [
    ['changes a second, in fact', shown(((last - first) / movedMs) * 1_000)],
    [`${changesAtOnce} changes in a request, p50 ms`, shown(median(took))],
    ['the slowest is behind the head, events at most', shown(Math.max(...lags))],
    ['  seconds at most', shown(Math.max(...seconds))],
    ['  events after the last change', shown(lagAtEnd)],
    ['  seconds then', shown(secondsAtEnd)],
    ['deliveries', String(deliveries)],
    ['  a second, until all were there', shown(deliveries / (allMs / 1_000))],
    ['  that passed one over', String(taken.reduce((sum, { outOfOrder }) => sum + outOfOrder, 0))],
    ['  µs CPU of the service each, changes included', shown(micros)],
    ['  µs CPU of the receivers each', shown(theirs)],
  ]
}

const deliveriesOf = async (receivers: Receivers): Promise<number> =>
  (await receivers.taken()).reduce((sum, { count }) => sum + count, 0)

const modes = ['off', 'on', 'bare'] as const
type Mode = (typeof modes)[number]

/** How uploads fare in each round of a mode. */
interface Fared {
  readonly perSecond: number[]
  readonly took: number[][]
  readonly micros: number[]
}

interface Sites {
  readonly on: Bench
  readonly off: Bench
  readonly receivers: Receivers
}

/** Uploads of some rounds, with subscriptions and without, and without beside as many bare posts. */
const beside = async (
  { on, off, receivers }: Sites,
  put: (server: Bench, round: string) => Promise<number[]>,
): Promise<{ readonly fared: Record<Mode, Fared>; readonly deliveriesPerSecond: number }> => {
  const nobody = (): Fared => ({ perSecond: [], took: [], micros: [] })
  let deliveriesPerSecond = 0
  /** One round of a mode. Whichever comes next finds the service at rest. */
  const measure = async (mode: Mode, round: number, { perSecond, took, micros }: Fared): Promise<void> => {
    const server = mode === 'on' ? on : off
    if (mode === 'bare') receivers.postBare(deliveriesPerSecond)
    const [before, cpuBefore, began] = [await deliveriesOf(receivers), firstThreadSeconds(server), performance.now()]
    const all = await put(server, `${mode}-${round}`)
    const seconds = (performance.now() - began) / 1_000
    perSecond.push(all.length / seconds)
    took.push(all)
    micros.push(((firstThreadSeconds(server) - cpuBefore) / all.length) * 1e6)
    receivers.postBare(0)
    if (mode !== 'on') return
    deliveriesPerSecond = ((await deliveriesOf(receivers)) - before) / seconds
    let last = -1
    for (let at = await slowest(receivers); at !== last; at = await slowest(receivers)) {
      last = at
      await pause(500)
    }
  }
  // What is compiled and opened in the first round costs all of them alike.
  for (const mode of modes) await measure(mode, -1, nobody())
  const fared = { off: nobody(), on: nobody(), bare: nobody() }
  for (let round = 0; round < rounds; round++)
    for (const mode of round % 2 === 0 ? modes : modes.toReversed()) await measure(mode, round, fared[mode])
  return { fared, deliveriesPerSecond }
}

/** Uploads as fast as can be. */
const besideAll = async (sites: Sites): Promise<string[][]> => {
  const { fared, deliveriesPerSecond } = await beside(sites, (server, round) => {
    const began = performance.now()
    return timedPuts(server, putBytes, 1, 8, `all-${round}`, () => performance.now() - began < roundMs)
  })
  const { off, on, bare } = fared
  const late = ({ took }: Fared): string => shown(median(took.map((all) => quantile(all, 0.99))))
  const ratio = (of: Fared): string =>
    median(of.perSecond.map((each, round) => each / (off.perSecond[round] ?? Number.NaN))).toFixed(2)
  return [
    ['PUT a second, 8 connections, without subscriptions', shown(median(off.perSecond))],
    ['  with them', shown(median(on.perSecond))],
    ['    ratio, median of the rounds', ratio(on)],
    ['  without, beside as many bare posts', shown(median(bare.perSecond))],
    ['    ratio, median of the rounds', ratio(bare)],
    ['PUT, p99 ms, without', late(off)],
    ['  with them', late(on)],
    ['  without, beside as many bare posts', late(bare)],
    ['deliveries a second meanwhile', shown(deliveriesPerSecond)],
    ...microsOf(fared),
  ]
}

/** So many uploads a second, which leave the machine something to do. */
const besideSome = async (sites: Sites): Promise<string[][]> => {
  const { fared, deliveriesPerSecond } = await beside(sites, (server, round) =>
    offeredPuts(server, putBytes, putsPerSecond, (putsPerSecond * roundMs) / second, `some-${round}`),
  )
  const { off, on, bare } = fared
  const at = ({ took }: Fared, share: number): string => shown(quantile(took.flat(), share))
  return [
    [`PUT, ${putsPerSecond} a second are sent, without subscriptions`, shown(median(off.perSecond))],
    ['  with them', shown(median(on.perSecond))],
    ...[0.5, 0.99].flatMap((share) => [
      [`PUT, p${share * 100} ms, without`, at(off, share)],
      ['  with them', at(on, share)],
      ['  without, beside as many bare posts', at(bare, share)],
    ]),
    ['deliveries a second meanwhile', shown(deliveriesPerSecond)],
    ...microsOf(fared),
  ]
}

const microsOf = ({ off, on, bare }: Record<Mode, Fared>): string[][] => [
  ['µs CPU of the first thread for each PUT, without', shown(median(off.micros))],
  ['  with them', shown(median(on.micros))],
  ['  without, beside as many bare posts', shown(median(bare.micros))],
]

/** CPU of the event loop that answers requests, without the other threads of the process. */
const firstThreadSeconds = ({ process: { pid = Number.NaN } }: Bench): number => threadSeconds(pid, pid)
