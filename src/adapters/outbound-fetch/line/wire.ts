import type { Duplex } from 'node:stream'
import {
  outboundEarlyAnswersMax,
  outboundHeadBytesMax,
  outboundKeptMs,
  outboundLeftBytesMax,
  outboundLeftMs,
} from '../../../kernel/limits/outbound.ts'
import { type AnswerBody, type AnswerHead, chunksEnd, parseAnswerHead } from './answer-head.ts'

/** What came is no answer, in words. */
export class AnswerWrong extends Error {
  override readonly name = 'AnswerWrong'
}

const start = Buffer.from('HTTP/1.')
const nothing = Buffer.alloc(0)

interface Waiting {
  readonly resolve: (head: AnswerHead) => void
  readonly reject: (cause: unknown) => void
}

/**
 * One connection, which is written requests and read heads of answers, one after the other. What follows a head is read
 * as far as a little, so that the connection can be used again; of an answer that goes on beyond that, and of one that
 * comes unasked, the connection is destroyed.
 */
export class Wire {
  readonly #connection: Duplex
  readonly #idle: NodeJS.Timeout
  #state: 'free' | 'asked' | 'left' | 'over' = 'free'
  #waiting: Waiting | null = null
  #bytes: Buffer = nothing
  #early = 0
  #left: AnswerBody = { kind: 'none' }
  #isKept = true
  #late: NodeJS.Timeout | undefined
  #freed: PromiseWithResolvers<void> | null = null
  /** Since it was opened. */
  #answers = 0
  #heard = false

  constructor(connection: Duplex) {
    this.#connection = connection
    this.#idle = setTimeout(() => {
      if (this.#state === 'free') this.destroy()
    }, outboundKeptMs)
    connection.on('data', (piece: Buffer) => this.#take(piece))
    connection.on('error', (error) => this.#end(error))
    connection.on('end', () => this.#end(cut()))
    connection.on('close', () => this.#end(cut()))
  }

  get #isReading(): boolean {
    return this.#state === 'left'
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  /** True while it waits for its second answer or a later one and has heard nothing of it: it was kept too long. */
  get wasKept(): boolean {
    return this.#answers > 0 && !this.#heard
  }

  /** Resolves when it may be used again or is over. */
  async settled(): Promise<void> {
    if (this.#state !== 'left') return
    this.#freed ??= Promise.withResolvers()
    await this.#freed.promise
  }

  /**
   * Sends a request; resolves with the head of its answer. Rejects with what Node says of the connection, with an
   * {@link AnswerWrong}, or with what it is destroyed with.
   */
  ask(request: Uint8Array): Promise<AnswerHead> {
    if (this.#state !== 'free') throw new Error('a connection is asked one thing at a time')
    this.#state = 'asked'
    this.#heard = false
    this.#early = 0
    const asked = new Promise<AnswerHead>((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
    this.#connection.write(request)
    return asked
  }

  destroy(cause: unknown = cut()): void {
    this.#end(cause)
  }

  #end(cause: unknown): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#bytes = nothing
    clearTimeout(this.#idle)
    clearTimeout(this.#late)
    this.#connection.destroy()
    this.#waiting?.reject(cause)
    this.#waiting = null
    this.#freed?.resolve()
  }

  #take(piece: Buffer): void {
    if (this.#state === 'over') return
    // Nobody asked.
    if (this.#state === 'free') this.#end(cut())
    else {
      this.#heard = true
      this.#bytes = this.#bytes.length === 0 ? piece : Buffer.concat([this.#bytes, piece])
      if (this.#state === 'left') this.#readLeft()
      else this.#readAnswer()
    }
  }

  #readAnswer(): void {
    try {
      const head = this.#nextHead()
      if (head !== null) this.#answered(head)
    } catch (error) {
      this.#end(error)
    }
  }

  /** The next head that is an answer; null while it is not there. Throws an {@link AnswerWrong}. */
  #nextHead(): AnswerHead | null {
    for (;;) {
      const seen = Math.min(this.#bytes.length, start.length)
      if (this.#bytes.compare(start, 0, seen, 0, seen) !== 0) throw new AnswerWrong('its answer is no HTTP')
      const end = this.#bytes.indexOf('\r\n\r\n')
      if ((end === -1 ? this.#bytes.length : end) > outboundHeadBytesMax)
        throw new AnswerWrong('the head of its answer is too large')
      if (end === -1) return null
      const head = parseAnswerHead(this.#bytes.toString('latin1', 0, end))
      this.#bytes = this.#bytes.subarray(end + 4)
      if (head === null || head.status === 101) throw new AnswerWrong('its answer is no HTTP')
      if (head.status >= 200) return head
      this.#early += 1
      if (this.#early > outboundEarlyAnswersMax) throw new AnswerWrong('it says too much before its answer')
    }
  }

  #answered(head: AnswerHead): void {
    this.#answers += 1
    this.#state = 'left'
    this.#left = head.body
    this.#isKept = head.isKept
    this.#waiting?.resolve(head)
    this.#waiting = null
    this.#readLeft()
    if (this.#isReading) this.#late = setTimeout(() => this.destroy(), outboundLeftMs)
  }

  #readLeft(): void {
    const came = this.#bytes.length
    const missing = this.#missing()
    const isLittle = came + (Number.isFinite(missing) ? missing : 0) <= outboundLeftBytesMax
    if (missing > 0 && isLittle) return
    clearTimeout(this.#late)
    if (missing !== 0 || !this.#isKept) this.destroy()
    else {
      this.#bytes = nothing
      this.#state = 'free'
      this.#idle.refresh()
      this.#freed?.resolve()
      this.#freed = null
    }
  }

  /** Bytes that are still to come; infinity where nobody can say, and less than none where too many came. */
  #missing(): number {
    const came = this.#bytes.length
    if (this.#left.kind === 'none') return -came
    if (this.#left.kind === 'length') return this.#left.bytes - came
    if (this.#left.kind === 'rest' || came > outboundLeftBytesMax) return Number.POSITIVE_INFINITY
    const end = chunksEnd(this.#bytes.toString('latin1'))
    return end === null ? Number.POSITIVE_INFINITY : Number.isNaN(end) ? -1 : end - came
  }
}

const cut = (): Error => Object.assign(new Error('the connection was cut'), { code: 'ECONNRESET' })
