import type { IncomingMessage } from 'node:http'
import { Failure } from '../../kernel/failure.ts'
import { transferIdleMs } from '../../kernel/limits/transfers.ts'

/** A body that is read piece by piece, and whatever may end that before its end: two clocks, its client, or others. */
export class Reading {
  readonly #request: IncomingMessage
  #failure: Failure | null = null
  /** Whatever comes now is nobody's. */
  #isOver = false
  /** Set while the reader waits for the client. */
  #wake: (() => void) | null = null
  #deadline: NodeJS.Timeout | undefined
  #idle: NodeJS.Timeout | undefined

  constructor(request: IncomingMessage) {
    this.#request = request
  }

  /** From now on the clocks run, and the client is listened to. */
  begin(deadlineSeconds: number): void {
    this.#deadline = setTimeout(() => {
      const detail = `One request must finish within ${deadlineSeconds} seconds (SVC_UPLOAD_DEADLINE_SECONDS).`
      this.stop(new Failure('upload_deadline', detail))
    }, deadlineSeconds * 1000)
    this.#idle = setTimeout(() => {
      // The time that the reader takes is not the client's.
      if (this.#wake === null) return
      this.stop(new Failure('upload_deadline', `No byte came for ${transferIdleMs / 1000} seconds.`))
    }, transferIdleMs)
    const { readable, end, error, close } = this.#heard
    this.#request.on('readable', readable).on('end', end).on('error', error).on('close', close)
  }

  /** The next piece; null where none is here yet. Throws what ended the reading, if anything did. */
  next(): Uint8Array | 'ended' | null {
    if (this.#failure !== null) throw this.#failure
    if (this.#isOver) throw cutShort()
    const piece: unknown = this.#request.read()
    if (piece instanceof Uint8Array) return piece
    if (this.#request.readableEnded) return 'ended'
    if (!this.#request.destroyed) return null
    throw cutShort()
  }

  /** Resolves when it is worth looking again. */
  more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  /** Something came, or was taken: the idle clock begins anew. */
  isAlive(): void {
    this.#idle?.refresh()
  }

  /** Ends the reading with what to answer, unless something else has. */
  stop(reason: Failure): void {
    this.#failure ??= reason
    this.#goOn()
  }

  /** Stops the clocks. Whoever reads on is told that there is no more. */
  end(): void {
    clearTimeout(this.#deadline)
    clearTimeout(this.#idle)
    this.#isOver = true
    this.#goOn()
  }

  /** The client is not listened to any more. */
  leave(): void {
    const { readable, end, error, close } = this.#heard
    this.#request.off('readable', readable).off('end', end).off('error', error).off('close', close)
  }

  readonly #heard = {
    readable: () => this.#goOn(),
    end: () => this.#goOn(),
    error: () => this.stop(cutShort()),
    close: () => (this.#request.readableEnded ? this.#goOn() : this.stop(cutShort())),
  }

  #goOn(): void {
    const wake = this.#wake
    this.#wake = null
    wake?.()
  }
}

const cutShort = (): Failure => new Failure('invalid_request', 'The body ended before it was complete.')
