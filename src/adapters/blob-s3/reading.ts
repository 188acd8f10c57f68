import { Readable } from 'node:stream'
import { GetObjectCommand } from '@aws-sdk/client-s3'
import { objectStoreResumesMax } from '../../kernel/limits/engines.ts'
import { readAheadBytes } from '../../kernel/limits/transfers.ts'
import type { ByteRange } from '../../kernel/range.ts'
import { BlobMissing } from '../../ports/blob-store.ts'
import { type Bucket, persistently } from './bucket.ts'
import { isMissing, isPassing, NoAnswer, nameOf, storeFailure } from './failures.ts'
import { objectBytes } from './objects.ts'

/** An object: whatever its key holds, or only what bears the ETag. */
interface Source {
  readonly key: string
  readonly etag: string | null
}

/**
 * The bytes of a range of an object; the answer has begun when this resolves. A missing object is {@link BlobMissing},
 * and so is one that is another by now.
 */
export const openRange = async (
  bucket: Bucket,
  source: Source,
  range: ByteRange,
  wholeBytes: number | undefined,
): Promise<AsyncIterableIterator<Uint8Array>> => {
  if (!(range.start >= 0 && range.end >= range.start))
    throw new RangeError(`not a range: ${range.start} to ${range.end}`)
  if (range.end > range.start)
    return new Pieces(bucket, source, range, await request(bucket, source, range, wholeBytes))
  const { key } = source
  const bytes = await objectBytes(bucket, key)
  if (bytes === null) throw missing(key)
  mustFit(key, range, bytes, wholeBytes)
  return new Pieces(bucket, source, range, Readable.from([]))
}

const missing = (key: string, cause?: unknown): BlobMissing => new BlobMissing(`${key} is not stored`, { cause })

/**
 * Another length than was said, or one within the range: the object was damaged from outside, since blobs do not
 * change.
 */
const mustFit = (key: string, range: ByteRange, bytes: number, wholeBytes: number | undefined): void => {
  if (wholeBytes !== undefined && bytes !== wholeBytes)
    throw new Error(`${key} has ${bytes} bytes instead of ${wholeBytes}`)
  if (bytes < range.end) throw new Error(`${key} ends at byte ${bytes}; bytes up to ${range.end} were asked for`)
}

const request = async (
  bucket: Bucket,
  { key, etag }: Source,
  range: ByteRange,
  wholeBytes: number | undefined,
): Promise<Readable> => {
  const asked = `bytes=${range.start}-${range.end - 1}`
  const only = etag === null ? {} : { IfMatch: etag }
  const command = () => new GetObjectCommand({ Bucket: bucket.name, Key: key, Range: asked, ...only })
  try {
    const { Body, ContentRange } = await persistently(bucket, (abortSignal) =>
      bucket.client.send(command(), { abortSignal }),
    )
    if (!(Body instanceof Readable)) throw new Error('the object store answers without a body')
    try {
      const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(ContentRange ?? '') ?? []
      if (Number(start) !== range.start) throw new Error(`the object store sends no range of ${key}`)
      mustFit(key, range, Number(total), wholeBytes)
    } catch (error) {
      Body.on('error', () => {}).destroy()
      throw error
    }
    return Body
  } catch (error) {
    if (isMissing(error) || nameOf(error) === 'PreconditionFailed') throw missing(key, error)
    // Nothing of the range is there.
    if (nameOf(error) === 'InvalidRange') mustFit(key, range, (await objectBytes(bucket, key)) ?? 0, wholeBytes)
    throw error
  }
}

/**
 * Hands over what the connection brings; the stream reads ahead by its own buffer. A connection that is cut, or silent
 * while the consumer waits, is replaced by a new request for the rest, a few times without a byte between them.
 */
class Pieces implements AsyncIterableIterator<Uint8Array> {
  readonly #bucket: Bucket
  readonly #source: Source
  readonly #end: number
  #position: number
  #body: Readable
  #arriving: AsyncIterator<unknown>
  #surplus: Uint8Array | undefined
  #resumes = 0
  #asked = false
  #closed = false

  constructor(bucket: Bucket, source: Source, range: ByteRange, body: Readable) {
    this.#bucket = bucket
    this.#source = source
    this.#position = range.start
    this.#end = range.end
    this.#body = body
    this.#arriving = body[Symbol.asyncIterator]()
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#asked) throw new Error('one piece at a time: the last one that was asked for is still being read')
    this.#asked = true
    try {
      while (!this.#closed && this.#position < this.#end) {
        const piece = await this.#read()
        if (piece === undefined || this.#closed) continue
        this.#position += piece.byteLength
        this.#resumes = 0
        return { done: false, value: piece }
      }
      return await this.return()
    } catch (error) {
      await this.return()
      throw storeFailure(error)
    } finally {
      this.#asked = false
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (!this.#closed) {
      this.#closed = true
      this.#surplus = undefined
      this.#body.on('error', () => {})
      // At its end the connection goes back for the next request.
      if (this.#position === this.#end) this.#body.resume()
      else this.#body.destroy()
    }
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** The next piece; undefined where there is a new connection instead. */
  async #read(): Promise<Uint8Array | undefined> {
    try {
      const chunk = this.#surplus ?? (await this.#arrived())
      const bytes = Math.min(chunk.byteLength, readAheadBytes, this.#end - this.#position)
      this.#surplus = bytes < chunk.byteLength ? chunk.subarray(bytes) : undefined
      return bytes === 0 ? undefined : chunk.subarray(0, bytes)
    } catch (error) {
      if (this.#closed) return undefined
      if (!isPassing(error) || this.#resumes === objectStoreResumesMax) throw error
      this.#resumes += 1
      await this.#resume()
      return undefined
    }
  }

  async #arrived(): Promise<Uint8Array> {
    const { idleMs } = this.#bucket.patience
    const timer = setTimeout(() => this.#body.destroy(new NoAnswer(`no byte for ${idleMs} ms`)), idleMs)
    try {
      const { done, value } = await this.#arriving.next()
      if (done === true) throw new NoAnswer(`the connection ended at byte ${this.#position} of ${this.#end}`)
      if (!(value instanceof Uint8Array)) throw new Error('the object store sends no bytes')
      return value
    } finally {
      clearTimeout(timer)
    }
  }

  async #resume(): Promise<void> {
    this.#body.on('error', () => {}).destroy()
    const rest = { start: this.#position, end: this.#end }
    const body = await request(this.#bucket, this.#source, rest, undefined)
    this.#body = body
    this.#arriving = body[Symbol.asyncIterator]()
    if (this.#closed) body.on('error', () => {}).destroy()
  }
}
