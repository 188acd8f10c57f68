import { truncate } from 'node:fs/promises'
import { partSyncEveryBytes } from '../../kernel/limits/transfers.ts'
import { type Assembly, AssemblyLost, type AssemblyPlan, type StagedPart } from '../../ports/blob-store.ts'
import { errorCode } from '../files/errors.ts'
import { guarded } from './failures.ts'
import { amongLarge, close, closeLater, create, fileBytes, fsync, fsyncDirectory, link, openToWrite } from './files.ts'
import { type Course, GatheredWriter } from './gathered-writer.ts'
import { type LoneWriter, openAlone } from './lone-writer.ts'
import { type NumberedFile, removeNumbers, withNewestFile } from './numbered-files.ts'
import { openRange } from './reading.ts'
import type { Publishing } from './staged-file.ts'

/*
 * A blob in parts is one file of its final length from the start, every part written at its offset: nothing is ever put
 * together. Holes take no room. While a part is written the file has one more name (lone-writer.ts).
 *
 * Promise: a part that is finished survives a power cut, and so does the file that it is in. Order: make the file, give
 * it its length, fsync it and its directory -> for each part: write, fdatasync -> link into its shard, fsync the shard,
 * remove it from staging. A link and no rename: it takes no other's place, however late it comes. A crash leaves a staged file
 * with the finished parts in place. One after the link leaves the complete blob: publishing again says that the assembly is
 * lost, since whoever else publishes the same bytes writes to that name, too.
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
    await link(file.path, layout.blob(plan.name))
    return file
  }

  /** A later number may have come to be after publishing, late, with less in it. The first one never does. Others publish, too. */
  async function assertNoRemains(number: number): Promise<void> {
    if (plan.verified && number > 1 && (await isPublished())) throw new AssemblyLost('this assembly is published')
  }

  async function isPublished(): Promise<boolean> {
    return (await fileBytes(layout.blob(plan.name))) === plan.bytes
  }
}

const nameTaken = 'something bears the final name of this assembly already'

const lostIfGone = (error: unknown): unknown =>
  errorCode(error) === 'ENOENT' ? new AssemblyLost('the file of this assembly is gone', { cause: error }) : error

const whereThere = async <T>(run: () => Promise<T>): Promise<T> => {
  try {
    return await run()
  } catch (error) {
    throw lostIfGone(error)
  }
}

class PartOfFile implements StagedPart {
  readonly #opening: Promise<LoneWriter>
  readonly #writer: GatheredWriter
  readonly #bytes: number
  #writtenBytes = 0
  #state: 'writing' | 'ended' | 'closed' = 'writing'

  constructor(opening: Promise<LoneWriter>, course: Course & { readonly to: number }) {
    this.#opening = opening
    const descriptor = opening.then((alone) => alone.descriptor)
    this.#writer = new GatheredWriter(descriptor, course)
    this.#bytes = course.to - course.from
    // The first write tells of it, if there is one.
    descriptor.catch(() => {})
  }

  write(piece: Uint8Array): Promise<void> {
    return guarded(async () => {
      this.#mustBeWriting()
      // The next byte belongs to the next part, which may be finished.
      this.#writtenBytes += piece.byteLength
      if (this.#writtenBytes > this.#bytes) throw new RangeError(`a part of ${this.#bytes} bytes takes no more`)
      await this.#writer.write(piece)
    })
  }

  finish(): Promise<string> {
    return guarded(async () => {
      this.#mustBeWriting()
      this.#state = 'ended'
      if (this.#writtenBytes !== this.#bytes) throw new RangeError(`a part of ${this.#bytes} bytes is not complete`)
      await Promise.all([this.#writer.finish(), this.#writer.written().then(() => this.#giveBackWhole())])
      this.#close()
      return ''
    })
  }

  discard(): Promise<void> {
    return guarded(async () => {
      if (this.#state === 'closed') return
      this.#state = 'ended'
      this.#writer.drop()
      await this.#writer.settled()
      await this.#giveBack()
      this.#close()
    })
  }

  /** No write is under way any more. Throws where what was written may not be in the file that is read. */
  async #giveBackWhole(): Promise<void> {
    const alone = await this.#opening
    try {
      await whereThere(() => alone.assertAlone())
    } finally {
      await alone.settled()
    }
  }

  /** No write is under way any more. */
  async #giveBack(): Promise<void> {
    const alone = await this.#opening.catch(() => null)
    await alone?.settled()
  }

  /** What was written is durable by now, or thrown away: nothing depends on when it closes. */
  #close(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#opening.then(({ descriptor }) => closeLater(descriptor)).catch(() => {})
  }

  #mustBeWriting(): void {
    if (this.#state !== 'writing') throw new Error('this part is finished or given back')
  }
}
