import { truncate } from 'node:fs/promises'
import { partSyncEveryBytes } from '../../kernel/limits/transfers.ts'
import { type Assembly, AssemblyLost, type AssemblyPlan } from '../../ports/blob-store.ts'
import { errorCode } from '../files/errors.ts'
import { guarded } from './failures.ts'
import { amongLarge, close, create, fileBytes, fsync, fsyncDirectory, openToWrite } from './files.ts'
import { giveFinalName } from './final-name.ts'
import { openAlone } from './lone-writer.ts'
import { type NumberedFile, removeNumbers, withNewestFile } from './numbered-files.ts'
import { lostIfGone, PartOfFile, whereThere } from './part-of-file.ts'
import { openRange } from './reading.ts'
import type { Publishing } from './staged-file.ts'

/*
 * A blob in parts is one file of its final length from the start, every part written at its offset: nothing is ever put
 * together. Holes take no room. While a part is written the file has one more name (lone-writer.ts).
 *
 * Promise: a part that is finished survives a power cut, and so does the file that it is in. Order: make the file, give
 * it its length, fsync it and its directory -> for each part: write, fdatasync -> link into its shard, fsync the shard,
 * remove it from staging. A link and no rename: it takes no other's place, however late it comes, but that of a file
 * which is damaged (final-name.ts). A crash leaves a staged file with the finished parts in place. One after the link
 * leaves the complete blob: publishing again says that the assembly is lost, since whoever else publishes the same
 * bytes writes to that name, too.
 */

export const beginAssembledFile = async ({ layout }: Publishing, id: string, plan: AssemblyPlan): Promise<void> => {
  const path = layout.staged(id)
  const descriptor = await create(path)
  try {
    await truncate(path, plan.bytes)
    await fsync(descriptor)
  } finally {
    await close(descriptor)
  }
  await fsyncDirectory(layout.staging)
}

export const assembledFile = (publishing: Publishing, id: string, plan: AssemblyPlan): Assembly => {
  const { layout, directories } = publishing

  const offsetsOf = (index: number): { start: number; end: number } => {
    const start = index * plan.partBytes
    if (!Number.isSafeInteger(index) || index < 0 || start >= plan.bytes) throw new RangeError(`no part ${index}`)
    return { start, end: Math.min(start + plan.partBytes, plan.bytes) }
  }

  return {
    // The file is opened while the first bytes come.
    writePart: async (index, { mayWrite }) => {
      const { start, end } = offsetsOf(index)
      const opening = whereThere(() => openAlone(layout, id, mayWrite))
      return new PartOfFile(opening, { from: start, to: end, syncEveryBytes: partSyncEveryBytes, mayWrite })
    },

    readPart: ({ index }) =>
      guarded(() =>
        whereThere(() =>
          withNewestFile(layout, id, async ({ path, number }) => {
            await assertNoRemains(number)
            return openRange(path, offsetsOf(index), undefined)
          }),
        ),
      ),

    publish: () =>
      guarded(async () => {
        const { number } = await withNewestFile(layout, id, giveName).catch((error: unknown) => {
          throw errorCode(error) === 'EEXIST' ? new AssemblyLost(nameTaken, { cause: error }) : lostIfGone(error)
        })
        await directories.sync(layout.shard(plan.name))
        // Now that it is durable under this name.
        await removeNumbers(layout, id, number)
      }),

    settleName: () => guarded(() => directories.settle(layout.shard(plan.name))),
  }

  async function giveName(file: NumberedFile): Promise<NumberedFile> {
    const descriptor = await openToWrite(file.path)
    try {
      await amongLarge(() => fsync(descriptor))
    } finally {
      await close(descriptor)
    }
    await giveFinalName(file.path, layout.blob(plan.name), plan.bytes)
    return file
  }

  /**
   * A later number may have come to be after publishing, late, with less in it. The first one never does. Others
   * publish, too.
   */
  async function assertNoRemains(number: number): Promise<void> {
    if (plan.verified && number > 1 && (await isPublished())) throw new AssemblyLost('this assembly is published')
  }

  async function isPublished(): Promise<boolean> {
    return (await fileBytes(layout.blob(plan.name))) === plan.bytes
  }
}

const nameTaken = 'something bears the final name of this assembly already'
