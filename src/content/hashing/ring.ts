/**
 * A ring of bytes that two threads share: one writes records, the other reads them in their order. Neither takes a lock
 * nor makes anything per record, and a record costs its copy: some microseconds for 64 KiB, where a message costs as
 * much again on both sides, and the memory of its own.
 *
 * A record is an operation, two numbers whose meaning is the operation's, and bytes.
 *
 * To wake a thread takes as long as to copy a record. A reader who sleeps is therefore woken when an eighth of the ring
 * waits for it, or when the writer says so.
 *
 * Positions count bytes since the beginning, modulo 2^32. The ring's size is a power of two and every record begins at
 * a multiple of 16, so that a header is never split; bytes may be, at the ring's end.
 */
export interface RingRecord {
  readonly operation: number
  readonly subject: number
  readonly other: number
  /** Valid until the reader asks for the next record. Two where the ring's end is in between. */
  readonly bytes: readonly Uint8Array[]
}

const headerBytes = 16
const controlBytes = 16
const [writtenAt, readAt, roomWantedAt] = [0, 1, 2]

export const createRing = (bytes: number): SharedArrayBuffer => {
  if (bytes < 1024 || (bytes & (bytes - 1)) !== 0) throw new RangeError('the size of a ring is a power of two')
  return new SharedArrayBuffer(controlBytes + bytes)
}

const viewsOf = (ring: SharedArrayBuffer) => ({
  control: new Int32Array(ring, 0, controlBytes / 4),
  words: new Int32Array(ring, controlBytes),
  data: new Uint8Array(ring, controlBytes),
  mask: ring.byteLength - controlBytes - 1,
})

const recordBytes = (payload: number): number => headerBytes + ((payload + headerBytes - 1) & ~(headerBytes - 1))

export class RingWriter {
  readonly #views: ReturnType<typeof viewsOf>
  #written = 0

  constructor(ring: SharedArrayBuffer) {
    this.#views = viewsOf(ring)
  }

  /** More bytes than this fit into no record: four of them always have room in an empty ring. */
  get bytesMax(): number {
    return (this.#views.mask + 1) / 4 - headerBytes
  }

  /**
   * Copies a record into the ring; the reader may leave it there until it is woken. False when there is no room now:
   * then the reader will say when there is.
   */
  offer(operation: number, subject: number, other: number, bytes: Uint8Array): boolean {
    if (bytes.byteLength > this.bytesMax) throw new RangeError(`a record takes at most ${this.bytesMax} bytes`)
    const { control, words, data, mask } = this.#views
    const size = recordBytes(bytes.byteLength)
    if (!this.#hasRoom(size)) {
      Atomics.store(control, roomWantedAt, 1)
      // The reader may have made room before it could see that.
      if (!this.#hasRoom(size)) return false
    }
    const header = (this.#written & mask) / 4
    words[header] = operation
    words[header + 1] = subject
    words[header + 2] = other
    words[header + 3] = bytes.byteLength
    const start = (this.#written + headerBytes) & mask
    const untilEnd = mask + 1 - start
    if (bytes.byteLength <= untilEnd) data.set(bytes, start)
    else {
      data.set(bytes.subarray(0, untilEnd), start)
      data.set(bytes.subarray(untilEnd), 0)
    }
    this.#written = (this.#written + size) | 0
    Atomics.store(control, writtenAt, this.#written)
    if (this.#waitingBytes() >= (mask + 1) / 8) this.wake()
    return true
  }

  /** Has the reader take now what was offered: for whoever waits for what becomes of it. */
  wake(): void {
    Atomics.notify(this.#views.control, writtenAt)
  }

  #hasRoom(size: number): boolean {
    return size <= this.#views.mask + 1 - this.#waitingBytes()
  }

  #waitingBytes(): number {
    return (this.#written - Atomics.load(this.#views.control, readAt)) >>> 0
  }
}

export class RingReader {
  readonly #views: ReturnType<typeof viewsOf>
  readonly #tellRoom: () => void
  #read = 0

  /** `tellRoom` is called when half of the ring is free after a writer found no room. */
  constructor(ring: SharedArrayBuffer, tellRoom: () => void) {
    this.#views = viewsOf(ring)
    this.#tellRoom = tellRoom
  }

  /** Hands the next record over. Where there is none, blocks the thread until the writer wakes it. */
  take(use: (record: RingRecord) => void): void {
    const { control, words, mask } = this.#views
    while (Atomics.load(control, writtenAt) === this.#read) Atomics.wait(control, writtenAt, this.#read)
    const header = (this.#read & mask) / 4
    const [operation = 0, subject = 0, other = 0, length = 0] = words.subarray(header, header + 4)
    use({ operation, subject, other, bytes: this.#bytes(length) })
    this.#read = (this.#read + recordBytes(length)) | 0
    Atomics.store(control, readAt, this.#read)
    const waiting = (Atomics.load(control, writtenAt) - this.#read) >>> 0
    if (waiting <= (mask + 1) / 2 && Atomics.exchange(control, roomWantedAt, 0) === 1) this.#tellRoom()
  }

  #bytes(length: number): Uint8Array[] {
    const { data, mask } = this.#views
    const start = (this.#read + headerBytes) & mask
    const untilEnd = mask + 1 - start
    return length <= untilEnd
      ? [data.subarray(start, start + length)]
      : [data.subarray(start), data.subarray(0, length - untilEnd)]
  }
}
