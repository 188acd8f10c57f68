import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { appendedSegmentBytes } from '../kernel/limits/transfers.ts'
import { AssemblyLost, type BlobStore, type GrowingBlob, type Segment, unplanned } from './blob-store.ts'
import { get, inPieces, nameOf, rest, same, stagedIds } from './storing.suite.ts'

const sendSegment = async (growing: GrowingBlob, whole: Uint8Array, index: number): Promise<Segment> => {
  const slice = whole.subarray(index * appendedSegmentBytes, (index + 1) * appendedSegmentBytes)
  const part = await growing.writeSegment(index, {})
  for (const piece of inPieces(slice, 300_001)) await part.write(piece)
  return { index, bytes: slice.byteLength, receipt: await part.finish() }
}

const inOrder = async function* (segments: readonly Segment[]): AsyncGenerator<Segment> {
  yield* segments
}

/** What every blob store has to prove of blobs that grow at their end. `makeStore` as for the suite of blob stores. */
export const growingSuite = (name: string, makeStore: (t: TestContext) => Promise<BlobStore>): void => {
  describe(`${name}, of blobs that grow`, () => {
    const test = (does: string, run: (store: BlobStore) => Promise<void>): void => {
      it(does, async (t) => run(await makeStore(t)))
    }

    const begin = async (store: BlobStore): Promise<{ id: string; growing: GrowingBlob }> => {
      const id = randomUUID()
      const growing = store.growing(id)
      await growing.begin()
      return { id, growing }
    }

    test('gives a name to what came, and to nothing that broken tries left behind its end', async (store) => {
      for (const bytes of [
        randomBytes(3),
        randomBytes(appendedSegmentBytes),
        randomBytes(2 * appendedSegmentBytes + 7),
      ]) {
        const { id, growing } = await begin(store)
        const count = Math.ceil(bytes.byteLength / appendedSegmentBytes)
        const segments: Segment[] = []
        for (let index = 0; index < count; index++) segments.push(await sendSegment(growing, bytes, index))
        const broken = await growing.writeSegment(count - 1, {})
        await broken.write(Buffer.concat([bytes.subarray((count - 1) * appendedSegmentBytes).subarray(0, 1000)]))
        await broken.discard()
        const beyond = await growing.writeSegment(count, {})
        await beyond.write(randomBytes(1000))
        await beyond.finish()
        for (const segment of segments) {
          const start = segment.index * appendedSegmentBytes
          same(await rest(await growing.readSegment(segment)), bytes.subarray(start, start + segment.bytes))
        }
        assert.deepEqual([...new Set(await stagedIds(store))], [id])
        await store.growing(id).publish(nameOf(bytes), bytes.byteLength, inOrder(segments))
        same(await get(store, nameOf(bytes), { start: 0, end: bytes.byteLength }, bytes.byteLength), bytes)
        assert.equal(await store.size(nameOf(bytes)), bytes.byteLength)
        assert.deepEqual(await stagedIds(store), [])
      }
    })

    test('writes a longer segment in the place of a shorter one', async (store) => {
      const bytes = randomBytes(5000)
      const { growing } = await begin(store)
      const shorter = await sendSegment(growing, bytes.subarray(0, 1000), 0)
      const longer = await sendSegment(growing, bytes, 0)
      await growing.dropSegment(shorter)
      same(await rest(await growing.readSegment(longer)), bytes)
      await growing.publish(nameOf(bytes), bytes.byteLength, inOrder([longer]))
      same(await get(store, nameOf(bytes), { start: 0, end: 5000 }, 5000), bytes)
    })

    test('takes the place of what bears its name and has another length', async (store) => {
      const bytes = randomBytes(5000)
      const damaged = await store.stage(randomUUID(), unplanned)
      await damaged.write(randomBytes(10))
      await damaged.publish(nameOf(bytes))
      const { growing } = await begin(store)
      await growing.publish(nameOf(bytes), 5000, inOrder([await sendSegment(growing, bytes, 0)]))
      same(await get(store, nameOf(bytes), { start: 0, end: 5000 }, 5000), bytes)
      assert.deepEqual(await stagedIds(store), [])
    })

    test('takes no more than a segment holds', async (store) => {
      const { growing } = await begin(store)
      const part = await growing.writeSegment(0, {})
      for (const piece of inPieces(randomBytes(appendedSegmentBytes), 1_000_003)) await part.write(piece)
      await assert.rejects(part.write(Uint8Array.of(1)), RangeError)
      await part.discard()
    })

    test('says that it is lost once it was discarded', async (store) => {
      const bytes = randomBytes(1000)
      const { id, growing } = await begin(store)
      const segment = await sendSegment(growing, bytes, 0)
      await store.discardStaged(id)
      assert.deepEqual(await stagedIds(store), [])
      await assert.rejects(growing.readSegment(segment), AssemblyLost)
      await assert.rejects(growing.publish(nameOf(bytes), 1000, inOrder([segment])), AssemblyLost)
      assert.equal(await store.size(nameOf(bytes)), null)
    })
  })
}
