import type { Readable } from 'node:stream'
import { CopyObjectCommand, DeleteObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { type Bucket, lookAt, persistently } from './bucket.ts'
import { isMissing } from './failures.ts'

/* Requests for single objects. All of them may be repeated: a key always gets the same bytes. */

/** An object, or null. A missing bucket is not an empty one. */
export const lookAtObject = async (bucket: Bucket, key: string): Promise<{ bytes: number; etag: string } | null> => {
  const command = () => new HeadObjectCommand({ Bucket: bucket.name, Key: key })
  try {
    const { ContentLength, ETag } = await persistently(bucket, (abortSignal) =>
      bucket.client.send(command(), { abortSignal }),
    )
    if (ContentLength === undefined) throw new Error(`the object store does not say how long ${key} is`)
    return { bytes: ContentLength, etag: etag(ETag) }
  } catch (error) {
    if (!isMissing(error)) throw error
    // The answer to HEAD does not say what is missing.
    await lookAt(bucket)
    return null
  }
}

/** Bytes of an object, or null. */
export const objectBytes = async (bucket: Bucket, key: string): Promise<number | null> =>
  (await lookAtObject(bucket, key))?.bytes ?? null

/** What it answers is the object's ETag. */
export const putObject = async (bucket: Bucket, key: string, body: Buffer): Promise<string> => {
  const command = () => new PutObjectCommand({ Bucket: bucket.name, Key: key, Body: body })
  const { client, patience } = bucket
  const { ETag } = await persistently(bucket, (abortSignal) => client.send(command(), { abortSignal }), patience.idleMs)
  return etag(ETag)
}

/** A body that comes as it comes: tried once, and cut by the signal. */
export const streamObject = async (
  bucket: Bucket,
  key: string,
  body: Readable,
  bytes: number,
  abortSignal: AbortSignal,
): Promise<string> => {
  const command = new PutObjectCommand({ Bucket: bucket.name, Key: key, Body: body, ContentLength: bytes })
  return etag((await bucket.client.send(command, { abortSignal })).ETag)
}

/** Within the store; up to `objectRequestBytesMax`. */
export const copyObject = async (bucket: Bucket, from: { key: string; etag: string }, to: string): Promise<void> => {
  const source = { CopySource: copySource(bucket, from.key), CopySourceIfMatch: from.etag }
  const command = () => new CopyObjectCommand({ Bucket: bucket.name, Key: to, ...source })
  const { client, patience } = bucket
  await persistently(bucket, (abortSignal) => client.send(command(), { abortSignal }), patience.workMs)
}

/** Harmless when it is gone. */
export const deleteObject = async (bucket: Bucket, key: string): Promise<void> => {
  const command = () => new DeleteObjectCommand({ Bucket: bucket.name, Key: key })
  await persistently(bucket, (abortSignal) => bucket.client.send(command(), { abortSignal }))
}

export const copySource = (bucket: Bucket, key: string): string =>
  `${bucket.name}/${key.split('/').map(encodeURIComponent).join('/')}`

export const etag = (answered: string | undefined): string => {
  if (answered === undefined) throw new Error('the object store answers without an ETag')
  return answered
}
