import { digestOfName } from '../../ports/blob-name.ts'
import type { BlobStore, StagedBlob, StagedRemains, StagingPlan } from '../../ports/blob-store.ts'
import { assembledObject, beginAssembledObject } from './assembled-object.ts'
import { type Bucket, bucketAt, lookAt, type ObjectPlace, type Patience, patience } from './bucket.ts'
import { emptyPlace } from './emptying.ts'
import { guarded } from './failures.ts'
import { growingObject } from './growing-object.ts'
import { mustBeStagedId, parsePlace } from './keys.ts'
import { stagedRemains, storedBlobs, uploadsBelow } from './listing.ts'
import { deleteObject, objectBytes } from './objects.ts'
import { readOwner, writeOwner } from './owner-object.ts'
import { presigned } from './presigned.ts'
import { openRange } from './reading.ts'
import { StagedObject } from './staged-object.ts'
import { abortUpload } from './uploads.ts'

/**
 * The blob store in a bucket of an object store. Makes nothing, and throws where the bucket does not answer, in words
 * that say what to do. Any number of processes may open the same bucket and prefix.
 */
export const openBlobS3 = async (place: ObjectPlace, waits: Partial<Patience> = {}): Promise<BlobStore> => {
  const bucket = bucketAt(place, { ...patience, ...waits })
  await guarded(() => lookAt(bucket))
  return storeIn(bucket)
}

const storeIn = (bucket: Bucket): BlobStore => {
  const { keys } = bucket
  /** Staged blobs of this process of which the store has nothing yet: their bytes, if any, are in memory. */
  const inMemory = new Map<string, StagedRemains>()

  const stage = async (id: string, plan: StagingPlan): Promise<StagedBlob> => {
    mustBeStagedId(id)
    if (inMemory.has(id)) throw new Error(`the id ${id} is in use`)
    inMemory.set(id, {
      place: id,
      digest: plan.name === null ? null : digestOfName(plan.name),
      modifiedAtMs: Date.now(),
    })
    return new StagedObject(bucket, id, plan, () => inMemory.delete(id))
  }

  return {
    readsParts: false,

    stage,

    // Every object is durable by itself: nothing is left to settle.
    batch: () => ({
      put: async (id, name, bytes) => {
        const staged = await stage(id, { name, bytes: bytes.byteLength })
        try {
          await staged.write(bytes)
          await staged.publish(name)
        } finally {
          await staged.discard()
        }
      },
      settle: async () => {},
    }),

    beginAssembly: (id, plan) =>
      guarded(async () => {
        mustBeStagedId(id)
        return beginAssembledObject(bucket, plan)
      }),

    assembly: (place, plan) => assembledObject(bucket, place, plan),
    growing: (id) => growingObject(bucket, id),

    open: (name, range, blobBytes) =>
      guarded(() => openRange(bucket, { key: keys.blob(name), etag: null }, range, blobBytes)),

    address: (name, as) => guarded(() => presigned(bucket, keys.blob(name), as)),

    file: async () => null,

    size: (name) => guarded(() => objectBytes(bucket, keys.blob(name))),

    // The answer to a deletion does not say whether there was anything.
    delete: (name) =>
      guarded(async () => {
        const wasThere = (await objectBytes(bucket, keys.blob(name))) !== null
        if (wasThere) await deleteObject(bucket, keys.blob(name))
        return wasThere
      }),

    list: () => storedBlobs(bucket),

    async *listStaged() {
      yield* [...inMemory.values()]
      yield* stagedRemains(bucket)
    },

    discardStaged: (place) =>
      guarded(async () => {
        const parsed = parsePlace(place)
        if (parsed.kind === 'upload')
          await abortUpload(bucket, { key: keys.blob(parsed.name), uploadId: parsed.uploadId })
        else {
          inMemory.delete(place)
          for await (const upload of uploadsBelow(bucket, keys.inPlace(place))) await abortUpload(bucket, upload)
        }
        await emptyPlace(bucket, place)
      }),

    owner: () => readOwner(bucket),
    sign: (owner) => writeOwner(bucket, owner),

    space: async () => null,

    probe: () => guarded(() => lookAt(bucket)),
  }
}
