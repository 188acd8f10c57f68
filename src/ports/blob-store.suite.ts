import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { readAheadBytes } from '../kernel/limits/transfers.ts'
import { KiB, MiB } from '../kernel/units.ts'
import { BlobMissing, type BlobStore, unplanned } from './blob-store.ts'
import { all, get, nameOf, put, rest, same, stagedIds } from './storing.suite.ts'

const ahead = readAheadBytes

/** Around everything that an adapter may do differently: nothing, its small reads, one piece, several, very many. */
const sizes = [
  ...[0, 1, 4 * KiB, 64 * KiB - 1, 64 * KiB, 64 * KiB + 1],
  ...[ahead - 1, ahead, ahead + 1, 2 * ahead - 1, 2 * ahead, 2 * ahead + 1, 3 * ahead, 5 * ahead + 7],
  ...[8 * MiB, 64 * MiB + 12_345],
]

/**
 * What every blob store has to prove. `makeStore` gives an empty one and undoes it with `t.after`. `heldBytesMax`
 * bounds what one transfer may hold in memory, the test's own pieces and what the collector is late with included.
 */
export const blobStoreSuite = (
  name: string,
  makeStore: (t: TestContext) => Promise<BlobStore>,
  heldBytesMax = 48 * MiB,
): void => {
  describe(`${name} as a blob store`, () => {
    const test = (does: string, run: (store: BlobStore) => Promise<void>): void => {
      it(does, async (t) => run(await makeStore(t)))
    }

    test('gives back what was put in, of any size', async (store) => {
      for (const size of sizes) {
        const bytes = randomBytes(size)
        const name = await put(store, bytes, size > MiB ? 300_001 : 64 * KiB)
        assert.equal(await store.size(name), size)
        same(await get(store, name, { start: 0, end: size }), bytes)
        same(await get(store, name, { start: 0, end: size }, size), bytes)
      }
    })

    test('takes what is known beforehand as it takes the rest', async (store) => {
      for (const size of [0, 1, 100_000, 8 * MiB, 20 * MiB + 1]) {
        for (const known of ['name', 'bytes', 'both'] as const) {
          const bytes = randomBytes(size)
          const name = known === 'bytes' ? null : nameOf(bytes)
          await put(store, bytes, 300_001, { name, bytes: known === 'name' ? null : size })
          same(await get(store, nameOf(bytes), { start: 0, end: size }, size), bytes)
        }
      }
      assert.deepEqual(await stagedIds(store), [])
    })

    test('takes many at once, which stay when they are settled', async (store) => {
      const batch = store.batch()
      const many = [0, 1, 64 * KiB, 300_001, MiB].map((size) => randomBytes(size))
      await Promise.all(many.map((bytes) => batch.put(randomUUID(), nameOf(bytes), Uint8Array.from(bytes))))
      await batch.settle()
      for (const bytes of many) same(await get(store, nameOf(bytes), { start: 0, end: bytes.byteLength }), bytes)
      assert.deepEqual(await stagedIds(store), [])
      // One that is there already is replaced by the same bytes.
      const again = store.batch()
      for (const bytes of many) await again.put(randomUUID(), nameOf(bytes), Uint8Array.from(bytes))
      await again.settle()
      for (const bytes of many) same(await get(store, nameOf(bytes), { start: 0, end: bytes.byteLength }), bytes)
    })

    test('gives any range', async (store) => {
      const bytes = randomBytes(3 * ahead + 17)
      const name = await put(store, bytes)
      const edge = fc.oneof(
        fc.nat(bytes.byteLength),
        fc.constantFrom(0, 1, 64 * KiB, ahead - 1, ahead, ahead + 1, 2 * ahead, bytes.byteLength),
      )
      await fc.assert(
        fc.asyncProperty(edge, edge, fc.boolean(), async (one, other, told) => {
          const range = { start: Math.min(one, other), end: Math.max(one, other) }
          const got = await get(store, name, range, told ? bytes.byteLength : undefined)
          same(got, bytes.subarray(range.start, range.end))
        }),
        { numRuns: 60 },
      )
    })

    test('refuses a range that is none', async (store) => {
      const name = await put(store, randomBytes(10))
      await assert.rejects(store.open(name, { start: -1, end: 5 }), RangeError)
      await assert.rejects(store.open(name, { start: 5, end: 4 }), RangeError)
      await assert.rejects(store.open(name, { start: 0, end: Number.NaN }), RangeError)
    })

    test('never passes off a shorter blob as whole', async (store) => {
      for (const size of [0, 10, 64 * KiB, ahead, 2 * ahead + 5]) {
        const name = await put(store, randomBytes(size))
        await assert.rejects(get(store, name, { start: 0, end: size + 1 }))
        await assert.rejects(get(store, name, { start: 0, end: size + 1 }, size + 1))
        await assert.rejects(get(store, name, { start: 0, end: size + 2 * ahead }))
      }
      const name = await put(store, randomBytes(100))
      await assert.rejects(get(store, name, { start: 0, end: 99 }, 99), /100 bytes instead of 99/)
    })

    test('says before anything is sent that a blob is missing', async (store) => {
      const name = nameOf(randomBytes(1))
      for (const end of [0, 1, 64 * KiB + 1, ahead, 4 * ahead]) {
        await assert.rejects(store.open(name, { start: 0, end }), BlobMissing)
        await assert.rejects(store.open(name, { start: 0, end }, end), BlobMissing)
      }
      assert.equal(await store.size(name), null)
    })

    test('shows nothing before it is published, and the stage no more after', async (store) => {
      const bytes = randomBytes(100_000)
      const id = randomUUID()
      const staged = await store.stage(id, unplanned)
      await staged.write(Uint8Array.from(bytes))
      assert.equal(await store.size(nameOf(bytes)), null)
      await assert.rejects(store.open(nameOf(bytes), { start: 0, end: 1 }), BlobMissing)
      assert.deepEqual(await all(store.list()), [])
      assert.deepEqual(await stagedIds(store), [id])

      await staged.publish(nameOf(bytes))
      assert.deepEqual(await all(store.list()), [{ name: nameOf(bytes), bytes: 100_000 }])
      assert.deepEqual(await stagedIds(store), [])
    })

    test('forgets what is discarded, however often and late', async (store) => {
      const staged = await store.stage(randomUUID(), unplanned)
      await staged.write(randomBytes(200_000))
      await Promise.all([staged.discard(), staged.discard()])
      await staged.discard()
      assert.deepEqual(await stagedIds(store), [])
      await assert.rejects(staged.write(randomBytes(1)))
      await assert.rejects(staged.publish(nameOf(randomBytes(1))))
      assert.deepEqual(await all(store.list()), [])
    })

    test('keeps a blob whose stage is discarded after it was published', async (store) => {
      const staged = await store.stage(randomUUID(), unplanned)
      const bytes = randomBytes(1000)
      await staged.write(Uint8Array.from(bytes))
      await staged.publish(nameOf(bytes))
      await staged.discard()
      same(await get(store, nameOf(bytes), { start: 0, end: 1000 }), bytes)
      await assert.rejects(staged.write(bytes))
    })

    test('lets the same content be published many times at once', async (store) => {
      const bytes = randomBytes(ahead + 3)
      await Promise.all(Array.from({ length: 8 }, () => put(store, bytes)))
      assert.deepEqual(await all(store.list()), [{ name: nameOf(bytes), bytes: bytes.byteLength }])
      assert.deepEqual(await stagedIds(store), [])
      same(await get(store, nameOf(bytes), { start: 0, end: bytes.byteLength }), bytes)
    })

    test('does not disturb a reader by publishing the same blob again', async (store) => {
      const bytes = randomBytes(4 * ahead + 1)
      const name = await put(store, bytes)
      const reader = await store.open(name, { start: 0, end: bytes.byteLength })
      const first = await reader.next()
      const begin = first.done ? Buffer.alloc(0) : Buffer.from(first.value)
      await put(store, bytes)
      same(Buffer.concat([begin, await rest(reader)]), bytes)
    })

    test('keeps a piece as it is until the next one is asked for', async (store) => {
      const blobs = [randomBytes(4 * ahead), randomBytes(4 * ahead)]
      // Two slow consumers at once: a buffer that is filled too early, or by the other's read, would show.
      await Promise.all(
        blobs.map(async (bytes) => {
          let at = 0
          for await (const piece of await store.open(await put(store, bytes), { start: 0, end: bytes.byteLength })) {
            for (let look = 0; look < 20; look++) {
              await new Promise(setImmediate)
              same(piece, bytes.subarray(at, at + piece.byteLength))
            }
            at += piece.byteLength
          }
          assert.equal(at, bytes.byteLength)
        }),
      )
    })

    test('can be left early, at any piece', async (store) => {
      const size = 5 * ahead
      const name = await put(store, randomBytes(size))
      for (let taken = 0; taken <= 5; taken++) {
        const reader = await store.open(name, { start: 0, end: size })
        for (let piece = 0; piece < taken; piece++) assert.equal((await reader.next()).done, false)
        await Promise.all([reader.return?.(), reader.return?.()])
        assert.equal((await reader.next()).done, true)
      }
      const reader = await store.open(name, { start: 0, end: size })
      const asked = reader.next()
      await reader.return?.()
      await asked
      assert.equal((await reader.next()).done, true)
    })

    test('shows an abandoned stage and removes it', async (store) => {
      const ids = [randomUUID(), randomUUID()].sort()
      for (const id of ids) await (await store.stage(id, unplanned)).write(randomBytes(1000))
      const remains = await all(store.listStaged())
      assert.deepEqual(remains.map(({ place }) => place).sort(), ids)
      for (const { modifiedAtMs } of remains)
        assert.ok(Math.abs(Date.now() - modifiedAtMs) < 3_600_000, `modified at ${modifiedAtMs}`)
      for (const id of [...ids, ...ids]) await store.discardStaged(id)
      assert.deepEqual(await stagedIds(store), [])
    })

    test('refuses ids that are none', async (store) => {
      const inParts = { name: nameOf(randomBytes(1)), bytes: 1, partBytes: 8 * MiB }
      for (const id of ['', '.', '..', '../x', 'a/b', 'a\\b', 'A', 'a\0', 'a.b', '-a', 'a-', 'é', 'a'.repeat(65)]) {
        await assert.rejects(store.stage(id, unplanned), RangeError, id)
        await assert.rejects(store.beginAssembly(id, inParts), RangeError, id)
        await assert.rejects(store.discardStaged(id), RangeError, id)
      }
    })

    test('deletes for good', async (store) => {
      const bytes = randomBytes(1000)
      const name = await put(store, bytes)
      assert.equal(await store.delete(name), true)
      assert.equal(await store.delete(name), false)
      assert.equal(await store.size(name), null)
      await assert.rejects(store.open(name, { start: 0, end: 1000 }, 1000), BlobMissing)
      await put(store, bytes)
      same(await get(store, name, { start: 0, end: 1000 }, 1000), bytes)
    })

    test('takes and lists many at once, each once', async (store) => {
      const blobs = Array.from({ length: 200 }, (_, n) => randomBytes(n * 997))
      const digests = await Promise.all(blobs.map((bytes) => put(store, bytes, 10_007)))
      const expected = blobs.map((bytes, n) => `${digests[n]} ${bytes.byteLength}`).sort()
      assert.deepEqual((await all(store.list())).map(({ name, bytes }) => `${name} ${bytes}`).sort(), expected)
      await Promise.all(
        blobs.map(async (bytes) => same(await get(store, nameOf(bytes), { start: 0, end: bytes.byteLength }), bytes)),
      )
      for await (const _ of store.list()) break
    })

    test('holds back a sender that is faster than the store', async (store) => {
      setFlagsFromString('--expose-gc')
      const collect: () => void = runInNewContext('gc')
      const staged = await store.stage(randomUUID(), unplanned)
      collect()
      const before = process.memoryUsage().arrayBuffers
      for (let written = 0; written < 256; written++) {
        await staged.write(Buffer.alloc(MiB, written))
        if (written % 32 !== 31) continue
        collect()
        const heldBytes = process.memoryUsage().arrayBuffers - before
        assert.ok(heldBytes < heldBytesMax, `${heldBytes} bytes held after ${written + 1} MiB`)
      }
      await staged.discard()
    })

    test('answers how much room there is, and that it is there', async (store) => {
      await store.probe()
      const space = await store.space()
      if (space === null) return
      assert.ok(space.freeBytes >= 0 && space.totalBytes >= space.freeBytes)
    })
  })
}
