import type { VaultName } from '../../../ports/vault-name.ts'

/**
 * A set of names of data: 12 bytes each and no text, so that ten millions of them fit into memory. Two names that share
 * 80 bits count as one: then one of them stays where it might have gone, which does no harm and does not happen.
 */
export class NameSet {
  #high = new Float64Array(1_024)
  #low = new Uint32Array(1_024)
  #count = 0

  add(name: VaultName): void {
    if (this.#count * 2 >= this.#high.length) this.#grow()
    if (this.#put(keyOf(name))) this.#count += 1
  }

  has(name: VaultName): boolean {
    const { high, low } = keyOf(name)
    return this.#high[this.#slot(high, low)] === high
  }

  get size(): number {
    return this.#count
  }

  #put({ high, low }: Key): boolean {
    const slot = this.#slot(high, low)
    if (this.#high[slot] === high) return false
    this.#high[slot] = high
    this.#low[slot] = low
    return true
  }

  /** Where a key is, or is to be. */
  #slot(high: number, low: number): number {
    const mask = this.#high.length - 1
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const found = this.#high[slot]
      if (found === 0 || (found === high && this.#low[slot] === low)) return slot
    }
  }

  #grow(): void {
    const [high, low] = [this.#high, this.#low]
    this.#high = new Float64Array(high.length * 2)
    this.#low = new Uint32Array(low.length * 2)
    for (const [index, each] of high.entries()) if (each !== 0) this.#put({ high: each, low: low[index] ?? 0 })
  }
}

interface Key {
  /** 40 bits of the id, and a bit of what it is; never 0. */
  readonly high: number
  /** 32 more, and which try it is: each has another number. */
  readonly low: number
}

/** `data/<ab>/<64 hexadecimal digits>[-<try>].…` */
const keyOf = (name: VaultName): Key => {
  const id = name.slice('data/00/'.length)
  const [, attempt = '0'] = /^-(\d+)/.exec(id.slice(64)) ?? []
  const kind = id.includes('.zst') ? 1 : 0
  return {
    high: Number.parseInt(id.slice(0, 10), 16) * 2 + kind + 1,
    low: (Number.parseInt(id.slice(10, 18), 16) ^ Math.imul(Number(attempt), 0x9e37_79b1)) >>> 0,
  }
}
