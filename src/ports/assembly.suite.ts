import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { digestOfName } from './blob-name.ts'
import { type Assembly, AssemblyLost, type BlobStore, type FinishedPart, unplanned } from './blob-store.ts'
import { all, get, inPieces, nameOf, rest, same, stagedIds } from './storing.suite.ts'

const partBytes = 8 * 1024 * 1024

/** Sends a part, in pieces that straddle whatever the store gathers. */
const sendPart = async (
  assembly: Assembly,
  whole: Uint8Array,
  index: number,
  readBack = true,
): Promise<FinishedPart> => {
  const part = await assembly.writePart(index, { readBack })
  for (const piece of inPieces(whole.subarray(index * partBytes, (index + 1) * partBytes), 300_001))
    await part.write(piece)
  return { index, receipt: await part.finish() }
}

const inOrder = async function* (parts: readonly FinishedPart[]): AsyncGenerator<FinishedPart> {
  yield* parts.toSorted((a, b) => a.index - b.index)
}

const begin = async (store: BlobStore, bytes: Uint8Array): Promise<{ place: string; assembly: Assembly }> => {
  const plan = { name: nameOf(bytes), bytes: bytes.byteLength, partBytes }
  const place = await store.beginAssembly(randomUUID(), plan)
  return { place, assembly: store.assembly(place, plan) }
}

/** What every blob store has to prove of blobs that come in parts. `makeStore` as for the suite of blob stores. */
export const assemblySuite = (name: string, makeStore: (t: TestContext) => Promise<BlobStore>): void => {
  describe(`${name}, of blobs in parts`, () => {
    const test = (does: string, run: (store: BlobStore) => Promise<void>): void => {
      it(does, async (t) => run(await makeStore(t)))
    }

    test('puts parts together, in whatever order they come', async (store) => {
      const bytes = randomBytes(3 * partBytes + 12_345)
      for (const order of [
        [0, 1, 2, 3],
        [3, 1, 0, 2],
      ]) {
        const { place, assembly } = await begin(store, bytes)
        const parts: FinishedPart[] = []
        for (const index of order) parts.push(await sendPart(assembly, bytes, index, order[0] !== 0))
        assert.equal(await store.size(nameOf(bytes)), null)
        assert.deepEqual([...new Set(await stagedIds(store))], [place])
        await assembly.publish(inOrder(parts))
        same(await get(store, nameOf(bytes), { start: 0, end: bytes.byteLength }, bytes.byteLength), bytes)
        assert.deepEqual(await stagedIds(store), [])
        await store.discardStaged(place)
        assert.equal(await store.delete(nameOf(bytes)), true)
      }
    })

    test('finds an assembly again by its place, as another process would', async (store) => {
      const bytes = randomBytes(partBytes + 1)
      const plan = { name: nameOf(bytes), bytes: bytes.byteLength, partBytes }
      const place = await store.beginAssembly(randomUUID(), plan)
      const last = await sendPart(store.assembly(place, plan), bytes, 1)
      const first = await sendPart(store.assembly(place, plan), bytes, 0)
      await store.assembly(place, plan).publish(inOrder([last, first]))
      same(await get(store, plan.name, { start: 0, end: plan.bytes }, plan.bytes), bytes)
    })

    test('lets a part be written anew until it counts', async (store) => {
      const bytes = randomBytes(partBytes + 70_000)
      const { assembly } = await begin(store, bytes)
      const begun = await assembly.writePart(0, { readBack: true })
      await begun.write(randomBytes(100_000))
      await Promise.all([begun.discard(), begun.discard()])
      await assert.rejects(begun.write(randomBytes(1)))
      await assert.rejects(begun.finish())
      await sendPart(assembly, randomBytes(bytes.byteLength), 1)
      const parts = [await sendPart(assembly, bytes, 0), await sendPart(assembly, bytes, 1)]
      await assembly.publish(inOrder(parts))
      same(await get(store, nameOf(bytes), { start: 0, end: bytes.byteLength }), bytes)
    })

    test('reads parts back, where it was asked to', async (store) => {
      const bytes = randomBytes(2 * partBytes + 9)
      const { place, assembly } = await begin(store, bytes)
      for (const index of [2, 0]) {
        const part = await sendPart(assembly, bytes, index)
        same(await rest(await assembly.readPart(part)), bytes.subarray(index * partBytes, (index + 1) * partBytes))
      }
      const unread = await sendPart(assembly, bytes, 1, false)
      if (store.readsParts) same(await rest(await assembly.readPart(unread)), bytes.subarray(partBytes, 2 * partBytes))
      await store.discardStaged(place)
      assert.deepEqual(await stagedIds(store), [])
    })

    test('takes no more into a part than it has, and no less', async (store) => {
      const bytes = randomBytes(partBytes + 10)
      const { assembly } = await begin(store, bytes)
      const long = await assembly.writePart(1, { readBack: false })
      await assert.rejects(async () => {
        await long.write(randomBytes(11))
        await long.finish()
      }, RangeError)
      await long.discard()
      const short = await assembly.writePart(1, { readBack: false })
      await short.write(randomBytes(9))
      await assert.rejects(short.finish(), RangeError)
      await short.discard()
      await assert.rejects(assembly.writePart(2, { readBack: false }), RangeError)
      await assert.rejects(assembly.writePart(-1, { readBack: false }), RangeError)
    })

    test('takes the place of what bears its name and has another length', async (store) => {
      const bytes = randomBytes(partBytes + 1)
      const damaged = await store.stage(randomUUID(), unplanned)
      await damaged.write(randomBytes(10))
      await damaged.publish(nameOf(bytes))
      const { assembly } = await begin(store, bytes)
      await assembly.publish(inOrder([await sendPart(assembly, bytes, 0), await sendPart(assembly, bytes, 1)]))
      same(await get(store, nameOf(bytes), { start: 0, end: bytes.byteLength }), bytes)
      assert.deepEqual(await stagedIds(store), [])
    })

    test('says that an assembly is lost, also where it is published', async (store) => {
      const bytes = randomBytes(partBytes + 1)
      const { place, assembly } = await begin(store, bytes)
      const parts = [await sendPart(assembly, bytes, 0), await sendPart(assembly, bytes, 1)]
      await store.discardStaged(place)
      await store.discardStaged(place)
      await assert.rejects(sendPart(assembly, bytes, 0, false), AssemblyLost)
      for (const part of parts) await assert.rejects(assembly.readPart(part), AssemblyLost)
      await assert.rejects(assembly.publish(inOrder(parts)), AssemblyLost)
      assert.equal(await store.size(nameOf(bytes)), null)

      const again = await begin(store, bytes)
      const sent = [await sendPart(again.assembly, bytes, 0), await sendPart(again.assembly, bytes, 1)]
      await again.assembly.publish(inOrder(sent))
      for (const part of sent) await assert.rejects(again.assembly.readPart(part), AssemblyLost)
      await assert.rejects(again.assembly.publish(inOrder(sent)), AssemblyLost)
      await again.assembly.settleName()
      same(await get(store, nameOf(bytes), { start: 0, end: bytes.byteLength }), bytes)
    })

    test('shows an abandoned assembly with its parts, and removes it', async (store) => {
      const bytes = randomBytes(2 * partBytes)
      const { place, assembly } = await begin(store, bytes)
      await sendPart(assembly, bytes, 0, false)
      await sendPart(assembly, bytes, 1, true)
      const remains = await all(store.listStaged())
      assert.ok(remains.some((each) => each.place === place))
      for (const { digest } of remains) assert.ok(digest === null || digest === digestOfName(nameOf(bytes)))
      for (const each of remains) await store.discardStaged(each.place)
      assert.deepEqual(await stagedIds(store), [])
      assert.deepEqual(await all(store.list()), [])
    })
  })
}
