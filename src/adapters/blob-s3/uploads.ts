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
import { sameEtag, wholeEtag } from './likeness.ts'
import { copySource, etag, lookAtObject } from './objects.ts'

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
  if (range === null && !bucket.copies.mayBe(expected, copied))
    throw new Error(`the object store says that the copy of ${key} has the ETag ${copied}; it should have ${expected}`)
  return copied
}

/**
 * Gives the upload its key. The answer may be lost, and the store may answer 200 with an error in the body, which the
 * client throws: both are tried again. Answers the ETag of the object.
 *
 * Others complete and put the same content under the same key, so that what is found there need not be what was made
 * here: what was made is judged by the store's answer, or by what is found where the answer does not tell its ETag. An
 * upload that is gone was completed by an earlier try if the object there has the ETag that these parts make. In all
 * other cases this throws {@link AssemblyLost}, and nothing is deleted: the object may be somebody else's, and only
 * reading it tells.
 */
export const completeUpload = async (
  bucket: Bucket,
  upload: Upload,
  etags: readonly string[],
  bytes: number,
): Promise<string> => {
  const expected = wholeEtag(etags)
  const completed = await tryToComplete(bucket, upload, etags)
  const made = await lookAtObject(bucket, upload.key)
  if (completed instanceof AssemblyLost) {
    if (made?.bytes !== bytes || expected === null || !sameEtag(expected, made.etag)) throw completed
    return made.etag
  }
  if (made?.bytes !== bytes)
    throw new AssemblyLost(
      `${upload.key} has ${made?.bytes ?? 'no'} bytes in the object store; its parts have ${bytes}`,
    )
  const told = completed ?? made.etag
  if (expected !== null && !bucket.wholes.mayBe(expected, told))
    throw new AssemblyLost(`the object store made ${upload.key} with the ETag ${told}; its parts make ${expected}`)
  return made.etag
}

/**
 * The ETag of what was made, if the store tells it (Ceph leaves it empty); or that the upload is lost, perhaps to an
 * earlier try.
 */
const tryToComplete = async (
  bucket: Bucket,
  upload: Upload,
  etags: readonly string[],
): Promise<string | null | AssemblyLost> => {
  const parts = etags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }))
  const what = { ...named(bucket, upload), MultipartUpload: { Parts: parts } }
  const { client, patience } = bucket
  const send = (abortSignal: AbortSignal) => client.send(new CompleteMultipartUploadCommand(what), { abortSignal })
  try {
    const { ETag } = await orLost(() => persistently(bucket, send, patience.workMs))
    return ETag === undefined || ETag === '' ? null : ETag
  } catch (error) {
    if (error instanceof AssemblyLost) return error
    throw error
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
