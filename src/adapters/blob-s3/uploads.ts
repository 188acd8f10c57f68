import type { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import type { ByteRange } from '../../kernel/range.ts'
import { AssemblyLost } from '../../ports/blob-store.ts'
import { type Bucket, persistently } from './bucket.ts'
import { isMissing, nameOf } from './failures.ts'
import { wholeEtag } from './likeness.ts'
import { copySource, deleteObject, etag, lookAtObject, objectBytes } from './objects.ts'

/** A multipart upload. Nothing of it shows under its key until it is completed (I3). */
export interface Upload {
  readonly key: string
  readonly uploadId: string
}

const named = ({ name }: Bucket, { key, uploadId }: Upload) => ({ Bucket: name, Key: key, UploadId: uploadId })

/** When an answer is lost there may be two; the sweep finds the one that nobody uses. */
export const createUpload = async (bucket: Bucket, key: string): Promise<Upload> => {
  const command = () => new CreateMultipartUploadCommand({ Bucket: bucket.name, Key: key })
  const { UploadId } = await persistently(bucket, (abortSignal) => bucket.client.send(command(), { abortSignal }))
  if (UploadId === undefined) throw new Error('the object store begins an upload without a name')
  return { key, uploadId: UploadId }
}

/** A part from memory. Numbers begin with 1; answers the ETag that completing wants. */
export const uploadPart = async (bucket: Bucket, upload: Upload, number: number, body: Buffer): Promise<string> => {
  const command = () => new UploadPartCommand({ ...named(bucket, upload), PartNumber: number, Body: body })
  const { client, patience } = bucket
  const send = (abortSignal: AbortSignal) => client.send(command(), { abortSignal })
  return etag((await orLost(() => persistently(bucket, send, patience.idleMs))).ETag)
}

/** A part that comes as it comes: tried once, and cut by the signal. */
export const streamPart = async (
  bucket: Bucket,
  upload: Upload,
  number: number,
  body: Readable,
  bytes: number,
  abortSignal: AbortSignal,
): Promise<string> => {
  const what = { ...named(bucket, upload), PartNumber: number, Body: body, ContentLength: bytes }
  return etag((await orLost(() => bucket.client.send(new UploadPartCommand(what), { abortSignal }))).ETag)
}

/** What a part is copied from: an object as its ETag names it, whole or a range of it. */
interface CopiedFrom {
  readonly key: string
  readonly etag: string
  readonly range: ByteRange | null
}

/** A part that the store copies. An object that is another by now counts as lost. */
export const copyPart = async (
  bucket: Bucket,
  upload: Upload,
  number: number,
  { key, etag: expected, range }: CopiedFrom,
): Promise<string> => {
  const what = {
    ...named(bucket, upload),
    PartNumber: number,
    CopySource: copySource(bucket, key),
    CopySourceIfMatch: expected,
    ...(range === null ? {} : { CopySourceRange: `bytes=${range.start}-${range.end - 1}` }),
  }
  const { client, patience } = bucket
  const send = (abortSignal: AbortSignal) => client.send(new UploadPartCopyCommand(what), { abortSignal })
  const copied = etag((await orLost(() => persistently(bucket, send, patience.workMs))).CopyPartResult?.ETag)
  if (range === null) bucket.copies.mustBeLike(expected, copied, `the copy of ${key}`)
  return copied
}

/**
 * Gives the upload its key. The answer may be lost, and the store may answer 200 with an error in the body, which the
 * client throws: both are tried again. An upload that is gone while the object is there, as long as it should be, was
 * completed by an earlier try. Answers the ETag of the object, and fails where it is not as long as its parts.
 */
export const completeUpload = async (
  bucket: Bucket,
  upload: Upload,
  etags: readonly string[],
  bytes: number,
): Promise<string> => {
  const parts = etags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }))
  const what = { ...named(bucket, upload), MultipartUpload: { Parts: parts } }
  const { client, patience } = bucket
  const send = (abortSignal: AbortSignal) => client.send(new CompleteMultipartUploadCommand(what), { abortSignal })
  await unlessThere(bucket, upload.key, bytes, () => persistently(bucket, send, patience.workMs))
  const made = await lookAtObject(bucket, upload.key)
  if (made?.bytes !== bytes)
    throw new Error(`the object store made ${upload.key} of ${made?.bytes ?? 'no'} bytes; its parts have ${bytes}`)
  try {
    const expected = wholeEtag(etags)
    if (expected !== null) bucket.wholes.mustBeLike(expected, made.etag, upload.key)
  } catch (error) {
    // It must not be found there by whoever tries again.
    await deleteObject(bucket, upload.key)
    throw error
  }
  return made.etag
}

/** Where the upload is lost, but the object is there, the work is done already. */
export const unlessThere = async (
  bucket: Bucket,
  key: string,
  bytes: number,
  work: () => Promise<unknown>,
): Promise<void> => {
  try {
    await orLost(work)
  } catch (error) {
    if (!(error instanceof AssemblyLost) || (await objectBytes(bucket, key)) !== bytes) throw error
  }
}

/** Harmless when it is gone. */
export const abortUpload = async (bucket: Bucket, upload: Upload): Promise<void> => {
  const command = () => new AbortMultipartUploadCommand(named(bucket, upload))
  try {
    await persistently(bucket, (abortSignal) => bucket.client.send(command(), { abortSignal }))
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

/** An upload, one of its parts, or what was to be copied into it is gone. */
const orLost = async <T>(run: () => Promise<T>): Promise<T> => {
  try {
    return await run()
  } catch (error) {
    if (isMissing(error) || ['InvalidPart', 'InvalidPartOrder', 'PreconditionFailed'].includes(nameOf(error)))
      throw new AssemblyLost(`the upload or a part of it is gone (${nameOf(error)})`, { cause: error })
    throw error
  }
}
