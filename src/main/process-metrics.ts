import cluster, { type Worker } from 'node:cluster'
import { AggregatorRegistry, type MetricObject, type Registry } from 'prom-client'
import { processMetricsMs } from '../kernel/limits/process.ts'

/**
 * Metrics of several gateway processes as one. Whichever is asked asks the process that started it, which asks them all and
 * adds up what they say. One that does not answer in time is left out.
 */
type Message =
  | { readonly metrics: 'of all'; readonly number: number }
  | { readonly metrics: 'yours'; readonly number: number }
  | { readonly metrics: 'mine'; readonly number: number; readonly values: MetricObject[] }
  | { readonly metrics: 'sum'; readonly number: number; readonly text: string }

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

/** Prometheus text: of this process, or of all that share its port. */
export const metricsOfAll = async (registry: Registry): Promise<string> => {
  if (!cluster.isWorker) return registry.metrics()
  const sum = await answerTo((number) => process.send?.({ metrics: 'of all', number } satisfies Message))
  return sum?.metrics === 'sum' ? sum.text : registry.metrics()
}

/** Lets the process that started this one ask for its metrics. */
export const offerMetrics = (registry: Registry): void => {
  if (!cluster.isWorker) return
  process.on('message', (message: unknown) => {
    if (!isMessage(message)) return
    if (message.metrics === 'sum') waiting.get(message.number)?.(message)
    if (message.metrics === 'yours')
      void registry
        .getMetricsAsJSON()
        .then((values) => process.send?.({ metrics: 'mine', number: message.number, values } satisfies Message))
  })
}

/** In the process that started the others: adds up for the one that asks, and takes the answers of all. */
export const answerForAll = (from: Worker, message: unknown): void => {
  if (!isMessage(message)) return
  if (message.metrics === 'mine') waiting.get(message.number)?.(message)
  if (message.metrics === 'of all')
    void addUp().then((text) => reply(from, { metrics: 'sum', number: message.number, text }))
}

const reply = (to: Worker, message: Message): void => {
  if (to.isConnected()) to.send(message)
}

const addUp = async (): Promise<string> => {
  const gateways = Object.values(cluster.workers ?? {}).filter((each) => each?.isConnected() === true)
  const answers = await Promise.all(
    gateways.map((each) => answerTo((number) => each?.send({ metrics: 'yours', number } satisfies Message))),
  )
  const values = answers.flatMap((answer) => (answer?.metrics === 'mine' ? [answer.values] : []))
  return AggregatorRegistry.aggregate(values).metrics()
}
