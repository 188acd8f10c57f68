/** Bytes that are there already, as an iteration: one piece, or none. */
export class OnePiece implements AsyncIterableIterator<Uint8Array> {
  #piece: Uint8Array | undefined

  constructor(piece: Uint8Array | undefined) {
    this.#piece = piece
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const piece = this.#piece
    this.#piece = undefined
    return piece === undefined ? { done: true, value: undefined } : { done: false, value: piece }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#piece = undefined
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
