import { appendedSegmentBytes } from '../../kernel/limits/transfers.ts'
import type { GrowingBlob, Segment, StagedPart } from '../../ports/blob-store.ts'
import type { Lease } from './assembly.ts'

/** One segment being written, from its beginning; what was in it before is written first. */
export class SegmentWriter {
  readonly index: number
  /** The shorter one that this takes the place of. */
  readonly replaced: Segment | null
  /** Where the whole ends with what was written. */
  end: number
  readonly #part: StagedPart
  #isKept = false

  private constructor(part: StagedPart, index: number, replaced: Segment | null, end: number) {
    this.#part = part
    this.index = index
    this.replaced = replaced
    this.end = end
  }

  /** To go on behind so many bytes. */
  static async open(
    growing: GrowingBlob,
    before: Segment | null,
    stored: number,
    lease: Lease,
  ): Promise<SegmentWriter> {
    const index = Math.floor(stored / appendedSegmentBytes)
    const part = await growing.writeSegment(index, { mayWrite: () => lease.assertHeld() })
    try {
      // What is read is valid until the next piece is asked for; what is written belongs to the store.
      if (before !== null)
        for await (const piece of await growing.readSegment(before)) await part.write(Uint8Array.from(piece))
    } catch (error) {
      await part.discard()
      throw error
    }
    return new SegmentWriter(part, index, before, stored)
  }

  /** How much it still takes. */
  get roomBytes(): number {
    return (this.index + 1) * appendedSegmentBytes - this.end
  }

  async write(piece: Uint8Array): Promise<void> {
    this.end += piece.byteLength
    await this.#part.write(piece)
  }

  /** Resolves when it survives a power cut. */
  async finish(): Promise<{ readonly receipt: string; readonly end: number }> {
    return { receipt: await this.#part.finish(), end: this.end }
  }

  /** From here on its receipt may be in the database, whatever fails. */
  keep(): void {
    this.#isKept = true
  }

  /** Gives up, unless it may be recorded. */
  async discard(): Promise<void> {
    if (!this.#isKept) await this.#part.discard()
  }
}
