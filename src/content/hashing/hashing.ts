import { createHash } from 'node:crypto'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { type Sha256, toSha256 } from '../../kernel/digest.ts'
import { hashedHereBytesMax, hashRingBytes } from '../../kernel/limits/transfers.ts'
import { type HashThreadData, type HashThreadNews, operations } from './hash-thread.ts'
import { createRing, RingWriter } from './ring.ts'

/**
 * SHA-256 in a thread beside the event loop, which only copies what comes into a ring that both share. The thread
 * begins with the first hash. When it dies, all of its hashes are lost, and the next one begins another thread.
 */
export interface Hashing {
  /** A hash of nothing, or one that goes on from a saved state. Whoever begins one drops it. */
  begin(state?: string | null): ThreadHash
  /**
   * A hash of so many bytes, if that is known: what is small is hashed here, sooner than another thread could answer.
   */
  beginFor(bytes: number | null): TransferHash
  /** Ends the thread; its hashes are lost. */
  close(): Promise<void>
}

/** One hash. Used by one caller at a time, each call after the one before has resolved. */
export interface TransferHash {
  /**
   * Resolves once the bytes are taken: the caller may use their memory again. That waits while the thread is as far
   * behind as the ring is long. `alsoOf` takes the same bytes. Of a lost hash it resolves, too: asking it will fail.
   */
  update(piece: Uint8Array, alsoOf?: TransferHash | null): Promise<void>
  /** The digest of everything up to now, asked once. Throws {@link HashLost}. */
  digest(): Promise<Sha256>
  /** Forgets it. Harmless when repeated. */
  drop(): void
}

export interface ThreadHash extends TransferHash {
  /** Another one that stands where this one does. */
  fork(): ThreadHash
  /** Text to go on from. Throws {@link HashLost}. */
  save(): Promise<string>
  readonly isLost: boolean
}

/** The thread that had the hash is gone. The bytes have to be hashed again. */
export class HashLost extends Error {
  override readonly name = 'HashLost'
}

interface HashingOptions {
  /** Whether states are saved, which makes hashing slower. */
  readonly saveable: boolean
  readonly report: (message: string, error: unknown) => void
}

export const createHashing = (options: HashingOptions): Hashing => {
  let thread: HashThread | null = null
  const living = (): HashThread => {
    if (thread === null || thread.isLost) thread = new HashThread(options)
    return thread
  }
  const begin = (state: string | null = null): ThreadHash => {
    const own = living()
    const id = own.takeId()
    void own.send(operations.begin, id, 0, Buffer.from(state ?? ''))
    return new OneHash(own, id)
  }
  return {
    begin,
    beginFor: (bytes) => (bytes !== null && bytes <= hashedHereBytesMax ? hashHere() : begin()),
    async close() {
      await thread?.end()
    },
  }
}

const hashHere = (): TransferHash => {
  const hash = createHash('sha256')
  return {
    async update(piece, alsoOf = null) {
      hash.update(piece)
      await alsoOf?.update(piece)
    },
    digest: async () => toSha256(hash.digest('hex')),
    drop() {},
  }
}

/** It makes next to nothing that lives on; left to itself, its heap would grow all the same. */
const resourceLimits = { maxYoungGenerationSizeMb: 1 }

const nothing = new Uint8Array(0)

interface Waiting {
  readonly put: () => boolean
  readonly done: () => void
}

class HashThread {
  readonly #worker: Worker
  readonly #ring: RingWriter
  /** Records that found no room, in their order. */
  readonly #backlog: Waiting[] = []
  readonly #questions = new Map<number, PromiseWithResolvers<string>>()
  readonly #hashes = new Set<number>()
  #lastNumber = 0
  #end: { readonly cause: unknown } | null = null

  constructor({ saveable, report }: HashingOptions) {
    const ring = createRing(hashRingBytes)
    this.#ring = new RingWriter(ring)
    const program = new URL(`./hash-thread${extname(import.meta.url)}`, import.meta.url)
    const data: HashThreadData = { ring, saveable }
    this.#worker = new Worker(program, { workerData: data, name: 'svc hashing', resourceLimits })
    this.#worker.unref()
    this.#worker.on('message', (news: HashThreadNews) => this.#hear(news))
    this.#worker.on('error', (error) => {
      report('the thread that hashes what comes in has failed; the next upload begins another', error)
      this.#lose(error)
    })
    this.#worker.on('exit', (code) => this.#lose(new Error(`the thread that hashes has ended (${code})`)))
  }

  get isLost(): boolean {
    return this.#end !== null
  }

  /** A number for a hash. None is 0. */
  takeId(): number {
    const id = this.#freeNumber(this.#hashes)
    this.#hashes.add(id)
    return id
  }

  giveBackId(id: number): void {
    if (!this.#hashes.delete(id)) return
    void this.send(operations.drop, id)
  }

  /** They come round again after two thousand million. */
  #freeNumber(taken: { has(id: number): boolean }): number {
    do this.#lastNumber = (this.#lastNumber % 0x7fff_ffff) + 1
    while (taken.has(this.#lastNumber))
    return this.#lastNumber
  }

  /** Resolves when the record is in the ring, or lost with it. */
  async send(operation: number, subject: number, other = 0, bytes: Uint8Array = nothing): Promise<void> {
    if (this.#end !== null) return
    const put = (): boolean => this.#ring.offer(operation, subject, other, bytes)
    if (this.#backlog.length === 0 && put()) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#backlog.push({ put, done: resolve })
    this.#holdProcess()
    await promise
  }

  get bytesMax(): number {
    return this.#ring.bytesMax
  }

  async ask(operation: number, subject: number): Promise<string> {
    if (this.#end !== null) throw this.#lost(this.#end.cause)
    const question = this.#freeNumber(this.#questions)
    const answer = Promise.withResolvers<string>()
    this.#questions.set(question, answer)
    this.#holdProcess()
    await this.send(operation, subject, question)
    this.#ring.wake()
    return answer.promise
  }

  async end(): Promise<void> {
    this.#lose(new Error('the service ends'))
    await this.#worker.terminate()
  }

  #hear(news: HashThreadNews): void {
    if (news === 'room') this.#fill()
    else {
      this.#questions.get(news.question)?.resolve(news.answer)
      this.#questions.delete(news.question)
    }
    this.#holdProcess()
  }

  #fill(): void {
    while (this.#backlog[0]?.put() === true) this.#backlog.shift()?.done()
  }

  #lose(cause: unknown): void {
    this.#end ??= { cause }
    for (const { reject } of this.#questions.values()) reject(this.#lost(cause))
    this.#questions.clear()
    for (const { done } of this.#backlog.splice(0)) done()
  }

  #lost(cause: unknown): HashLost {
    return new HashLost('the thread that had this hash is gone', { cause })
  }

  /** An idle thread does not keep the process alive; one that somebody waits for does. */
  #holdProcess(): void {
    if (this.#questions.size + this.#backlog.length > 0) this.#worker.ref()
    else this.#worker.unref()
  }
}

class OneHash implements ThreadHash {
  readonly #thread: HashThread
  readonly #id: number

  constructor(thread: HashThread, id: number) {
    this.#thread = thread
    this.#id = id
  }

  get isLost(): boolean {
    return this.#thread.isLost
  }

  async update(piece: Uint8Array, alsoOf: TransferHash | null = null): Promise<void> {
    const isNeighbour = alsoOf instanceof OneHash && alsoOf.#thread === this.#thread
    const { bytesMax } = this.#thread
    for (let at = 0; at < piece.byteLength; at += bytesMax) {
      const bytes = piece.subarray(at, at + bytesMax)
      await this.#thread.send(operations.update, this.#id, isNeighbour ? alsoOf.#id : 0, bytes)
    }
    if (!isNeighbour) await alsoOf?.update(piece)
  }

  fork(): ThreadHash {
    const id = this.#thread.takeId()
    void this.#thread.send(operations.fork, id, this.#id)
    return new OneHash(this.#thread, id)
  }

  async digest(): Promise<Sha256> {
    return toSha256(await this.#thread.ask(operations.digest, this.#id))
  }

  save(): Promise<string> {
    return this.#thread.ask(operations.save, this.#id)
  }

  drop(): void {
    this.#thread.giveBackId(this.#id)
  }
}
