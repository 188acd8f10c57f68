import { AssemblyLost, type StagedPart } from '../../ports/blob-store.ts'
import { errorCode } from '../files/errors.ts'
import { guarded } from './failures.ts'
import { closeLater } from './files.ts'
import { type Course, GatheredWriter } from './gathered-writer.ts'
import type { LoneWriter } from './lone-writer.ts'

export const lostIfGone = (error: unknown): unknown =>
  errorCode(error) === 'ENOENT' ? new AssemblyLost('the file of this assembly is gone', { cause: error }) : error

export const whereThere = async <T>(run: () => Promise<T>): Promise<T> => {
  try {
    return await run()
  } catch (error) {
    throw lostIfGone(error)
  }
}

/** A part being written at its offset of a file that nobody else writes to (lone-writer.ts). */
export class PartOfFile implements StagedPart {
  readonly #opening: Promise<LoneWriter>
  readonly #writer: GatheredWriter
  readonly #bytes: number
  readonly #mayBeShort: boolean
  #writtenBytes = 0
  #state: 'writing' | 'ended' | 'closed' = 'writing'

  constructor(opening: Promise<LoneWriter>, course: Course & { readonly to: number; readonly mayBeShort?: boolean }) {
    this.#opening = opening
    const descriptor = opening.then((alone) => alone.descriptor)
    this.#writer = new GatheredWriter(descriptor, course)
    this.#bytes = course.to - course.from
    this.#mayBeShort = course.mayBeShort ?? false
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
      if (this.#writtenBytes !== this.#bytes && !this.#mayBeShort)
        throw new RangeError(`a part of ${this.#bytes} bytes is not complete`)
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
