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
import { copySource, etag, objectBytes } from './objects.ts'

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

/** A part that the store copies from another object, or from a range of it. */
export const copyPart = async (
  bucket: Bucket,
  upload: Upload,
  number: number,
  from: string,
  range: ByteRange | null,
): Promise<string> => {
  const source = range === null ? {} : { CopySourceRange: `bytes=${range.start}-${range.end - 1}` }
  const what = { ...named(bucket, upload), PartNumber: number, CopySource: copySource(bucket, from), ...source }
  const { client, patience } = bucket
  const send = (abortSignal: AbortSignal) => client.send(new UploadPartCopyCommand(what), { abortSignal })
  return etag((await orLost(() => persistently(bucket, send, patience.workMs))).CopyPartResult?.ETag)
}

/**
 * Gives the upload its key. The answer may be lost, and the store may answer 200 with an error in the body, which the
 * client throws: both are tried again. An upload that is gone while the object is there, as long as it should be, was
 * completed by an earlier try.
 */
export const completeUpload = async (
  bucket: Bucket,
  upload: Upload,
  etags: readonly string[],
  bytes: number,
): Promise<void> => {
  const parts = etags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }))
  const what = { ...named(bucket, upload), MultipartUpload: { Parts: parts } }
  const { client, patience } = bucket
  const send = (abortSignal: AbortSignal) => client.send(new CompleteMultipartUploadCommand(what), { abortSignal })
  await unlessThere(bucket, upload.key, bytes, () => persistently(bucket, send, patience.workMs))
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
    if (isMissing(error) || ['InvalidPart', 'InvalidPartOrder'].includes(nameOf(error)))
      throw new AssemblyLost(`the upload or a part of it is gone (${nameOf(error)})`, { cause: error })
    throw error
  }
}
