import { stat, statfs } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { BlobName } from '../../ports/blob-name.ts'
import { BlobMissing, type BlobStore } from '../../ports/blob-store.ts'
import { errorCode } from '../files/errors.ts'
import { assembledFile, beginAssembledFile } from './assembled-file.ts'
import { batchOfFiles } from './batch-of-files.ts'
import { shareDirectorySyncs } from './directory-syncs.ts'
import { guarded, storeFailure } from './failures.ts'
import { fileBytes } from './files.ts'
import { growingFile } from './growing-file.ts'
import { type Layout, layoutOf } from './layout.ts'
import { stagedRemains, storedBlobs } from './listing.ts'
import { namesOf } from './numbered-files.ts'
import { readOwner, writeOwner } from './owner-file.ts'
import { mustBePrepared, prepare, tryOut } from './preparing.ts'
import { openRange } from './reading.ts'
import { stageFile, unlinkIfThere } from './staged-file.ts'

/**
 * The blob store in a directory. Makes what is missing of `root` and `staging`.
 * Throws where they lie on different devices or cannot be written to. Any number of processes may open the same two.
 * One that only reads makes nothing and writes nothing: to it the device may be mounted read-only.
 */
export const openBlobDirectory = async (place: {
  root: string
  staging: string
  readOnly?: boolean
}): Promise<BlobStore> => {
  const layout = layoutOf(resolve(place.root), resolve(place.staging))
  const probe = place.readOnly === true ? () => mustBePrepared(layout) : () => tryOut(layout)
  await guarded(place.readOnly === true ? probe : () => prepare(layout))
  return storeIn(layout, () => guarded(probe))
}

const storeIn = (layout: Layout, probe: () => Promise<void>): BlobStore => {
  const directories = shareDirectorySyncs()
  const publishing = { layout, directories }

  /** A blob that is not there is missing only if its shard is there: a lost disk must not look like an empty one. */
  const mustHaveShard = async (name: BlobName): Promise<void> => {
    await stat(layout.shard(name))
  }

  const missing = async (name: BlobName, cause?: unknown): Promise<BlobMissing> => {
    await guarded(() => mustHaveShard(name))
    return new BlobMissing(`no blob ${name} is stored`, { cause })
  }

  return {
    stage: (id, plan) => guarded(() => stageFile(publishing, id, plan)),
    batch: () => batchOfFiles(publishing),

    readsParts: true,

    beginAssembly: (id, plan) =>
      guarded(async () => {
        await beginAssembledFile(publishing, id, plan)
        return id
      }),

    assembly: (place, plan) => assembledFile(publishing, place, plan),
    growing: (id) => growingFile(publishing, id),

    open: async (name, range, blobBytes) => {
      try {
        return await openRange(layout.blob(name), range, blobBytes)
      } catch (error) {
        if (errorCode(error) !== 'ENOENT') throw storeFailure(error)
        throw await missing(name, error)
      }
    },

    address: async () => null,

    file: async (name, blobBytes) => {
      const bytes = await guarded(() => fileBytes(layout.blob(name)))
      if (bytes === null) throw await missing(name)
      if (bytes !== blobBytes) throw new Error(`${layout.blob(name)} has ${bytes} bytes instead of ${blobBytes}`)
      return layout.blobBelow(name)
    },

    size: (name) =>
      guarded(async () => {
        const bytes = await fileBytes(layout.blob(name))
        if (bytes === null) await mustHaveShard(name)
        return bytes
      }),

    // Synced even if nothing was there: whoever removed it may have died before its sync.
    delete: (name) =>
      guarded(async () => {
        const wasThere = await unlinkIfThere(layout.blob(name))
        await directories.sync(layout.shard(name))
        return wasThere
      }),

    list: () => storedBlobs(layout),
    listStaged: () => stagedRemains(layout),

    discardStaged: (place) =>
      guarded(async () => {
        await unlinkIfThere(layout.staged(place))
        for await (const name of namesOf(layout, place)) await unlinkIfThere(`${layout.staging}/${name}`)
      }),

    owner: () => guarded(() => readOwner(layout)),
    sign: (owner) => guarded(() => writeOwner(layout, owner)),

    space: () =>
      guarded(async () => {
        const { bavail, blocks, bsize } = await statfs(layout.root)
        return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
      }),

    probe,
  }
}
