import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { LogAnswer, LogTask, LogThreadData } from './log-thread.ts'

/** It runs a few statements again and again. */
const resourceLimits = { maxYoungGenerationSizeMb: 1 }

/**
 * The thread that looks after a log, asked one thing at a time. It does not keep the process alive, but for whoever
 * waits.
 */
export class LogThread {
  readonly #worker: Worker
  #waiting: PromiseWithResolvers<LogAnswer> | undefined
  #gone = false

  constructor(path: string) {
    const program = new URL(`./log-thread${extname(import.meta.url)}`, import.meta.url)
    const data: LogThreadData = { path }
    this.#worker = new Worker(program, { workerData: data, name: 'svc database log', resourceLimits })
    this.#worker.unref()
    this.#worker.on('message', (answer: LogAnswer) => this.#answer(answer))
    this.#worker.on('error', (error) => this.#end(error))
    this.#worker.on('exit', (code) => this.#end(new Error(`the thread ended (${code})`)))
  }

  get isGone(): boolean {
    return this.#gone
  }

  async ask(task: LogTask): Promise<LogAnswer> {
    const waiting = Promise.withResolvers<LogAnswer>()
    this.#waiting = waiting
    this.#worker.ref()
    this.#worker.postMessage(task)
    return waiting.promise
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }

  #answer(answer: LogAnswer): void {
    this.#worker.unref()
    this.#waiting?.resolve(answer)
    this.#waiting = undefined
  }

  /** Nothing that it did is half done: SQLite's locks are given back, and the next thread finds how far it came. */
  #end(error: unknown): void {
    this.#gone = true
    const message = `the thread that copies it has failed: ${error instanceof Error ? error.message : String(error)}`
    this.#answer({ kind: 'failed', passing: true, message })
  }
}
