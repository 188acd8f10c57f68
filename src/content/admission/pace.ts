import { downloadPaceMin, downloadPaceMs, readAheadBytes } from '../../kernel/limits.ts'

interface Mark {
  readonly atMs: number
  readonly bytes: number
}

/** How fast the bytes of a slot go: what went in the last ten to twenty seconds, or since it was last asked. */
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

  sent(bytes: number, nowMs: number): void {
    this.#bytes += bytes
    this.#lastMs = nowMs
    this.#roll(nowMs)
  }

  /** Null while it is too soon to tell. */
  bytesPerMs(nowMs: number): number | null {
    this.#roll(nowMs)
    // Who takes the least takes a piece in this time.
    if (nowMs - this.#lastMs > readAheadBytes / downloadPaceMin) return 0
    const ms = nowMs - this.#from.atMs
    return ms < downloadPaceMs ? null : (this.#bytes - this.#from.bytes) / ms
  }

  #roll(nowMs: number): void {
    if (nowMs - this.#mark.atMs < downloadPaceMs) return
    this.#from = this.#mark
    this.#mark = { atMs: nowMs, bytes: this.#bytes }
  }
}
