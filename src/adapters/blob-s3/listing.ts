import { ListMultipartUploadsCommand, ListObjectsV2Command } from '@aws-sdk/client-s3'
import { digestOfName } from '../../ports/blob-name.ts'
import type { StagedRemains, StoredBlob } from '../../ports/blob-store.ts'
import { type Bucket, persistently } from './bucket.ts'
import { guarded } from './failures.ts'
import { uploadPlace } from './keys.ts'
import type { Upload } from './uploads.ts'

interface ListedObject {
  readonly key: string
  readonly bytes: number
  readonly modifiedAtMs: number
}

/** Objects below a prefix, a page at a time. */
export async function* objectsBelow(bucket: Bucket, prefix: string): AsyncGenerator<ListedObject> {
  let from: string | undefined
  do {
    const what = { Bucket: bucket.name, Prefix: prefix, ...(from === undefined ? {} : { ContinuationToken: from }) }
    const page = await guarded(() =>
      persistently(bucket, (abortSignal) => bucket.client.send(new ListObjectsV2Command(what), { abortSignal })),
    )
    for (const { Key, Size, LastModified } of page.Contents ?? [])
      if (Key !== undefined) yield { key: Key, bytes: Size ?? 0, modifiedAtMs: LastModified?.getTime() ?? Date.now() }
    from = page.IsTruncated === true ? page.NextContinuationToken : undefined
  } while (from !== undefined)
}

/** Uploads below a prefix that are neither completed nor aborted, a page at a time. */
export async function* uploadsBelow(
  bucket: Bucket,
  prefix: string,
): AsyncGenerator<Upload & { readonly modifiedAtMs: number }> {
  let from: { KeyMarker: string; UploadIdMarker: string } | undefined
  do {
    const what = { Bucket: bucket.name, Prefix: prefix, ...from }
    const page = await guarded(() =>
      persistently(bucket, (abortSignal) => bucket.client.send(new ListMultipartUploadsCommand(what), { abortSignal })),
    )
    for (const { Key, UploadId, Initiated } of page.Uploads ?? [])
      if (Key !== undefined && UploadId !== undefined)
        yield { key: Key, uploadId: UploadId, modifiedAtMs: Initiated?.getTime() ?? Date.now() }
    const { IsTruncated, NextKeyMarker = '', NextUploadIdMarker = '' } = page
    from = IsTruncated === true ? { KeyMarker: NextKeyMarker, UploadIdMarker: NextUploadIdMarker } : undefined
  } while (from !== undefined)
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
    if (place !== null) yield { place, digest: name === null ? null : digestOfName(name), modifiedAtMs }
  }
  for await (const { key, modifiedAtMs } of objectsBelow(bucket, keys.staging)) {
    const place = keys.placeOf(key)
    if (place !== null) yield { place, digest: null, modifiedAtMs }
  }
}
