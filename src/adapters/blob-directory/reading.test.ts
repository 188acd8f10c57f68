import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { describe, it } from 'node:test'
import { readersAheadMax } from '../../kernel/limits/engines.ts'
import { readAheadBytes } from '../../kernel/limits/transfers.ts'
import { BlobStoreUnavailable } from '../../ports/blob-store.ts'
import { get, put } from '../../ports/storing.suite.ts'
import { openBlobDirectory } from './blob-directory.ts'
import { failure, openFilesUnder, scratch, until } from './scratch.suite.ts'

describe('reading', () => {
  it('gives an error of the disk as what it is, and closes', async (t) => {
    const place = scratch(t)
    const store = await openBlobDirectory(place)
    const name = await put(store, randomBytes(3 * readAheadBytes))
    const broken = t.mock.method(fs, 'read', (...given: unknown[]) => {
      const done = given.at(-1)
      if (typeof done === 'function') process.nextTick(done, failure('EIO'), 0)
    })
    for (const end of [1_000, 100_000, 3 * readAheadBytes]) {
      await assert.rejects(get(store, name, { start: 0, end }), BlobStoreUnavailable)
    }
    broken.mock.restore()
    await until(
      () => openFilesUnder(place).length === 0,
      () => `left open: ${openFilesUnder(place)}`,
    )
  })

  it('reads on where the system gave only a part', async (t) => {
    const store = await openBlobDirectory(scratch(t))
    const bytes = randomBytes(2 * readAheadBytes + 5)
    const name = await put(store, bytes)
    const read = fs.read
    type Read = (error: Error | null, bytes: number, buffer: Buffer) => void
    t.mock.method(
      fs,
      'read',
      (descriptor: number, into: Buffer, at: number, length: number, from: number, done: Read) =>
        read(descriptor, into, at, Math.min(length, 70_001), from, done),
    )
    assert.ok((await get(store, name, { start: 3, end: bytes.byteLength })).equals(bytes.subarray(3)))
  })

  it('refuses a second piece while the first is being read, and gives no buffer away that is in use', async (t) => {
    const store = await openBlobDirectory(scratch(t))
    const size = 4 * readAheadBytes
    const [one, other] = [randomBytes(size), randomBytes(size)]
    const digests = [await put(store, one), await put(store, other)] as const
    const left = await store.open(digests[0], { start: 0, end: size })
    const [{ value }] = await Promise.all([left.next(), assert.rejects(left.next(), /one piece at a time/)])
    await left.return?.()
    // A socket may still be sending the piece that a broken-off reader had.
    for (let again = 0; again < 4; again++) await get(store, digests[1], { start: 0, end: size })
    assert.ok(value !== undefined && one.subarray(0, readAheadBytes).equals(value))
  })

  it('closes only when no read is under way', async (t) => {
    const place = scratch(t)
    const store = await openBlobDirectory(place)
    const size = 2 * readAheadBytes
    const name = await put(store, randomBytes(size))
    const read = fs.read
    const release: (() => void)[] = []
    t.mock.method(fs, 'read', (...call: Parameters<typeof read>) => release.push(() => read(...call)))
    const close = t.mock.method(fs, 'close')
    const pieces = await store.open(name, { start: 0, end: size })
    const left = pieces.return?.()
    await store.space()
    assert.deepEqual([release.length, close.mock.callCount(), openFilesUnder(place).length], [1, 0, 1])
    for (const go of release) go()
    await left
    assert.deepEqual([release.length, close.mock.callCount()], [1, 1])
    await until(
      () => openFilesUnder(place).length === 0,
      () => `left open: ${openFilesUnder(place)}`,
    )
  })

  it('reads ahead while few read, and with many no sooner than asked, so that each holds one buffer', async (t) => {
    const store = await openBlobDirectory(scratch(t))
    const size = 4 * readAheadBytes
    const bytes = randomBytes(size)
    const name = await put(store, bytes)
    const reads = t.mock.method(fs, 'read')
    const readers: AsyncIterableIterator<Uint8Array>[] = []
    for (let index = 0; index <= readersAheadMax; index++) readers.push(await store.open(name, { start: 0, end: size }))
    const [first, last, ...others] = readers
    assert.ok(first !== undefined && last !== undefined)
    for (const reader of readers) await reader.next()
    assert.equal(reads.mock.callCount(), readers.length)
    const second = (await first.next()).value
    assert.equal(reads.mock.callCount(), readers.length + 1)
    assert.ok(second !== undefined && bytes.subarray(readAheadBytes, 2 * readAheadBytes).equals(second))
    await last.return?.()
    await first.next()
    assert.equal(reads.mock.callCount(), readers.length + 3, 'one that was asked for, one ahead')
    const { value } = await first.next()
    assert.ok(value !== undefined && bytes.subarray(3 * readAheadBytes).equals(value))
    assert.equal((await first.next()).done, true)
    assert.equal(reads.mock.callCount(), readers.length + 3)
    for (const reader of others) await reader.return?.()
  })

  it('uses its buffers again', async (t) => {
    const store = await openBlobDirectory(scratch(t))
    const size = 5 * readAheadBytes
    const name = await put(store, randomBytes(size))
    const ends = [100_000, 1, 2, 3, 4, 5].map((n) => (n < 10 ? n * readAheadBytes : n))
    for (const end of ends) await get(store, name, { start: 0, end })
    const made = t.mock.method(Buffer, 'allocUnsafeSlow')
    for (const end of [...ends, ...ends]) await get(store, name, { start: 0, end })
    assert.equal(made.mock.callCount(), 0)
  })
})
