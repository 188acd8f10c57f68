import { randomUUID } from 'node:crypto'
import { appendedSegmentBytes } from '../../kernel/limits/transfers.ts'
import { AssemblyLost, type FinishedPart, type GrowingBlob } from '../../ports/blob-store.ts'
import type { Bucket } from './bucket.ts'
import { type Segment as CopiedSegment, copySegments } from './copying.ts'
import { emptyPlace } from './emptying.ts'
import { guarded } from './failures.ts'
import { mustBeStagedId } from './keys.ts'
import { deleteObject, objectBytes, putObject } from './objects.ts'
import { GatheredPart } from './part-bodies.ts'
import { lostIfMissing, PartOfObject, parseReceipt } from './part-of-object.ts'
import { openRange } from './reading.ts'

/*
 * A blob that grows is a row of loose objects, one for each segment, which publishing copies together under the final
 * key within the store. Every try at a segment has a key of its own, which its receipt names with its ETag: a request
 * that comes late changes nothing that anybody relies on (assembled-object.ts).
 *
 * A crash leaves loose objects, which `listStaged` shows under the id, and perhaps the whole under its name.
 */

export const growingObject = (bucket: Bucket, id: string): GrowingBlob => {
  mustBeStagedId(id)

  const objectOf = ({ index, receipt }: FinishedPart): { readonly key: string; readonly etag: string } => {
    const { loose, etag } = parseReceipt(receipt)
    if (loose === null || loose.attempt === null) throw new AssemblyLost(`segment ${index} is no object of its own`)
    return { key: bucket.keys.loose(id, index, loose.attempt), etag }
  }

  return {
    // Its objects make it.
    begin: async () => {},

    writeSegment: async (index) => {
      const attempt = randomUUID()
      const key = bucket.keys.loose(id, index, attempt)
      const body = new GatheredPart((bytes) => putObject(bucket, key, bytes))
      return new PartOfObject(bucket, body, { bytes: appendedSegmentBytes, attempt, key, mayBeShort: true })
    },

    readSegment: (segment) =>
      guarded(() =>
        lostIfMissing(() => openRange(bucket, objectOf(segment), { start: 0, end: segment.bytes }, segment.bytes)),
      ),

    dropSegment: (segment) => guarded(() => deleteObject(bucket, objectOf(segment).key)),

    publish: (name, bytes, segments) =>
      guarded(async () => {
        const copied: CopiedSegment[] = []
        for await (const segment of segments) copied.push({ ...objectOf(segment), bytes: segment.bytes })
        await mustBeThere(copied)
        await copySegments(bucket, copied, bucket.keys.blob(name))
        const found = await objectBytes(bucket, bucket.keys.blob(name))
        if (found !== bytes) throw new AssemblyLost(`the object store made ${found} bytes of ${bytes}`)
        // What is left is found by the sweep.
        await emptyPlace(bucket, id).catch(() => {})
      }),

    // What the store answered is durable.
    settleName: async () => {},
  }

  /** The first goes before the others when a place is emptied. */
  async function mustBeThere([first]: readonly CopiedSegment[]): Promise<void> {
    if (first === undefined) throw new RangeError('nothing is no blob that grew')
    if ((await objectBytes(bucket, first.key)) !== first.bytes)
      throw new AssemblyLost('the first segment of this blob is gone')
  }
}
