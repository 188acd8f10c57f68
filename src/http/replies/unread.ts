interface Held {
  readonly bytes: number
  readonly cut: () => void
}

interface Holding {
  bytes: number
  readonly answers: Set<Held>
}

/**
 * Answers that are whole in memory while their clients take them. All of them together have a bound: beyond it the
 * oldest of the network that holds most is cut, so that nobody fills the memory by reading nothing, nor ends the
 * answers of others.
 */
export class Unread {
  readonly #bytesMax: number
  readonly #networks = new Map<string, Holding>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  /** `cut` ends the connection. Answers how to say that the answer was taken, or its connection has ended. */
  hold(network: string, bytes: number, cut: () => void): () => void {
    const held: Held = { bytes, cut }
    const holding = this.#networks.get(network) ?? { bytes: 0, answers: new Set() }
    this.#networks.set(network, holding)
    holding.answers.add(held)
    this.#add(holding, bytes)
    while (this.#bytes > this.#bytesMax) this.#cutOne()
    return () => this.#forget(network, held)
  }

  #cutOne(): void {
    const [network, { answers }] = [...this.#networks].reduce((one, other) =>
      other[1].bytes > one[1].bytes ? other : one,
    )
    for (const oldest of answers) {
      this.#forget(network, oldest)
      oldest.cut()
      return
    }
  }

  #forget(network: string, held: Held): void {
    const holding = this.#networks.get(network)
    if (holding?.answers.delete(held) !== true) return
    this.#add(holding, -held.bytes)
    if (holding.answers.size === 0) this.#networks.delete(network)
  }

  #add(holding: Holding, bytes: number): void {
    holding.bytes += bytes
    this.#bytes += bytes
  }
}
