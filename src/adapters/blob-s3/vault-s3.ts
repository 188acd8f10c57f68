import { CompleteMultipartUploadCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { atOnce } from '../../kernel/at-once.ts'
import { objectPartBytes, objectPartsMax, objectRequestsAtOnce } from '../../kernel/limits/engines.ts'
import { day } from '../../kernel/units.ts'
import type { BackupVault } from '../../ports/backup-vault.ts'
import { BlobMissing, BlobStoreFull, BlobStoreUnavailable } from '../../ports/blob-store.ts'
import { VaultFailure } from '../../ports/vault.ts'
import { isVaultName, toVaultName, type VaultName } from '../../ports/vault-name.ts'
import { type Bucket, bucketAt, lookAt, type ObjectPlace, type Patience, patience, persistently } from './bucket.ts'
import { isMissing, isRefusal, nameOf, storeFailure } from './failures.ts'
import { objectsBelow, uploadsBelow } from './listing.ts'
import { deleteObject, objectBytes } from './objects.ts'
import { openRange } from './reading.ts'
import { abortUpload, createUpload, type Upload, uploadPart } from './uploads.ts'

/** Those that are looked at by who claims the vault; the others are by who comes next. */
const uploadsLookedAt = 10_000

/** Objects that are none of a vault's. Where there are more of them, somebody means it to have no end. */
const strangersMax = 10_000

/** Uploads that nobody completed for so long belong to writers that died. */
const uploadsLeftMs = 7 * day

/**
 * The vault that is a bucket, or a part of one. What has a name there is the object of that key; `If-None-Match: *`
 * keeps a writer from an object that is there, so that a bucket with object lock will do. It knows no locks and no end.
 * Nothing happens to it yet.
 */
export const openVaultS3 = (place: ObjectPlace, waits: Partial<Patience> = {}): BackupVault => {
  const bucket = bucketAt(place, { ...patience, ...waits })
  const where = `s3://${place.bucket}/${place.prefix}`
  const keyOf = (name: VaultName): string => `${place.prefix}${toVaultName(name)}`
  const guarded = async <T>(run: () => Promise<T>): Promise<T> => {
    try {
      return await run()
    } catch (error) {
      throw vaultFailure(where, error)
    }
  }

  async function* pieces(name: VaultName, range?: { start: number; end: number }): AsyncGenerator<Uint8Array> {
    try {
      const key = keyOf(name)
      const end = range?.end ?? (await objectBytes(bucket, key))
      if (end === null) throw new VaultFailure('missing', where, `nothing is called ${name}`)
      yield* await openRange(bucket, { key, etag: null }, { start: range?.start ?? 0, end }, undefined)
    } catch (error) {
      throw vaultFailure(where, error)
    }
  }

  return {
    where,

    claim: () =>
      guarded(async () => {
        await lookAt(bucket)
        let seen = 0
        for await (const upload of uploadsBelow(bucket, place.prefix)) {
          if (upload.modifiedAtMs < Date.now() - uploadsLeftMs) await abortUpload(bucket, upload)
          if (++seen === uploadsLookedAt) break
        }
        return { [Symbol.asyncDispose]: async () => {} }
      }),

    size: (name) => guarded(() => objectBytes(bucket, keyOf(name))),

    read: (name, bytesMax) =>
      guarded(async () => {
        const key = keyOf(name)
        const bytes = await objectBytes(bucket, key)
        if (bytes === null) return null
        if (bytes > bytesMax) throw new VaultFailure('damaged', where, `${name} is too long`)
        const range = { start: 0, end: bytes }
        return Buffer.concat(await Array.fromAsync(await openRange(bucket, { key, etag: null }, range, bytes)))
      }),

    open: pieces,

    async *list(within) {
      try {
        let strangers = 0
        for await (const { key, bytes, modifiedAtMs } of objectsBelow(bucket, `${keyOf(within)}/`)) {
          const name = key.slice(place.prefix.length)
          if (isVaultName(name) && name.startsWith(`${within}/`)) yield { name, bytes, modifiedAtMs }
          else if (++strangers > strangersMax)
            throw new VaultFailure('unreachable', where, `${within} holds what is not of svc`)
        }
      } catch (error) {
        throw vaultFailure(where, error)
      }
    },

    async write(name, bytes, from) {
      const key = keyOf(name)
      if ((await guarded(() => objectBytes(bucket, key))) !== null) return false
      const writer = new Writer(bucket, key, bytes, guarded)
      try {
        await from((piece) => writer.take(piece))
        return await guarded(() => writer.finish())
      } catch (error) {
        await writer.drop()
        throw error
      }
    },

    create: (name, bytes) => guarded(() => putNew(bucket, keyOf(name), Buffer.from(bytes))),

    remove: (names) =>
      guarded(() => atOnce(names, objectRequestsAtOnce, async (name) => deleteObject(bucket, keyOf(name)))),

    space: async () => null,
  }
}

/** Puts an object where none is, and says whether it did. One that was there stays as it is. */
const putNew = async (bucket: Bucket, key: string, body: Buffer): Promise<boolean> => {
  const command = () => new PutObjectCommand({ Bucket: bucket.name, Key: key, Body: body, IfNoneMatch: '*' })
  const { client, patience: waits } = bucket
  try {
    await persistently(bucket, (abortSignal) => client.send(command(), { abortSignal }), waits.idleMs)
    return true
  } catch (error) {
    if (!isThere(error)) throw error
    return false
  }
}

const isThere = (error: unknown): boolean =>
  ['PreconditionFailed', 'ConditionalRequestConflict'].includes(nameOf(error))

/** Gathers pieces: what is short goes out as one object, what is long part by part, one ahead of the other. */
class Writer {
  readonly #bucket: Bucket
  readonly #key: string
  readonly #partBytes: number
  readonly #guarded: <T>(run: () => Promise<T>) => Promise<T>
  #part: Buffer
  #filled = 0
  #upload: Upload | undefined
  readonly #etags: string[] = []

  constructor(bucket: Bucket, key: string, bytes: number, guarded: <T>(run: () => Promise<T>) => Promise<T>) {
    this.#bucket = bucket
    this.#key = key
    // Of equal parts, with room for what encryption adds.
    this.#partBytes = Math.max(objectPartBytes, Math.ceil((bytes * 1.01) / (objectPartsMax - 1)))
    this.#guarded = guarded
    this.#part = Buffer.allocUnsafe(Math.min(this.#partBytes, Math.max(bytes, 64 * 1024)))
  }

  async take(piece: Uint8Array): Promise<void> {
    for (let at = 0; at < piece.byteLength; ) {
      if (this.#filled === this.#partBytes) await this.#guarded(() => this.#send())
      if (this.#filled === this.#part.byteLength) this.#grow()
      const taken = piece.subarray(at, at + this.#part.byteLength - this.#filled)
      this.#part.set(taken, this.#filled)
      this.#filled += taken.byteLength
      at += taken.byteLength
    }
  }

  async finish(): Promise<boolean> {
    if (this.#upload === undefined) return putNew(this.#bucket, this.#key, this.#part.subarray(0, this.#filled))
    await this.#send()
    return this.#complete(this.#upload)
  }

  async drop(): Promise<void> {
    // What cannot be removed now is, when its time comes, by whoever claims the vault.
    if (this.#upload !== undefined) await abortUpload(this.#bucket, this.#upload).catch(() => {})
  }

  #grow(): void {
    const larger = Buffer.allocUnsafe(Math.min(this.#partBytes, this.#part.byteLength * 4))
    larger.set(this.#part.subarray(0, this.#filled))
    this.#part = larger
  }

  async #send(): Promise<void> {
    this.#upload ??= await createUpload(this.#bucket, this.#key)
    const number = this.#etags.length + 1
    this.#etags.push(await uploadPart(this.#bucket, this.#upload, number, this.#part.subarray(0, this.#filled)))
    this.#filled = 0
  }

  async #complete(upload: Upload): Promise<boolean> {
    const parts = this.#etags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }))
    const { client, name, patience: waits } = this.#bucket
    const what = { Bucket: name, Key: upload.key, UploadId: upload.uploadId, MultipartUpload: { Parts: parts } }
    const command = () => new CompleteMultipartUploadCommand({ ...what, IfNoneMatch: '*' })
    try {
      await persistently(this.#bucket, (abortSignal) => client.send(command(), { abortSignal }), waits.workMs)
    } catch (error) {
      if (isThere(error)) {
        await this.drop()
        return false
      }
      // An answer may have been lost: then the upload is gone, and the object is there.
      if (!isMissing(error) || (await objectBytes(this.#bucket, upload.key)) === null) throw error
    }
    return true
  }
}

const vaultFailure = (where: string, cause: unknown): unknown => {
  if (cause instanceof VaultFailure) return cause
  if (cause instanceof BlobMissing) return new VaultFailure('missing', where, cause.message, { cause })
  const told = storeFailure(cause)
  if (told instanceof BlobStoreFull) return new VaultFailure('full', where, told.message, { cause })
  if (told instanceof BlobStoreUnavailable)
    return new VaultFailure(isRefusal(told.cause ?? told) ? 'denied' : 'unreachable', where, told.message, { cause })
  return cause
}
