import { randomUUID } from 'node:crypto'
import { objectPartBytes, objectPartsMax } from '../../kernel/engine-limits.ts'
import {
  type Assembly,
  AssemblyLost,
  type AssemblyPlan,
  BlobMissing,
  type FinishedPart,
  type StagedPart,
} from '../../ports/blob-store.ts'
import { atOnce } from './at-once.ts'
import type { Bucket } from './bucket.ts'
import { guarded } from './failures.ts'
import { parsePlace, uploadPlace } from './keys.ts'
import { deleteObject, putObject, streamObject } from './objects.ts'
import { GatheredPart, type PartBody, StreamedPart } from './part-bodies.ts'
import { openRange } from './reading.ts'
import { completeUpload, copyPart, createUpload, streamPart, type Upload, unlessThere, uploadPart } from './uploads.ts'

/*
 * A blob in parts is an upload to its final key, which shows when it is completed (I3). The store does not give back parts
 * of an upload: those that are to be read are objects of their own, loose parts, that publishing copies into the upload.
 *
 * Nobody can call a request back: one that its sender gave up, or died over, may be applied minutes later, when another try at
 * the same part was answered. So nothing is believed by its place alone:
 * - A loose part has a key for each try, which its receipt names. Reading and copying it insist on the ETag of the receipt.
 * - Completing names the ETag of every part. A late part of the upload itself has another one, unless it has the same bytes:
 *   then the store refuses, and the assembly is lost, which is said (409). A copied part cannot be overtaken so: a part goes
 *   into the upload once the hash of the whole has come to it, and the hash stays there until that part is recorded.
 * - What the store says of a copy and of the whole is compared with what was asked for, as far as it can be ({@link Likeness}).
 *
 * A crash leaves the upload and loose parts, which `listStaged` shows under the place of the assembly. One after the upload
 * was completed leaves loose parts alone: publishing again finds the blob there and is done, the sweep takes the rest.
 */

export const beginAssembledObject = async (bucket: Bucket, plan: AssemblyPlan): Promise<string> => {
  if (Math.ceil(plan.bytes / plan.partBytes) > objectPartsMax)
    throw new RangeError(`an object has at most ${objectPartsMax} parts`)
  const { uploadId } = await createUpload(bucket, bucket.keys.blob(plan.name))
  return uploadPlace(plan.name, uploadId)
}

/** The try of a loose part, or null for one of the upload itself. */
interface Receipt {
  readonly attempt: string | null
  readonly etag: string
}

const receiptForm = /^(?:part|loose ([0-9a-z-]{36})) (\S{1,150})$/

const writeReceipt = ({ attempt, etag }: Receipt): string => {
  const receipt = attempt === null ? `part ${etag}` : `loose ${attempt} ${etag}`
  parseReceipt(receipt)
  return receipt
}

const parseReceipt = (receipt: string): Receipt => {
  const [, attempt, etag] = receiptForm.exec(receipt) ?? []
  if (etag === undefined) throw new RangeError('not a receipt of this object store')
  return { attempt: attempt ?? null, etag }
}

export const assembledObject = (bucket: Bucket, place: string, plan: AssemblyPlan): Assembly => {
  const parsed = parsePlace(place)
  if (parsed.kind !== 'upload' || parsed.name !== plan.name) throw new RangeError('not the place of this assembly')
  const upload: Upload = { key: bucket.keys.blob(plan.name), uploadId: parsed.uploadId }

  const bytesOf = (index: number): number => {
    const start = index * plan.partBytes
    if (!Number.isSafeInteger(index) || index < 0 || start >= plan.bytes) throw new RangeError(`no part ${index}`)
    return Math.min(plan.partBytes, plan.bytes - start)
  }

  const bodyOf = (index: number, bytes: number, loose: string | null): PartBody => {
    if (bytes <= objectPartBytes)
      return new GatheredPart((body) =>
        loose === null ? uploadPart(bucket, upload, index + 1, body) : putObject(bucket, loose, body),
      )
    return new StreamedPart(bucket.patience.idleMs, (body, signal) =>
      loose === null
        ? streamPart(bucket, upload, index + 1, body, bytes, signal)
        : streamObject(bucket, loose, body, bytes, signal),
    )
  }

  /** Copies what is loose, and completes. */
  const putTogether = async (parts: AsyncIterable<FinishedPart>, loose: LoosePart[]): Promise<void> => {
    const etags: string[] = []
    await atOnce(parts, async ({ index, receipt }: FinishedPart) => {
      const { attempt, etag } = parseReceipt(receipt)
      etags[index] = etag
      if (attempt !== null) loose.push({ index, key: bucket.keys.loose(place, index, attempt), etag })
    })
    await atOnce(loose, async ({ index, key, etag }) => {
      etags[index] = await copyPart(bucket, upload, index + 1, { key, etag, range: null })
    })
    await completeUpload(bucket, upload, etags, plan.bytes)
  }

  return {
    writePart: async (index, { readBack }) => {
      const bytes = bytesOf(index)
      const attempt = readBack ? randomUUID() : null
      const key = attempt === null ? null : bucket.keys.loose(place, index, attempt)
      return new PartOfObject(bucket, bodyOf(index, bytes, key), { bytes, attempt, key })
    },

    readPart: ({ index, receipt }) =>
      guarded(async () => {
        const bytes = bytesOf(index)
        const { attempt, etag } = parseReceipt(receipt)
        if (attempt === null) throw new Error(`part ${index} was not written to be read back`)
        const key = bucket.keys.loose(place, index, attempt)
        return lostIfMissing(() => openRange(bucket, { key, etag }, { start: 0, end: bytes }, bytes))
      }),

    publish: (parts) =>
      guarded(async () => {
        const loose: LoosePart[] = []
        await unlessThere(bucket, upload.key, plan.bytes, () => putTogether(parts, loose))
        // What is left is found by the sweep.
        await atOnce(loose, ({ key }) => deleteObject(bucket, key)).catch(() => {})
      }),
  }
}

interface LoosePart {
  readonly index: number
  readonly key: string
  readonly etag: string
}

/** A loose part goes when its assembly is published, or is discarded. */
const lostIfMissing = async <T>(run: () => Promise<T>): Promise<T> => {
  try {
    return await run()
  } catch (error) {
    throw error instanceof BlobMissing ? new AssemblyLost('a part of this assembly is gone', { cause: error }) : error
  }
}

class PartOfObject implements StagedPart {
  readonly #bucket: Bucket
  readonly #body: PartBody
  readonly #bytes: number
  readonly #attempt: string | null
  /** Of a loose part. */
  readonly #key: string | null
  #state: 'writing' | 'stored' | 'ended' = 'writing'

  constructor(
    bucket: Bucket,
    body: PartBody,
    of: { readonly bytes: number; readonly attempt: string | null; readonly key: string | null },
  ) {
    this.#bucket = bucket
    this.#body = body
    this.#bytes = of.bytes
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
      if (this.#body.bytes !== this.#bytes) throw new RangeError(`a part of ${this.#bytes} bytes is not complete`)
      this.#state = 'ended'
      const etag = await this.#body.finish()
      this.#state = 'stored'
      return writeReceipt({ attempt: this.#attempt, etag })
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
