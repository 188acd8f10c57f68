import { CopyDamaged, copyIn, holdsWhole } from '../../../content/checks/copies.ts'
import type { FreeSpace } from '../../../content/ingest/free-space.ts'
import type { Database } from '../../../database/database.ts'
import { installation, updateInstallation } from '../../../database/moving/installation.queries.ts'
import { atOnce } from '../../../kernel/at-once.ts'
import { Failure } from '../../../kernel/failure.ts'
import type { ReachFaultPoint } from '../../../kernel/fault-points.ts'
import { exportBlobsAtOnce, importBlobsBatch, importBytesBatch } from '../../../kernel/limits/engines.ts'
import type { BlobStore } from '../../../ports/blob-store.ts'
import type { Vault } from '../../../ports/vault.ts'
import { blobInVault } from './layout.ts'
import type { NamedBlob } from './named-blobs.ts'
import type { OpenedExport } from './opened.ts'
import { ExportDamaged } from './pieces.ts'
import type { Progress } from './progress.ts'
import { stillOurs } from './restore-rows.ts'

export interface StoringDeps {
  readonly database: Database
  readonly store: BlobStore
  readonly freeSpace: FreeSpace
  readonly reach: ReachFaultPoint
}

/** Copies what the store does not hold, and remembers now and then how far it is. */
export const restoreBlobs = async (opened: OpenedExport, deps: StoringDeps, progress: Progress): Promise<void> => {
  const { database, store, reach } = deps
  const { manifest, vault } = opened
  const through = (await installation(database.reader)).imported_through
  let batch: NamedBlob[] = []
  let [batchBytes, done] = [0, 0]
  const copy = async (blob: NamedBlob): Promise<void> => {
    // What is there may be from before a crash, or of another: it is as good as a copy if its bytes are right.
    if (!(await holdsWhole(store, blob))) await copyBlob(deps, vault, blob)
    reach('import.blob')
    done += 1
    progress.tell(() => `${done} of ${manifest.blobs.count} files stored`)
  }
  const flush = async (): Promise<void> => {
    const last = batch.at(-1)
    if (last === undefined) return
    await atOnce(batch, exportBlobsAtOnce, copy)
    await database.transaction(async (tx) => {
      await stillOurs(tx, manifest)
      await updateInstallation(tx, { imported_through: last.digest })
    })
    reach('import.blobs')
    batch = []
    batchBytes = 0
  }
  for await (const blob of opened.blobs()) {
    if (blob.digest <= through) {
      done += 1
      continue
    }
    batch.push(blob)
    batchBytes += blob.bytes
    if (batch.length >= importBlobsBatch || batchBytes >= importBytesBatch) await flush()
  }
  await flush()
}

const copyBlob = async ({ store, freeSpace }: StoringDeps, vault: Vault, blob: NamedBlob): Promise<void> => {
  await refuseUnlessStoreTakes(freeSpace, blob.bytes)
  const name = blobInVault(blob.digest)
  try {
    await copyIn(store, blob, vault.open(name))
  } catch (error) {
    if (error instanceof CopyDamaged) throw new ExportDamaged(vault, name, error.message)
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
