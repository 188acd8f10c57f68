/**
 * Bytes of parts in memory, counted for the whole process. Whoever wants to gather more waits while there are too many.
 *
 * Parts are given back once they are sent. When none is being sent, nothing would ever be given back: then the one that
 * waits with most gathered goes on, past the limit, because it is nearest to being sent. So there is no standstill, and
 * beyond the limit there is one part, plus parts of senders that were let on and then fell silent.
 */
export class HeldBytes {
  readonly #max: number
  #held = 0
  #sending = 0
  readonly #waiting: Waiting[] = []

  constructor(maxBytes: number) {
    this.#max = maxBytes
  }

  /** Resolves when so many more bytes may be held; `gathered` is what the caller holds of the same part already. */
  async take(bytes: number, gathered: number): Promise<void> {
    if (this.#waiting.length === 0 && this.#held + bytes <= this.#max) {
      this.#held += bytes
      return
    }
    await new Promise<void>((go) => {
      this.#waiting.push({ bytes, gathered, go })
      this.#letOn()
    })
  }

  /** These bytes are on their way: they will be given back without anybody else's doing. */
  sending(bytes: number): void {
    this.#sending += bytes
  }

  sent(bytes: number): void {
    this.#sending -= bytes
    this.give(bytes)
  }

  give(bytes: number): void {
    this.#held -= bytes
    this.#letOn()
  }

  #letOn(): void {
    for (;;) {
      const [first] = this.#waiting
      if (first === undefined) return
      const next =
        this.#held + first.bytes <= this.#max
          ? first
          : this.#sending === 0
            ? this.#waiting.reduce((most, each) => (each.gathered > most.gathered ? each : most))
            : undefined
      if (next === undefined) return
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      this.#held += next.bytes
      next.go()
      if (this.#held > this.#max) return
    }
  }
}

interface Waiting {
  readonly bytes: number
  readonly gathered: number
  go(): void
}
