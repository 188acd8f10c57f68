import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { insideTransaction } from '../../database/scope.ts'
import type { Carried, Carrier, Load } from '../../features/operating/webhooks/carrying.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { CarrierNews, CarrierTask, CarrierThreadData } from './carrier-thread.ts'

export interface ThreadCarrier extends Carrier {
  /** Ends the thread, and what it has under way. */
  close(): Promise<void>
}

interface ThreadCarrierOptions extends CarrierThreadData {
  readonly clock: Clock
  readonly report: (message: string, error: unknown) => void
}

/**
 * Carries events in a thread of its own, so that thousands of deliveries a second leave the event loop to requests. It
 * begins with the first load. When it dies, so do its loads; the next one begins another thread.
 */
export const createThreadCarrier = (options: ThreadCarrierOptions): ThreadCarrier => {
  let thread: CarrierThread | null = null
  return {
    carry(load, taken) {
      if (insideTransaction()) throw new Error('an event was sent inside a database transaction (I5)')
      if (thread === null || thread.isOver) thread = new CarrierThread(options)
      return thread.carry(load, taken)
    },
    leave: (id) => thread?.leave(id),
    close: async () => thread?.close(),
  }
}

/** It makes little that lives on; left to itself, its heap would grow all the same. */
const resourceLimits = { maxYoungGenerationSizeMb: 4 }

class CarrierThread {
  readonly #worker: Worker
  readonly #clock: Clock
  readonly #underWay = new Map<number, PromiseWithResolvers<Carried>>()
  #lastNumber = 0
  isOver = false

  constructor({ door, clock, report }: ThreadCarrierOptions) {
    this.#clock = clock
    const program = new URL(`./carrier-thread${extname(import.meta.url)}`, import.meta.url)
    const data: CarrierThreadData = { door }
    this.#worker = new Worker(program, { workerData: data, name: 'svc webhooks', resourceLimits })
    this.#worker.unref()
    this.#worker.on('message', (news: CarrierNews) => this.#hear(news))
    this.#worker.on('error', (error) => {
      report('the thread that delivers webhooks has failed; the next delivery begins another', error)
      this.#end(error)
    })
    this.#worker.on('exit', (code) => this.#end(new Error(`the thread that delivers webhooks has ended (${code})`)))
  }

  carry(load: Load, taken: Int32Array): Promise<Carried> {
    this.#lastNumber += 1
    const carried = Promise.withResolvers<Carried>()
    this.#underWay.set(this.#lastNumber, carried)
    const aheadMs = this.#clock.now() - Date.now()
    this.#send({ kind: 'carry', number: this.#lastNumber, load, taken, aheadMs })
    return carried.promise
  }

  leave(id: string): void {
    if (!this.isOver) this.#send({ kind: 'leave', id })
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
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

  #end(cause: unknown): void {
    this.isOver = true
    for (const { reject } of this.#underWay.values()) reject(cause)
    this.#underWay.clear()
  }
}
