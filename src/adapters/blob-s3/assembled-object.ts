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
 * A crash leaves the upload and loose parts, which `listStaged` shows under the place of the assembly. One after the upload
 * was completed leaves loose parts alone: publishing again finds the blob there and is done, the sweep takes the rest.
 */

export const beginAssembledObject = async (bucket: Bucket, plan: AssemblyPlan): Promise<string> => {
  if (Math.ceil(plan.bytes / plan.partBytes) > objectPartsMax)
    throw new RangeError(`an object has at most ${objectPartsMax} parts`)
  const { uploadId } = await createUpload(bucket, bucket.keys.blob(plan.digest))
  return uploadPlace(plan.digest, uploadId)
}

const receiptForm = /^(loose|part) (.{1,180})$/

const parseReceipt = (receipt: string): { loose: boolean; etag: string } => {
  const [, kind, etag] = receiptForm.exec(receipt) ?? []
  if (etag === undefined) throw new RangeError('not a receipt of this object store')
  return { loose: kind === 'loose', etag }
}

export const assembledObject = (bucket: Bucket, place: string, plan: AssemblyPlan): Assembly => {
  const parsed = parsePlace(place)
  if (parsed.kind !== 'upload' || parsed.digest !== plan.digest) throw new RangeError('not the place of this assembly')
  const upload: Upload = { key: bucket.keys.blob(plan.digest), uploadId: parsed.uploadId }

  const bytesOf = (index: number): number => {
    const start = index * plan.partBytes
    if (!Number.isSafeInteger(index) || index < 0 || start >= plan.bytes) throw new RangeError(`no part ${index}`)
    return Math.min(plan.partBytes, plan.bytes - start)
  }

  const bodyOf = (index: number, bytes: number, loose: boolean): PartBody => {
    const key = bucket.keys.staged(place, index)
    if (bytes <= objectPartBytes)
      return new GatheredPart((body) =>
        loose ? putObject(bucket, key, body) : uploadPart(bucket, upload, index + 1, body),
      )
    return new StreamedPart(bucket.patience.idleMs, (body, signal) =>
      loose
        ? streamObject(bucket, key, body, bytes, signal)
        : streamPart(bucket, upload, index + 1, body, bytes, signal),
    )
  }

  return {
    writePart: async (index, { readBack }) => {
      const bytes = bytesOf(index)
      return new PartOfObject(bodyOf(index, bytes, readBack), bytes, readBack ? 'loose' : 'part')
    },

    readPart: ({ index, receipt }) =>
      guarded(async () => {
        const bytes = bytesOf(index)
        if (!parseReceipt(receipt).loose) throw new Error(`part ${index} was not written to be read back`)
        return lostIfMissing(() => openRange(bucket, bucket.keys.staged(place, index), { start: 0, end: bytes }, bytes))
      }),

    publish: (parts) =>
      guarded(async () => {
        const loose: string[] = []
        await unlessThere(bucket, upload.key, plan.bytes, async () => {
          const etags: string[] = []
          await atOnce(parts, async ({ index, receipt }: FinishedPart) => {
            const known = parseReceipt(receipt)
            const key = bucket.keys.staged(place, index)
            if (known.loose) loose.push(key)
            etags[index] = known.loose ? await copyPart(bucket, upload, index + 1, key, null) : known.etag
          })
          await completeUpload(bucket, upload, etags, plan.bytes)
        })
        // What is left is found by the sweep.
        await atOnce(loose, (key) => deleteObject(bucket, key)).catch(() => {})
      }),
  }
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
  readonly #body: PartBody
  readonly #bytes: number
  readonly #kind: 'loose' | 'part'
  #state: 'writing' | 'ended' = 'writing'

  constructor(body: PartBody, bytes: number, kind: 'loose' | 'part') {
    this.#body = body
    this.#bytes = bytes
    this.#kind = kind
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
      const receipt = `${this.#kind} ${await this.#body.finish()}`
      parseReceipt(receipt)
      return receipt
    })
  }

  async discard(): Promise<void> {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    this.#body.drop()
  }

  #mustBeWriting(): void {
    if (this.#state !== 'writing') throw new Error('this part is finished or given back')
  }
}
