import cluster, { type Worker } from 'node:cluster'
import { AggregatorRegistry, type MetricObject, Registry } from 'prom-client'
import { nothing, type TransfersNow, together } from '../features/operating/health/transfers.ts'
import type { HttpMetrics } from '../http/metrics/metrics.ts'
import { processMetricsMs } from '../kernel/limits/process.ts'

/**
 * Metrics of several gateway processes as one. Whichever is asked asks the process that started it, which asks them all
 * and adds up what they say. One that does not answer in time is left out.
 */
type Message =
  | { readonly metrics: 'of all' | 'yours'; readonly number: number; readonly what: What }
  | { readonly metrics: 'mine'; readonly number: number; readonly values: MetricObject[] }
  | { readonly metrics: 'mine now'; readonly number: number; readonly now: TransfersNow }
  | { readonly metrics: 'sum'; readonly number: number; readonly text: string }
  | { readonly metrics: 'sum now'; readonly number: number; readonly now: TransfersNow }

/** All metrics; those that tell nothing of the catalog; or how many files are on their way at this moment. */
type What = 'all' | 'without catalog' | 'now'

type Registries = Pick<HttpMetrics, 'registry' | 'ofCatalog'>

/** What is not told is not asked of the database either. */
const chosen = ({ registry, ofCatalog }: Registries, what: What): Registry[] =>
  what === 'all' ? [registry, ofCatalog] : [registry]

const isMessage = (message: unknown): message is Message =>
  typeof message === 'object' && message !== null && 'metrics' in message && 'number' in message

const waiting = new Map<number, (message: Message) => void>()
let lastNumber = 0

/** Sends under a number of our own and resolves with the answer to it, or null when none comes in time. */
const answerTo = (send: (number: number) => void): Promise<Message | null> =>
  new Promise((resolve) => {
    lastNumber += 1
    const number = lastNumber
    const done = (message: Message | null): void => {
      clearTimeout(timer)
      waiting.delete(number)
      resolve(message)
    }
    const timer = setTimeout(() => done(null), processMetricsMs)
    waiting.set(number, done)
    send(number)
  })

/** Prometheus text, with what tells of the catalog or without: of this process, or of all that share its port. */
export const metricsOfAll = async (registries: Registries, withCatalog: boolean): Promise<string> => {
  const what = withCatalog ? 'all' : 'without catalog'
  const own = (): Promise<string> => Registry.merge(chosen(registries, what)).metrics()
  if (!cluster.isWorker) return own()
  const sum = await askForAll(what)
  return sum?.metrics === 'sum' ? sum.text : own()
}

/** Files on their way in this process, or in all that share its port. */
export const transfersOfAll = async (own: () => TransfersNow): Promise<TransfersNow> => {
  if (!cluster.isWorker) return own()
  const sum = await askForAll('now')
  return sum?.metrics === 'sum now' ? sum.now : own()
}

const askForAll = (what: What): Promise<Message | null> =>
  answerTo((number) => process.send?.({ metrics: 'of all', number, what } satisfies Message))

/** Lets the process that started this one ask for its metrics. */
export const offerMetrics = (registries: Registries, now: () => TransfersNow): void => {
  if (!cluster.isWorker) return
  process.on('message', (message: unknown) => {
    if (!isMessage(message)) return
    const { number } = message
    if (message.metrics === 'sum' || message.metrics === 'sum now') waiting.get(message.number)?.(message)
    if (message.metrics !== 'yours') return
    if (message.what === 'now') process.send?.({ metrics: 'mine now', number, now: now() } satisfies Message)
    else
      void Promise.all(chosen(registries, message.what).map((each) => each.getMetricsAsJSON())).then((values) =>
        process.send?.({ metrics: 'mine', number, values: values.flat() } satisfies Message),
      )
  })
}

/** In the process that started the others: adds up for the one that asks, and takes the answers of all. */
export const answerForAll = (from: Worker, message: unknown): void => {
  if (!isMessage(message)) return
  if (message.metrics === 'mine' || message.metrics === 'mine now') waiting.get(message.number)?.(message)
  if (message.metrics !== 'of all') return
  const { number } = message
  if (message.what === 'now') void addUpNow().then((now) => reply(from, { metrics: 'sum now', number, now }))
  else void addUp(message.what).then((text) => reply(from, { metrics: 'sum', number, text }))
}

const reply = (to: Worker, message: Message): void => {
  if (to.isConnected()) to.send(message)
}

const askAll = (what: What): Promise<(Message | null)[]> => {
  const gateways = Object.values(cluster.workers ?? {}).filter((each) => each?.isConnected() === true)
  return Promise.all(
    gateways.map((each) => answerTo((number) => each?.send({ metrics: 'yours', number, what } satisfies Message))),
  )
}

const addUpNow = async (): Promise<TransfersNow> => {
  const answers = await askAll('now')
  return answers.flatMap((answer) => (answer?.metrics === 'mine now' ? [answer.now] : [])).reduce(together, nothing)
}

const addUp = async (what: What): Promise<string> => {
  const answers = await askAll(what)
  const values = answers.flatMap((answer) => (answer?.metrics === 'mine' ? [answer.values] : []))
  return AggregatorRegistry.aggregate(values).metrics()
}
