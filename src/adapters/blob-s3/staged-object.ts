import { objectPartBytes, objectPartsMax } from '../../kernel/limits/engines.ts'
import type { BlobName } from '../../ports/blob-name.ts'
import { AssemblyLost, BlobStoreUnavailable, type StagedBlob, type StagingPlan } from '../../ports/blob-store.ts'
import type { Bucket } from './bucket.ts'
import { copySegments, type Segment } from './copying.ts'
import { guarded } from './failures.ts'
import { deleteObject, putObject } from './objects.ts'
import { GatheredPart, type PartBody, StreamedPart } from './part-bodies.ts'
import { abortUpload, completeUpload, createUpload, streamPart, type Upload, uploadPart } from './uploads.ts'

/*
 * Promise: a blob that has its final name is complete and durable when `publish` resolves (I3).
 *
 * - One part or less is kept in memory and put under its final key by `publish`.
 * - With name and length known, parts go into an upload to the final key, which `publish` completes.
 * - Else they go into segments in staging, which `publish` completes, copies within the store, and removes.
 *
 * A crash leaves an upload, or segments, which `listStaged` shows. While one part is sent the next is gathered.
 */

/** Of equal parts, as few as memory asks for and no more than an upload takes. */
const partBytesFor = (bytes: number): number =>
  Math.max(objectPartBytes, Math.ceil(bytes / objectPartsMax / objectPartBytes) * objectPartBytes)

export class StagedObject implements StagedBlob {
  readonly #bucket: Bucket
  readonly #id: string
  readonly #ended: (how: 'stored' | 'ended') => void
  /** Where the name is known, and how long a part is. */
  readonly #direct: { readonly name: BlobName; readonly bytes: number } | null
  readonly #partBytes: number
  #part: PartBody | undefined
  #sending: Promise<void> = Promise.resolve()
  #failure: { readonly error: unknown } | undefined
  #upload: Promise<Upload> | undefined
  #etags: string[] = []
  #uploadBytes = 0
  #bytes = 0
  readonly #segments: Segment[] = []
  #state: 'writing' | 'ended' | 'published' = 'writing'

  /** `ended` is told when the store has something of it, and when it has ended. */
  constructor(bucket: Bucket, id: string, plan: StagingPlan, ended: (how: 'stored' | 'ended') => void) {
    this.#bucket = bucket
    this.#id = id
    this.#ended = ended
    this.#direct = plan.name === null || plan.bytes === null ? null : { name: plan.name, bytes: plan.bytes }
    this.#partBytes = this.#direct === null ? objectPartBytes : partBytesFor(this.#direct.bytes)
  }

  write(piece: Uint8Array): Promise<void> {
    return guardedFromSweep(async () => {
      this.#mustBeWriting()
      for (let at = 0; at < piece.byteLength; ) {
        // More follows, so what is full goes out.
        if (this.#part?.bytes === this.#partBytes) await this.#sendOn()
        this.#part ??= this.#newPart()
        const taken = piece.subarray(at, at + this.#partBytes - this.#part.bytes)
        await this.#part.write(taken)
        this.#bytes += taken.byteLength
        at += taken.byteLength
      }
      this.#mustBeWriting()
    })
  }

  publish(name: BlobName): Promise<void> {
    return guardedFromSweep(async () => {
      this.#mustBeWriting()
      this.#state = 'ended'
      const key = this.#bucket.keys.blob(name)
      if (this.#upload === undefined && this.#segments.length === 0) await this.#publishSmall(key)
      else await this.#publishLarge(key, name)
      this.#state = 'published'
      this.#ended('ended')
    })
  }

  discard(): Promise<void> {
    return guarded(async () => {
      if (this.#state === 'published') return
      this.#state = 'ended'
      this.#part?.drop()
      await this.#sending
      await this.#removeAll()
      this.#ended('ended')
    })
  }

  async #publishSmall(key: string): Promise<void> {
    const part = this.#part ?? new GatheredPart((body) => putObject(this.#bucket, key, body))
    this.#smallKey = key
    await part.finish()
  }

  #smallKey: string | undefined

  async #publishLarge(key: string, name: BlobName): Promise<void> {
    if (this.#direct !== null && (this.#direct.name !== name || this.#direct.bytes !== this.#bytes))
      throw new Error('the bytes are not those of the plan')
    await this.#sendOn()
    await this.#sending
    this.#throwFailure()
    await this.#completeSegment()
    if (this.#direct !== null) return
    await copySegments(this.#bucket, this.#segments, key)
    // What is left is found by the sweep.
    await this.#removeSegments().catch(() => {})
  }

  #newPart(): PartBody {
    const number = this.#etags.length + 1
    this.#etags.push('')
    if (this.#partBytes === objectPartBytes)
      return new GatheredPart(async (body) =>
        this.#smallKey === undefined
          ? uploadPart(this.#bucket, await this.#uploading(), number, body)
          : putObject(this.#bucket, this.#smallKey, body),
      )
    const bytes = Math.min(this.#partBytes, (this.#direct?.bytes ?? 0) - this.#bytes)
    return new StreamedPart(this.#bucket.patience.idleMs, async (body, signal) =>
      streamPart(this.#bucket, await this.#uploading(), number, body, bytes, signal),
    )
  }

  /** The upload of now; begun with its first part. */
  #uploading(): Promise<Upload> {
    const { keys } = this.#bucket
    const key = this.#direct === null ? keys.staged(this.#id, this.#segments.length) : keys.blob(this.#direct.name)
    this.#upload ??= createUpload(this.#bucket, key).finally(() => this.#ended('stored'))
    return this.#upload
  }

  /** Sends the part in hand once the one before is there. */
  async #sendOn(): Promise<void> {
    await this.#sending
    this.#throwFailure()
    const part = this.#part
    if (part === undefined) return
    this.#part = undefined
    const etags = this.#etags
    const index = etags.length - 1
    this.#uploadBytes += part.bytes
    this.#sending = this.#uploading()
      .then(() => part.finish())
      .then(
        (etag) => {
          etags[index] = etag
        },
        (error: unknown) => {
          this.#failure ??= { error }
        },
      )
    if (this.#direct === null && etags.length === objectPartsMax) {
      await this.#sending
      this.#throwFailure()
      await this.#completeSegment()
    }
  }

  async #completeSegment(): Promise<void> {
    if (this.#upload === undefined) return
    const upload = await this.#upload
    const etag = await completeUpload(this.#bucket, upload, this.#etags, this.#uploadBytes)
    this.#segments.push({ key: upload.key, bytes: this.#uploadBytes, etag })
    this.#upload = undefined
    this.#etags = []
    this.#uploadBytes = 0
  }

  async #removeAll(): Promise<void> {
    const upload = await this.#upload?.catch(() => undefined)
    if (upload !== undefined) await abortUpload(this.#bucket, upload)
    if (this.#direct === null) await this.#removeSegments()
  }

  async #removeSegments(): Promise<void> {
    for (const { key } of this.#segments) await deleteObject(this.#bucket, key)
  }

  #mustBeWriting(): void {
    if (this.#state !== 'writing') throw new Error('this staged blob is published or given back')
    this.#throwFailure()
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }
}

/** To whoever writes one blob, an upload that was removed meanwhile is no lost assembly: sending it again mends it. */
const guardedFromSweep = <T>(run: () => Promise<T>): Promise<T> =>
  guarded(async () => {
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof AssemblyLost)) throw error
      throw new BlobStoreUnavailable('the upload of these bytes was removed from the object store', { cause: error })
    }
  })
