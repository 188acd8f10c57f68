import { transferPaceMin, transferPaceMs } from './limits/downloads.ts'
import { readAheadBytes } from './limits/transfers.ts'

interface Mark {
  readonly atMs: number
  readonly bytes: number
}

/**
 * How fast the bytes of a client go: what went in the last ten to twenty seconds, or since it was last asked. The time
 * is whatever the caller counts: real time, or only that for which the client was waited for.
 */
export class Pace {
  #bytes = 0
  #from: Mark
  #mark: Mark
  #lastMs: number

  constructor(nowMs: number) {
    this.#from = { atMs: nowMs, bytes: 0 }
    this.#mark = this.#from
    this.#lastMs = nowMs
  }

  moved(bytes: number, nowMs: number): void {
    this.#bytes += bytes
    this.#lastMs = nowMs
    this.#roll(nowMs)
  }

  /** Null while it is too soon to tell. */
  bytesPerMs(nowMs: number): number | null {
    this.#roll(nowMs)
    // Who goes as slowly as one may moves a piece in this time.
    if (nowMs - this.#lastMs > readAheadBytes / transferPaceMin) return 0
    const ms = nowMs - this.#from.atMs
    return ms < transferPaceMs ? null : (this.#bytes - this.#from.bytes) / ms
  }

  #roll(nowMs: number): void {
    if (nowMs - this.#mark.atMs < transferPaceMs) return
    this.#from = this.#mark
    this.#mark = { atMs: nowMs, bytes: this.#bytes }
  }
}
