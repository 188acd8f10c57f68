import { CopyDamaged, copyIn, copyWholeIn, holdsWhole } from '../../../content/checks/copies.ts'
import type { FreeSpace } from '../../../content/ingest/free-space.ts'
import { installation, updateInstallation } from '../../../database/moving/installation.queries.ts'
import { atOnce } from '../../../kernel/at-once.ts'
import { Failure } from '../../../kernel/failure.ts'
import {
  importBlobsAtOnce,
  importBlobsBatch,
  importBytesBatch,
  importWholeBytes,
} from '../../../kernel/limits/engines.ts'
import type { BlobBatch, BlobStore } from '../../../ports/blob-store.ts'
import type { NamedBlob } from './named-blobs.ts'
import type { Progress } from './progress.ts'
import type { Restorable, StoringDeps } from './restorable.ts'
import { stillOurs } from './restore-rows.ts'

/** Copies what the store does not hold, and remembers now and then how far it is. */
export const restoreBlobs = async (from: Restorable, deps: StoringDeps, progress: Progress): Promise<void> => {
  const { database, store, reach } = deps
  const through = (await installation(database.reader)).imported_through
  // Whatever was there before has to be read; in a store that is empty nobody looks for each.
  const isEmpty = through === '' && (await holdsNothing(store))
  let batch: NamedBlob[] = []
  let [batchBytes, done] = [0, 0]
  let copying: Promise<void> = Promise.resolve()
  const copy = async (blob: NamedBlob, together: BlobBatch): Promise<void> => {
    // What is there may be from before a crash, or of another: it is as good as a copy if its bytes are right.
    if (isEmpty || !(await holdsWhole(store, blob))) await copyBlob(deps, from, blob, together)
    reach('import.blob')
    done += 1
    progress.tell(() => `${done} of ${from.counted.count} files stored`)
  }
  const copyAll = async (blobs: readonly NamedBlob[], through: string): Promise<void> => {
    const together = store.batch()
    await atOnce(blobs, importBlobsAtOnce, (blob) => copy(blob, together))
    // All of them are durable before anything says that they are there.
    await together.settle()
    await database.transaction(async (tx) => {
      await stillOurs(tx, from)
      await updateInstallation(tx, { imported_through: through })
    })
    reach('import.blobs')
  }
  /** Has the batch copied once the one before is; the next one is gathered meanwhile. */
  const flush = async (): Promise<void> => {
    await copying
    const last = batch.at(-1)
    if (last === undefined) return
    copying = copyAll(batch, last.digest)
    // Said by whoever waits for it.
    copying.catch(() => {})
    batch = []
    batchBytes = 0
  }
  try {
    for await (const blob of from.blobs()) {
      if (blob.digest <= through) {
        done += 1
        continue
      }
      batch.push(blob)
      batchBytes += blob.bytes
      if (batch.length >= importBlobsBatch || batchBytes >= importBytesBatch) await flush()
    }
    await flush()
  } finally {
    // Nothing is written any more once this is over, however it ends.
    await copying
  }
}

const holdsNothing = async (store: Pick<BlobStore, 'list'>): Promise<boolean> => {
  for await (const _ of store.list()) return false
  return true
}

const copyBlob = async (
  { store, freeSpace }: StoringDeps,
  from: Restorable,
  blob: NamedBlob,
  together: BlobBatch,
): Promise<void> => {
  await refuseUnlessStoreTakes(freeSpace, blob.bytes)
  try {
    if (blob.bytes < importWholeBytes) await from.wholeOf(blob, (whole) => copyWholeIn(together, blob, whole))
    else await copyIn(store, blob, from.bytesOf(blob))
  } catch (error) {
    if (error instanceof CopyDamaged) throw from.damaged(blob, error.message)
    throw error
  }
}

/** 507 with advice when the store has no room for so many bytes. */
export const refuseUnlessStoreTakes = async (freeSpace: FreeSpace, bytes: number): Promise<void> => {
  try {
    await freeSpace.refuseUnlessRoomFor(bytes)
  } catch (error) {
    if (!(error instanceof Failure && error.code === 'insufficient_space')) throw error
    throw new Failure(
      'insufficient_space',
      `The store has no room for the ${bytes} bytes that are to be copied there. ${error.message} Make room and go on with the same command.`,
      { cause: error },
    )
  }
}
