import { truncate } from 'node:fs/promises'
import { appendedSegmentBytes, partSyncEveryBytes } from '../../kernel/limits/transfers.ts'
import { AssemblyLost, type GrowingBlob, type Segment } from '../../ports/blob-store.ts'
import { errorCode } from '../files/errors.ts'
import { guarded } from './failures.ts'
import { amongLarge, close, closeLater, create, fsync, fsyncDirectory } from './files.ts'
import { giveFinalName } from './final-name.ts'
import { openAlone } from './lone-writer.ts'
import { removeNumbers, withNewestFile } from './numbered-files.ts'
import { lostIfGone, PartOfFile, whereThere } from './part-of-file.ts'
import { openRange } from './reading.ts'
import type { Publishing } from './staged-file.ts'

/*
 * A blob that grows is one file, every segment at its offset, as that of an assembly (assembled-file.ts); it gets as
 * long as it gets. A segment that is written again begins with the bytes that it had: whenever that breaks off, they
 * are there.
 *
 * What tries left behind the end is cut off before the file gets its name. A write of somebody who took himself for the
 * holder of the lease may come later than that: so publishing has the file to itself first, like a try at a segment,
 * after which whoever writes finds another name on it and takes a copy (lone-writer.ts).
 */

export const growingFile = ({ layout, directories }: Publishing, id: string): GrowingBlob => {
  const path = layout.staged(id)

  const startOf = (index: number): number => {
    if (!Number.isSafeInteger(index) || index < 0) throw new RangeError(`no segment ${index}`)
    return index * appendedSegmentBytes
  }

  return {
    begin: () =>
      guarded(async () => {
        const descriptor = await create(path)
        try {
          await fsync(descriptor)
        } finally {
          await close(descriptor)
        }
        await fsyncDirectory(layout.staging)
      }),

    writeSegment: async (index, { mayWrite }) => {
      const from = startOf(index)
      const to = from + appendedSegmentBytes
      const opening = whereThere(() => openAlone(layout, id, mayWrite))
      return new PartOfFile(opening, { from, to, mayBeShort: true, syncEveryBytes: partSyncEveryBytes, mayWrite })
    },

    readSegment: ({ index, bytes }: Segment) =>
      guarded(() =>
        whereThere(() =>
          withNewestFile(layout, id, (file) =>
            openRange(file.path, { start: startOf(index), end: startOf(index) + bytes }, undefined),
          ),
        ),
      ),

    // It lies where the one lies that took its place.
    dropSegment: async () => {},

    publish: (name, bytes) =>
      guarded(async () => {
        const alone = await whereThere(() => openAlone(layout, id))
        const file = layout.numbered(id, alone.number)
        try {
          await whereThere(() => truncate(file, bytes))
          await amongLarge(() => fsync(alone.descriptor))
          await whereThere(() => alone.assertAlone())
          await giveFinalName(file, layout.blob(name), bytes).catch((error: unknown) => {
            throw errorCode(error) === 'EEXIST' ? new AssemblyLost(nameTaken, { cause: error }) : lostIfGone(error)
          })
        } finally {
          await alone.settled()
          closeLater(alone.descriptor)
        }
        await directories.sync(layout.shard(name))
        // Now that it is durable under this name.
        await removeNumbers(layout, id, alone.number)
      }),

    settleName: (name) => guarded(() => directories.settle(layout.shard(name))),
  }
}

const nameTaken = 'something bears the final name of this blob already'
