/** One who is being sent a document. */
interface Loan {
  readonly bytes: Uint8Array
  readonly cut: () => void
}

/**
 * Documents that are being sent. They are in memory until the last who is sent one has taken it: all of them together
 * have a bound, however many there are for the same package. Beyond it the answers are cut of whoever is sent most,
 * those that began first, so that nobody fills the memory by reading slowly.
 */
export class Lending {
  readonly #bytesMax: number
  readonly #callers = new Map<string, Set<Loan>>()
  /** How many are being sent each. */
  readonly #readers = new Map<Uint8Array, number>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Until what is answered is called. `cut` ends the answer in its middle. */
  lend(caller: string, bytes: Uint8Array, cut: () => void): () => void {
    const loan: Loan = { bytes, cut }
    const loans = this.#callers.get(caller) ?? new Set()
    this.#callers.set(caller, loans.add(loan))
    const readers = this.#readers.get(bytes) ?? 0
    this.#readers.set(bytes, readers + 1)
    if (readers === 0) this.#bytes += bytes.byteLength
    while (this.#bytes > this.#bytesMax && this.#cutOne());
    return () => this.#giveBack(caller, loan)
  }

  #cutOne(): boolean {
    let most: { readonly caller: string; readonly bytes: number; readonly oldest: Loan } | null = null
    for (const [caller, loans] of this.#callers) {
      const bytes = [...new Set([...loans].map((loan) => loan.bytes))].reduce((sum, each) => sum + each.byteLength, 0)
      const [oldest] = loans
      if (oldest !== undefined && bytes > (most?.bytes ?? 0)) most = { caller, bytes, oldest }
    }
    if (most === null) return false
    this.#giveBack(most.caller, most.oldest)
    most.oldest.cut()
    return true
  }

  #giveBack(caller: string, loan: Loan): void {
    const loans = this.#callers.get(caller)
    if (loans?.delete(loan) !== true) return
    if (loans.size === 0) this.#callers.delete(caller)
    const readers = (this.#readers.get(loan.bytes) ?? 0) - 1
    if (readers > 0) this.#readers.set(loan.bytes, readers)
    else {
      this.#readers.delete(loan.bytes)
      this.#bytes -= loan.bytes.byteLength
    }
  }
}
