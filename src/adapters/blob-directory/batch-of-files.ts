import type { BlobBatch } from '../../ports/blob-store.ts'
import { guarded } from './failures.ts'
import { close, create, fdatasync, rename, writeFully } from './files.ts'
import { type Publishing, unlinkIfThere } from './staged-file.ts'

/**
 * Order, for each file: write everything -> fdatasync -> close -> rename into its shard; then, for all of them, fsync
 * of every shard that got one (I3). A crash in between leaves what one in the middle of publishing leaves.
 */
export const batchOfFiles = ({ layout, directories }: Publishing): BlobBatch => {
  const shards = new Set<string>()

  const write = async (path: string, bytes: Uint8Array): Promise<void> => {
    const descriptor = await create(path)
    try {
      if (bytes.byteLength > 0) await writeFully(descriptor, [bytes], 0)
      await fdatasync(descriptor)
    } finally {
      await close(descriptor)
    }
  }

  return {
    put: (id, name, bytes) =>
      guarded(async () => {
        const path = layout.staged(id)
        try {
          await write(path, bytes)
          await rename(path, layout.blob(name))
        } catch (error) {
          await unlinkIfThere(path)
          throw error
        }
        shards.add(layout.shard(name))
      }),

    settle: () =>
      guarded(async () => {
        await Promise.all([...shards].map((shard) => directories.sync(shard)))
      }),
  }
}
