import { AssemblyLost, BlobMissing, type StagedPart } from '../../ports/blob-store.ts'
import type { Bucket } from './bucket.ts'
import { guarded } from './failures.ts'
import { deleteObject } from './objects.ts'
import type { PartBody } from './part-bodies.ts'

interface Receipt {
  /**
   * A part of the upload itself is null. A loose one has its try, unless it is from before each try had its own key.
   */
  readonly loose: { readonly attempt: string | null } | null
  readonly etag: string
}

const receiptForm = /^(part|loose)(?: ([0-9a-z-]{36}))? (\S{1,180})$/

const writeReceipt = (attempt: string | null, etag: string): string => {
  if (!/^\S{1,150}$/.test(etag))
    throw new Error(`the object store gives a part an ETag of ${etag.length} characters, or one with spaces`)
  return attempt === null ? `part ${etag}` : `loose ${attempt} ${etag}`
}

/** What cannot be read names a part that nobody finds. */
export const parseReceipt = (receipt: string): Receipt => {
  const [, kind, attempt = null, etag] = receiptForm.exec(receipt) ?? []
  if (etag === undefined) throw new AssemblyLost(`not a receipt of this object store: ${receipt.slice(0, 80)}`)
  return { loose: kind === 'loose' ? { attempt } : null, etag }
}

/** A loose part goes when its assembly is published, or is discarded. */
export const lostIfMissing = async <T>(run: () => Promise<T>): Promise<T> => {
  try {
    return await run()
  } catch (error) {
    throw error instanceof BlobMissing ? new AssemblyLost('a part of this assembly is gone', { cause: error }) : error
  }
}

/** A part being written: into an upload, or as a loose object under the key of its try. */
export class PartOfObject implements StagedPart {
  readonly #bucket: Bucket
  readonly #body: PartBody
  readonly #bytes: number
  readonly #mayBeShort: boolean
  readonly #attempt: string | null
  /** Of a loose part. */
  readonly #key: string | null
  #state: 'writing' | 'stored' | 'ended' = 'writing'

  constructor(
    bucket: Bucket,
    body: PartBody,
    of: {
      readonly bytes: number
      readonly attempt: string | null
      readonly key: string | null
      readonly mayBeShort?: boolean
    },
  ) {
    this.#bucket = bucket
    this.#body = body
    this.#bytes = of.bytes
    this.#mayBeShort = of.mayBeShort ?? false
    this.#attempt = of.attempt
    this.#key = of.key
  }

  write(piece: Uint8Array): Promise<void> {
    return guarded(async () => {
      this.#mustBeWriting()
      if (this.#body.bytes + piece.byteLength > this.#bytes)
        throw new RangeError(`a part of ${this.#bytes} bytes takes no more`)
      await this.#body.write(piece)
    })
  }

  finish(): Promise<string> {
    return guarded(async () => {
      this.#mustBeWriting()
      if (this.#body.bytes !== this.#bytes && !this.#mayBeShort)
        throw new RangeError(`a part of ${this.#bytes} bytes is not complete`)
      this.#state = 'ended'
      const etag = await this.#body.finish()
      this.#state = 'stored'
      return writeReceipt(this.#attempt, etag)
    })
  }

  async discard(): Promise<void> {
    const was = this.#state
    this.#state = 'ended'
    if (was === 'writing') this.#body.drop()
    // What stays, also where an answer was lost, is found by the sweep.
    if (was === 'stored' && this.#key !== null) await deleteObject(this.#bucket, this.#key).catch(() => {})
  }

  #mustBeWriting(): void {
    if (this.#state !== 'writing') throw new Error('this part is finished or given back')
  }
}
