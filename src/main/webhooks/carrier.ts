import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { insideTransaction } from '../../database/scope.ts'
import type { Carried, Carrier, Load } from '../../features/operating/webhooks/carrying.ts'
import type { Clock } from '../../kernel/clock.ts'
import {
  webhookLeaseSpareMs,
  webhookOverAfterMs,
  webhookThreadEndMs,
  webhookThreadHeapMaxMiB,
  webhookThreadLateMs,
} from '../../kernel/limits/webhooks.ts'
import { monotonicMs } from '../../kernel/monotonic.ts'
import { orLater } from '../../kernel/or-later.ts'
import type { CarrierNews, CarrierTask, CarrierThreadData } from './carrier-thread.ts'

export interface ThreadCarrier extends Carrier {
  /** Ends the thread, and what it has under way. */
  close(): Promise<void>
}

interface ThreadCarrierOptions extends CarrierThreadData {
  readonly clock: Clock
  readonly report: (message: string, error: unknown) => void
  /** What the thread runs; ours, unless it is said. */
  readonly program?: URL
  /** How late it may be. */
  readonly lateMs?: number
  /** How long it may take to end. */
  readonly endMs?: number
}

/**
 * Carries events in a thread of its own, so that thousands of deliveries a second leave the event loop to requests. It
 * begins with the first load. When it dies, or says nothing for too long, so do its loads; the next one begins another
 * thread.
 */
export const createThreadCarrier = (options: ThreadCarrierOptions): ThreadCarrier => {
  let thread: CarrierThread | null = null
  let reportedMs = Number.NEGATIVE_INFINITY
  const report: typeof options.report = (message, error) => {
    if (monotonicMs() - reportedMs < webhookOverAfterMs) return
    reportedMs = monotonicMs()
    options.report(message, error)
  }
  return {
    carry(load, taken) {
      if (insideTransaction()) throw new Error('an event was sent inside a database transaction (I5)')
      if (thread === null || thread.isOver) thread = new CarrierThread({ ...options, report })
      return thread.carry(load, taken)
    },
    leave: (id) => thread?.leave(id),
    close: async () => thread?.close(),
  }
}

/** It makes little that lives on; left to itself, its heap would grow all the same. */
const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: webhookThreadHeapMaxMiB }

const ownProgram = new URL(`./carrier-thread${extname(import.meta.url)}`, import.meta.url)

interface UnderWay extends PromiseWithResolvers<Carried> {
  /** The subscription. */
  readonly id: string
  /** Of the clock that nobody sets: when there is to be an answer. */
  dueMs: number
}

/** Of the time in which a thread may be late, so often it is looked. */
const looksWhileLate = 10

class CarrierThread {
  readonly #worker: Worker
  readonly #options: ThreadCarrierOptions
  readonly #underWay = new Map<number, UnderWay>()
  readonly #looking: NodeJS.Timeout
  readonly #texts = new WeakMap<Load['events'], string>()
  #lastNumber = 0
  #looksInVain = 0
  isOver = false

  constructor(options: ThreadCarrierOptions) {
    const { door, report, program = ownProgram, lateMs = webhookThreadLateMs } = options
    this.#options = options
    const data: CarrierThreadData = { door }
    this.#worker = new Worker(program, { workerData: data, name: 'svc webhooks', resourceLimits })
    this.#worker.unref()
    this.#worker.on('message', (news: CarrierNews) => this.#hear(news))
    this.#worker.on('error', (error) => {
      report('the thread that delivers webhooks has failed; the next delivery begins another', error)
      this.#end(error)
    })
    this.#worker.on('exit', (code) => this.#end(new Error(`the thread that delivers webhooks has ended (${code})`)))
    this.#looking = setInterval(() => this.#look(), lateMs / looksWhileLate).unref()
  }

  carry(load: Load, taken: Int32Array): Promise<Carried> {
    this.#lastNumber += 1
    const dueMs = load.untilMs + webhookLeaseSpareMs
    const carried = { id: load.subscription.id, dueMs, ...Promise.withResolvers<Carried>() }
    this.#underWay.set(this.#lastNumber, carried)
    const { events, ...way } = load
    const aheadMs = this.#options.clock.now() - Date.now()
    this.#send({ kind: 'carry', number: this.#lastNumber, way, events: this.#textOf(events), taken, aheadMs })
    return carried.promise
  }

  /** What is left ends at once. */
  leave(id: string): void {
    if (this.isOver) return
    for (const each of this.#underWay.values()) if (each.id === id) each.dueMs = monotonicMs()
    this.#send({ kind: 'leave', id })
  }

  /**
   * One that waits for a file system which does not answer never ends. Nobody waits for it as long as that: where the
   * process ends as well, it does so without it.
   */
  async close(): Promise<void> {
    const { report, endMs = webhookThreadEndMs } = this.#options
    if ((await orLater(this.#worker.terminate(), endMs)) !== null) return
    report('the thread that delivers webhooks is left behind', new Error(`it has not ended within ${endMs} ms`))
    process.once('exit', () => process.kill(process.pid, 'SIGKILL'))
  }

  /** A text costs a tenth of what objects cost, and is made once for all subscriptions that are given the same. */
  #textOf(events: Load['events']): string {
    const text = this.#texts.get(events) ?? JSON.stringify(events)
    this.#texts.set(events, text)
    return text
  }

  #send(task: CarrierTask): void {
    this.#worker.postMessage(task)
  }

  #hear(news: CarrierNews): void {
    const carried = this.#underWay.get(news.number)
    this.#underWay.delete(news.number)
    if (news.carried === null) carried?.reject(new Error(news.why))
    else carried?.resolve(news.carried)
  }

  /** Counts looks and not time: where the whole process stood still, the thread did as well. */
  #look(): void {
    const nowMs = monotonicMs()
    const isLate = this.#underWay.values().some(({ dueMs }) => dueMs < nowMs)
    this.#looksInVain = isLate ? this.#looksInVain + 1 : 0
    if (this.#looksInVain < looksWhileLate) return
    const hanging = new Error('the thread that delivers webhooks does not answer')
    this.#options.report('the thread that delivers webhooks is ended; the next delivery begins another', hanging)
    this.#end(hanging)
    void this.#worker.terminate()
  }

  #end(cause: unknown): void {
    this.isOver = true
    clearInterval(this.#looking)
    for (const { reject } of this.#underWay.values()) reject(cause)
    this.#underWay.clear()
  }
}
