import { randomUUID } from 'node:crypto'
import { atOnce } from '../../kernel/at-once.ts'
import { objectPartBytes, objectPartsMax, objectRequestsAtOnce } from '../../kernel/limits/engines.ts'
import { type Assembly, AssemblyLost, type AssemblyPlan, type FinishedPart } from '../../ports/blob-store.ts'
import type { Bucket } from './bucket.ts'
import { emptyPlace } from './emptying.ts'
import { guarded } from './failures.ts'
import { parsePlace, uploadPlace } from './keys.ts'
import { putObject, streamObject } from './objects.ts'
import { GatheredPart, type PartBody, StreamedPart } from './part-bodies.ts'
import { lostIfMissing, PartOfObject, parseReceipt } from './part-of-object.ts'
import { openRange } from './reading.ts'
import { completeUpload, copyPart, createUpload, streamPart, type Upload, uploadPart } from './uploads.ts'

/*
 * A blob in parts is an upload to its final key, which shows when it is completed (I3). The store does not give back
 * parts of an upload: those that are to be read are objects of their own, loose parts, that publishing copies into the
 * upload.
 *
 * Nobody can call a request back: one that its sender gave up, or died over, may be applied minutes later, when another
 * try at the same part was answered. So nothing is believed by its place alone:
 * - A loose part has a key for each try, which its receipt names. Reading and copying it insist on the ETag of the
 *   receipt.
 * - Completing names the ETag of every part. A late part of the upload itself has another one, unless it has the same
 *   bytes: then the store refuses, and the assembly is lost, which is said (409). A copied part cannot be overtaken so:
 *   a part goes into the upload once the hash of the whole has come to it, and the hash stays there until that part is
 *   recorded.
 * - What the store says of a copy and of the whole is compared with what was asked for, as far as it can be
 *   ({@link Likeness}).
 *
 * A crash leaves the upload and loose parts, which `listStaged` shows under the place of the assembly. One after the
 * upload was completed leaves loose parts alone: publishing again says that the assembly is lost, whoever asks reads
 * the blob, the sweep takes the rest. What bears a final name is never deleted here: others put the same content there.
 */

export const beginAssembledObject = async (bucket: Bucket, plan: AssemblyPlan): Promise<string> => {
  if (Math.ceil(plan.bytes / plan.partBytes) > objectPartsMax)
    throw new RangeError(`an object has at most ${objectPartsMax} parts`)
  const { uploadId } = await createUpload(bucket, bucket.keys.blob(plan.name))
  return uploadPlace(plan.name, uploadId)
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

  const looseKey = (index: number, attempt: string | null): string =>
    attempt === null ? bucket.keys.staged(place, index) : bucket.keys.loose(place, index, attempt)

  /** Copies what is loose, and completes. */
  const putTogether = async (parts: AsyncIterable<FinishedPart>, loose: LoosePart[]): Promise<void> => {
    const etags: string[] = []
    await atOnce(parts, objectRequestsAtOnce, async ({ index, receipt }: FinishedPart) => {
      const { loose: isLoose, etag } = parseReceipt(receipt)
      etags[index] = etag
      if (isLoose !== null) loose.push({ index, key: looseKey(index, isLoose.attempt), etag })
    })
    await atOnce(loose, objectRequestsAtOnce, async ({ index, key, etag }) => {
      etags[index] = await copyPart(bucket, upload, index + 1, { key, etag, range: null })
    })
    await completeUpload(bucket, upload, etags, plan.bytes)
  }

  return {
    writePart: async (index, { readBack }) => {
      const bytes = bytesOf(index)
      const attempt = readBack ? randomUUID() : null
      const key = attempt === null ? null : looseKey(index, attempt)
      return new PartOfObject(bucket, bodyOf(index, bytes, key), { bytes, attempt, key })
    },

    readPart: ({ index, receipt }) =>
      guarded(async () => {
        const bytes = bytesOf(index)
        const { loose, etag } = parseReceipt(receipt)
        if (loose === null) throw new AssemblyLost(`part ${index} was not written to be read back`)
        const key = looseKey(index, loose.attempt)
        return lostIfMissing(() => openRange(bucket, { key, etag }, { start: 0, end: bytes }, bytes))
      }),

    publish: (parts) =>
      guarded(async () => {
        const loose: LoosePart[] = []
        await putTogether(parts, loose)
        // Tries that broke off as well. What is left is found by the sweep.
        if (loose.length > 0) await emptyPlace(bucket, place).catch(() => {})
      }),

    // What the store answered is durable.
    settleName: async () => {},
  }
}

interface LoosePart {
  readonly index: number
  readonly key: string
  readonly etag: string
}
