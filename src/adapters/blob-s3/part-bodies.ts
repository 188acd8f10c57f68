import { PassThrough, type Readable } from 'node:stream'
import { objectPartBytesHeldMax } from '../../kernel/limits/engines.ts'
import { receiveBufferBytes } from '../../kernel/limits/transfers.ts'
import { release } from '../../kernel/piece-memory.ts'
import { NoAnswer } from './failures.ts'
import { HeldBytes } from './held-bytes.ts'

/** Bytes on their way into one request. Used by one caller, in order; `finish` answers the ETag. */
export interface PartBody {
  readonly bytes: number
  write(piece: Uint8Array): Promise<void>
  finish(): Promise<string>
  /** Gives up. Harmless after finish. */
  drop(): void
}

/** One count for the process: memory is shared by all stores in it. */
const held = new HeldBytes(objectPartBytesHeldMax)

/** Gathers the pieces and sends them in one request, which may be repeated. */
export class GatheredPart implements PartBody {
  bytes = 0
  readonly #send: (body: Buffer) => Promise<string>
  #pieces: Uint8Array[] = []
  #state: 'gathering' | 'sending' | 'dropped' = 'gathering'

  constructor(send: (body: Buffer) => Promise<string>) {
    this.#send = send
  }

  async write(piece: Uint8Array): Promise<void> {
    await held.take(piece.byteLength, this.bytes)
    // Given up while it waited.
    if (this.#state !== 'gathering') return held.give(piece.byteLength)
    this.#pieces.push(piece)
    this.bytes += piece.byteLength
  }

  async finish(): Promise<string> {
    this.#state = 'sending'
    const body = this.#joined()
    held.sending(this.bytes)
    try {
      const etag = await this.#send(body)
      // The store has it all, so that no call of the system still reads from it. After a failure one may.
      release(body)
      return etag
    } finally {
      held.sent(this.bytes)
    }
  }

  #joined(): Buffer {
    const pieces = this.#pieces
    const [first] = pieces
    this.#pieces = []
    if (pieces.length === 1 && first !== undefined) return Buffer.from(first.buffer, first.byteOffset, first.byteLength)
    const body = Buffer.concat(pieces)
    pieces.forEach(release)
    return body
  }

  drop(): void {
    if (this.#state !== 'gathering') return
    this.#state = 'dropped'
    this.#pieces = []
    held.give(this.bytes)
  }
}

/**
 * Passes the pieces on into a request that is under way: for parts too large to be held. Such a request is not
 * repeated.
 */
export class StreamedPart implements PartBody {
  bytes = 0
  readonly #idleMs: number
  readonly #body = new PassThrough({ highWaterMark: receiveBufferBytes })
  readonly #cut = new AbortController()
  readonly #answer: Promise<string>

  constructor(idleMs: number, send: (body: Readable, signal: AbortSignal) => Promise<string>) {
    this.#idleMs = idleMs
    this.#body.on('error', () => {})
    this.#answer = send(this.#body, this.#cut.signal)
    // The caller learns of it with its next write, or at the end.
    this.#answer.catch(() => this.#body.destroy())
  }

  async write(piece: Uint8Array): Promise<void> {
    if (this.#body.destroyed) await this.#answer
    this.bytes += piece.byteLength
    if (this.#body.write(piece)) return
    await this.#within(new Promise<void>((taken) => this.#body.once('drain', taken).once('close', taken)))
    if (this.#body.destroyed) await this.#answer
  }

  finish(): Promise<string> {
    this.#body.end()
    return this.#within(this.#answer)
  }

  drop(): void {
    this.#cut.abort()
    this.#body.destroy()
  }

  async #within<T>(work: Promise<T>): Promise<T> {
    let silent = false
    const timer = setTimeout(() => {
      silent = true
      this.drop()
    }, this.#idleMs)
    try {
      return await work
    } catch (error) {
      throw silent ? new NoAnswer(`the object store took nothing for ${this.#idleMs} ms`, { cause: error }) : error
    } finally {
      clearTimeout(timer)
    }
  }
}
