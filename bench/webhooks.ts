import { hash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { webhooksMax } from '../src/kernel/limits/webhooks.ts'
import { KiB } from '../src/kernel/units.ts'
import { startPostgres } from '../test/harness/postgres.ts'
import { smallPuts } from './load.ts'
import { cpuSeconds, makeFolder, startTalking } from './processes.ts'
import { type Bench, startSvc } from './servers.ts'
import { svcClient } from './svc-client.ts'
import { aligned, median, shown } from './table.ts'

type Settings = Readonly<Record<string, string>>

const changesPerSecond = 1_000
const changesAtOnce = 50
const putBytes = 4 * KiB
const rounds = 5

/**
 * `npm run bench -- --webhooks <changes>`: a repository has a thousand changes a second, so many in all, and sixteen
 * subscriptions follow it: how far the slowest of them is behind the head, whether any missed one, and what a delivery
 * costs. Then small files are stored as fast as can be, with subscriptions and without.
 */
export const measureWebhooks = async (changes: number, engines: readonly string[]): Promise<void> => {
  for (const engine of engines)
    await onEngine(engine, async (settings) => {
      const receivers = await startReceivers()
      const off = await startSvc([], await settings())
      const on = await startSvc([], { ...(await settings()), ...(await receivers.subscribed()) })
      console.log(`\n${engine}, ${webhooksMax} subscriptions, ${changes} changes, ${changesPerSecond} a second`)
      const lines = [...(await paced(on, receivers, changes)), ...(await beside(on, off, receivers, changes))]
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
}

const startReceivers = async (): Promise<Receivers> => {
  const child = startTalking(join(import.meta.dirname, 'webhook-receivers.ts'), [])
  const [{ port }] = await once(child, 'message')
  return {
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
      return taken.map(([, each]: [string, Taken]) => each)
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

const beside = async (on: Bench, off: Bench, receivers: Receivers, changes: number): Promise<string[][]> => {
  const puts = Math.ceil(changes / 10)
  const figures = { on: [] as number[], off: [] as number[] }
  for (let round = 0; round < rounds; round++)
    for (const which of round % 2 === 0 ? (['on', 'off'] as const) : (['off', 'on'] as const)) {
      const seconds = await smallPuts(which === 'on' ? on : off, putBytes, puts, 8, `beside-${round}`)
      figures[which].push(puts / seconds)
      if (which === 'off') continue
      // The next one finds it at rest.
      let before = -1
      for (let at = await slowest(receivers); at !== before; at = await slowest(receivers)) {
        before = at
        await pause(500)
      }
    }
  const ratio = median(figures.on.map((each, round) => each / (figures.off[round] ?? Number.NaN)))
  return [
    ['PUT a second, 8 connections, with subscriptions', shown(median(figures.on))],
    ['  without any', shown(median(figures.off))],
    ['  ratio, median of the rounds', ratio.toFixed(2)],
  ]
}
