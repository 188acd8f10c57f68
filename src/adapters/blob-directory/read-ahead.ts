import { readersAheadMax } from '../../kernel/limits/engines.ts'
import type { ByteRange } from '../../kernel/range.ts'
import { storeFailure } from './failures.ts'
import { closeLater, openToRead, readFully } from './files.ts'
import { giveBuffer, takeBuffer } from './piece-buffers.ts'

/** The file is shorter than its range: it was damaged from outside, since blobs do not change. */
export const truncated = (path: string, wantedEnd: number, end: number): Error =>
  new Error(`${path} ends at byte ${end}; bytes up to ${wantedEnd} were asked for`)

/** A longer range, in pieces of `readAheadBytes`; the first read is under way when this resolves. */
export const readAhead = async (path: string, range: ByteRange): Promise<AsyncIterableIterator<Uint8Array>> =>
  new ReadAhead(await openToRead(path), path, range)

/** Fills `target` from `position` on; a file that ends earlier is an error. */
const readExactly = (descriptor: number, target: Uint8Array, position: number, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    readFully(descriptor, target, position, (error, bytes) => {
      if (error !== null) reject(storeFailure(error))
      else if (bytes < target.byteLength) reject(truncated(path, position + target.byteLength, position + bytes))
      else resolve()
    })
  })

/** Readers that are not closed. */
let readers = 0

/**
 * While the consumer has one buffer, the next read fills another, unless so many read at once that it would gain
 * nothing. Whatever ends it (last byte, failure, `return`), it closes once, when no read is under way. Buffers go back
 * to the free list then, except one that the consumer had when it broke off: a socket may still be sending from it, and
 * must not send what the next reader puts there.
 */
class ReadAhead implements AsyncIterableIterator<Uint8Array> {
  readonly #descriptor: number
  readonly #path: string
  readonly #end: number
  /** Where the next read begins. */
  #position: number
  /** The read under way, or done and not handed over, giving its piece. */
  #reading: Promise<Uint8Array> | undefined
  /** Each buffer is in one of these places: being read into, or with the consumer. */
  #filling: Buffer | undefined
  #held: Buffer | undefined
  #asked = false
  #closing: Promise<void> | undefined

  constructor(descriptor: number, path: string, range: ByteRange) {
    this.#descriptor = descriptor
    this.#path = path
    this.#position = range.start
    this.#end = range.end
    readers += 1
    this.#read()
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#asked) throw new Error('one piece at a time: the last one that was asked for is still being read')
    if (this.#closing !== undefined) return this.return()
    this.#takeBack()
    if (this.#reading === undefined) this.#read()
    if (this.#reading === undefined) return this.return()
    this.#asked = true
    try {
      const piece = await this.#reading
      if (this.#closing !== undefined) return await this.return()
      this.#reading = undefined
      this.#held = this.#filling
      this.#filling = undefined
      if (readers <= readersAheadMax) this.#read()
      return { done: false, value: piece }
    } catch (error) {
      await this.return()
      throw error
    } finally {
      this.#asked = false
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#closing ??= this.#close()
    await this.#closing
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** The consumer is done with its piece: the buffer serves whoever reads next, most likely this one. */
  #takeBack(): void {
    if (this.#held !== undefined) giveBuffer(this.#held)
    this.#held = undefined
  }

  /** Starts the next read, if there is one left. */
  #read(): void {
    const start = this.#position
    if (start === this.#end) return
    const buffer = takeBuffer()
    this.#filling = buffer
    const piece = buffer.subarray(0, Math.min(buffer.byteLength, this.#end - start))
    this.#position = start + piece.byteLength
    this.#reading = readExactly(this.#descriptor, piece, start, this.#path).then(() => piece)
    // A consumer that stops before it asks for this piece never sees its failure, and need not.
    this.#reading.catch(() => {})
  }

  async #close(): Promise<void> {
    readers -= 1
    await this.#reading?.catch(() => {})
    closeLater(this.#descriptor)
    if (this.#filling !== undefined) giveBuffer(this.#filling)
  }
}
