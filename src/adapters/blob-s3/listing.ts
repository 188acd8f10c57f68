import { ListMultipartUploadsCommand, ListObjectsV2Command, ListPartsCommand } from '@aws-sdk/client-s3'
import { emptyPagesMax } from '../../kernel/limits/engines.ts'
import { digestOfName } from '../../ports/blob-name.ts'
import type { StagedRemains, StoredBlob } from '../../ports/blob-store.ts'
import { type Bucket, persistently } from './bucket.ts'
import { guarded, isMissing, UnfitAnswer } from './failures.ts'
import { uploadPlace } from './keys.ts'
import type { Upload } from './uploads.ts'

interface ListedObject {
  readonly key: string
  readonly bytes: number
  readonly modifiedAtMs: number
}

/**
 * What a listing tells, as it comes. Stores list in the order of keys, which is that of UTF-8: one that goes back, or
 * has nothing to tell and is not at its end, may go on like that for ever.
 */
class InOrder {
  #last: Buffer = Buffer.alloc(0)
  #empty = 0

  /** Throws {@link UnfitAnswer} for a page that is not behind the one before. `again`: a key may come twice. */
  page(keys: readonly string[], { again = false } = {}): void {
    this.#empty = keys.length === 0 ? this.#empty + 1 : 0
    if (this.#empty > emptyPagesMax) throw new UnfitAnswer('its listing has no end')
    for (const key of keys) {
      const bytes = Buffer.from(key)
      const order = Buffer.compare(bytes, this.#last)
      if (order < 0 || (order === 0 && !again)) throw new UnfitAnswer('its listing is not in the order of keys')
      this.#last = bytes
    }
  }
}

/** Objects below a prefix, a page at a time, in the order of their keys. */
export async function* objectsBelow(bucket: Bucket, prefix: string): AsyncGenerator<ListedObject> {
  const order = new InOrder()
  let from: string | undefined
  do {
    const what = { Bucket: bucket.name, Prefix: prefix, ...(from === undefined ? {} : { ContinuationToken: from }) }
    const page = await guarded(async () => {
      const found = await persistently(bucket, (abortSignal) =>
        bucket.client.send(new ListObjectsV2Command(what), { abortSignal }),
      )
      order.page((found.Contents ?? []).flatMap(({ Key }) => Key ?? []))
      return found
    })
    for (const { Key, Size, LastModified } of page.Contents ?? [])
      if (Key !== undefined) yield { key: Key, bytes: Size ?? 0, modifiedAtMs: LastModified?.getTime() ?? Date.now() }
    from = page.IsTruncated === true ? page.NextContinuationToken : undefined
  } while (from !== undefined)
}

/** Uploads below a prefix that are neither completed nor aborted, a page at a time, in the order of their keys. */
export async function* uploadsBelow(
  bucket: Bucket,
  prefix: string,
): AsyncGenerator<Upload & { readonly modifiedAtMs: number }> {
  const order = new InOrder()
  let from: { KeyMarker: string; UploadIdMarker: string } | undefined
  do {
    const what = { Bucket: bucket.name, Prefix: prefix, ...from }
    const page = await guarded(async () => {
      const found = await persistently(bucket, (abortSignal) =>
        bucket.client.send(new ListMultipartUploadsCommand(what), { abortSignal }),
      )
      order.page(
        (found.Uploads ?? []).flatMap(({ Key }) => Key ?? []),
        { again: true },
      )
      return found
    })
    for (const { Key, UploadId, Initiated } of page.Uploads ?? [])
      if (Key !== undefined && UploadId !== undefined)
        yield { key: Key, uploadId: UploadId, modifiedAtMs: Initiated?.getTime() ?? Date.now() }
    const { IsTruncated, NextKeyMarker = '', NextUploadIdMarker = '' } = page
    from = IsTruncated === true ? { KeyMarker: NextKeyMarker, UploadIdMarker: NextUploadIdMarker } : undefined
  } while (from !== undefined)
}

/** When the last part of an upload came, in ms since 1970; `begunMs` where it has none, or is gone by now. */
const lastPartMs = async (bucket: Bucket, { key, uploadId }: Upload, begunMs: number): Promise<number> => {
  let last = begunMs
  let from: string | undefined
  do {
    const what = { Bucket: bucket.name, Key: key, UploadId: uploadId, PartNumberMarker: from }
    const send = (abortSignal: AbortSignal) => bucket.client.send(new ListPartsCommand(what), { abortSignal })
    const page = await guarded(async () => {
      try {
        return await persistently(bucket, send)
      } catch (error) {
        if (isMissing(error)) return null
        throw error
      }
    })
    for (const { LastModified } of page?.Parts ?? []) last = Math.max(last, LastModified?.getTime() ?? 0)
    const next = page?.IsTruncated === true ? page.NextPartNumberMarker : undefined
    if (next !== undefined && Number(next) <= Number(from ?? 0)) throw new UnfitAnswer('its listing has no end')
    from = next
  } while (from !== undefined)
  return last
}

export async function* storedBlobs(bucket: Bucket): AsyncGenerator<StoredBlob> {
  for await (const { key, bytes } of objectsBelow(bucket, bucket.keys.blobs)) {
    const name = bucket.keys.blobOf(key)
    if (name !== null) yield { name, bytes }
  }
}

/** Uploads first: what completes meanwhile in staging is then seen as an object. */
export async function* stagedRemains(bucket: Bucket): AsyncGenerator<StagedRemains> {
  const { keys } = bucket
  for await (const { key, uploadId, modifiedAtMs } of uploadsBelow(bucket, keys.all)) {
    const name = keys.blobOf(key)
    const place = name === null ? keys.placeOf(key) : uploadPlace(name, uploadId)
    const lastWrittenMs = () => lastPartMs(bucket, { key, uploadId }, modifiedAtMs)
    if (place !== null) yield { place, digest: name === null ? null : digestOfName(name), modifiedAtMs, lastWrittenMs }
  }
  for await (const { key, modifiedAtMs } of objectsBelow(bucket, keys.staging)) {
    const place = keys.placeOf(key)
    if (place !== null) yield { place, digest: null, modifiedAtMs }
  }
}
