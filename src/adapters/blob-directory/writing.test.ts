import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { describe, it } from 'node:test'
import { receiveSyncEveryBytes } from '../../kernel/limits/transfers.ts'
import { MiB } from '../../kernel/units.ts'
import { BlobStoreFull, BlobStoreUnavailable, unplanned } from '../../ports/blob-store.ts'
import { get, nameOf, put } from '../../ports/storing.suite.ts'
import { openBlobDirectory } from './blob-directory.ts'
import { failure, nameInShard, scratch, until } from './scratch.suite.ts'

describe('writing', () => {
  it('gathers without copying, half of the bound a call, and holds the sender back beyond it', async (t) => {
    const store = await openBlobDirectory(scratch(t))
    const staged = await store.stage(randomUUID(), unplanned)
    const write = fs.write
    let release: (() => void) | undefined
    t.mock.method(fs, 'write', (...call: Parameters<typeof write>) => {
      release = () => write(...call)
    })
    const writev = t.mock.method(fs, 'writev')
    const pieces = Array.from({ length: 17 }, () => randomBytes(64 * 1024))
    const whole = Buffer.concat(pieces)
    const [first, ...others] = pieces
    const last = others.pop()
    assert.ok(first !== undefined && last !== undefined)
    for (const piece of [first, ...others]) await staged.write(piece)
    let pending = true
    const held = staged.write(last).then(() => {
      pending = false
    })
    await store.probe()
    assert.ok(pending, `${17 * 64} KiB were taken while nothing could be written`)
    release?.()
    await held
    const name = nameOf(whole)
    await staged.publish(name)
    const gathered: unknown[][] = writev.mock.calls.map(({ arguments: [, sent] }) => [...sent])
    assert.deepEqual(
      gathered.map((sent) => sent.length),
      [8, 8],
    )
    assert.ok(gathered.flat().every((piece, n) => piece === pieces[n + 1]))
    assert.ok((await get(store, name, { start: 0, end: whole.byteLength })).equals(whole))
  })

  it('gives the memory of pieces back once they are written, unless they share it', async (t) => {
    const store = await openBlobDirectory(scratch(t))
    const staged = await store.stage(randomUUID(), unplanned)
    const whole = randomBytes(200_000)
    const own = Uint8Array.from(whole.subarray(0, 100_000))
    const shared = whole.subarray(100_000)
    await staged.write(own)
    await staged.write(shared)
    const name = nameOf(whole)
    await staged.publish(name)
    assert.deepEqual([own.byteLength, shared.byteLength], [0, 100_000])
    assert.ok((await get(store, name, { start: 0, end: whole.byteLength })).equals(whole))
  })

  it('writes on where the system took only a part', async (t) => {
    const store = await openBlobDirectory(scratch(t))
    const write = fs.write
    type Wrote = (error: Error | null, bytes: number, buffer: Buffer) => void
    const takes = (descriptor: number, piece: Buffer, offset: number, length: number, at: number, done: Wrote): void =>
      write(descriptor, piece, offset, Math.min(length, 1_000), at, done)
    t.mock.method(fs, 'write', takes)
    t.mock.method(fs, 'writev', (descriptor: number, pieces: Buffer[], at: number, done: Wrote) => {
      const both = Buffer.concat(pieces)
      write(descriptor, both, 0, Math.min(both.byteLength, 1_500), at, done)
    })
    const bytes = randomBytes(20_000)
    const name = await put(store, bytes, 700)
    assert.ok((await get(store, name, { start: 0, end: 20_000 })).equals(bytes))
  })

  it('syncs beside a long transfer', async (t) => {
    const store = await openBlobDirectory(scratch(t))
    const staged = await store.stage(randomUUID(), unplanned)
    const syncs = t.mock.method(fs, 'fdatasync')
    const pieces = (2.5 * receiveSyncEveryBytes) / MiB
    for (let n = 0; n < pieces; n++) await staged.write(Buffer.alloc(MiB))
    const beside = syncs.mock.callCount()
    await staged.publish(nameInShard('00'))
    assert.ok(beside >= 1 && beside <= 2)
    assert.equal(syncs.mock.callCount(), beside + 1)
  })

  it('syncs whenever half of what was to come has come, where it knows the end', async (t) => {
    const store = await openBlobDirectory(scratch(t))
    const plan = { name: nameInShard('00'), bytes: 16 * MiB, partBytes: 8 * MiB }
    const whole = await store.stage(randomUUID(), plan)
    const assembly = store.assembly(await store.beginAssembly(randomUUID(), plan), plan)
    const secondPart = await assembly.writePart(1, { readBack: false })
    const { write } = fs
    let writtenTo = 0
    type Wrote = (error: Error | null, bytes: number) => void
    const noting = (descriptor: number, sent: Buffer, offset: number, length: number, at: number, done: Wrote): void =>
      write(descriptor, sent, offset, length, at, (error, bytes) => {
        writtenTo = at + bytes
        done(error, bytes)
      })
    t.mock.method(fs, 'write', noting)
    const synced: number[] = []
    t.mock.method(fs, 'fdatasync', (_: number, done: (error: Error | null) => void) => {
      synced.push(writtenTo / MiB)
      process.nextTick(done, null)
    })
    /** One piece after the other, each when the one before is written. Where syncs began meanwhile, in MiB. */
    const fill = async (target: { write(piece: Uint8Array): Promise<void> }, from: number): Promise<number[]> => {
      synced.length = 0
      for (let at = from; at < plan.bytes; at += MiB / 2) {
        await target.write(Buffer.alloc(MiB / 2))
        await until(
          () => writtenTo === at + MiB / 2,
          () => `what comes at ${at} is not written`,
        )
      }
      return [...synced]
    }
    assert.deepEqual(await fill(whole, 0), [8, 12, 14, 15, 15.5, 16])
    assert.deepEqual(await fill(secondPart, plan.partBytes), [10, 12, 14, 15, 15.5, 16])
    await secondPart.finish()
    await whole.discard()
  })

  it('tells of a failure in the background at the next call, and publishes nothing', async (t) => {
    const store = await openBlobDirectory(scratch(t))
    for (const [call, code, kind] of [
      ['write', 'ENOSPC', BlobStoreFull],
      ['write', 'EDQUOT', BlobStoreFull],
      ['write', 'EIO', BlobStoreUnavailable],
      ['fdatasync', 'EIO', BlobStoreUnavailable],
    ] as const) {
      const staged = await store.stage(randomUUID(), unplanned)
      const broken = t.mock.method(fs, call, (...given: unknown[]) => {
        const done = given.at(-1)
        if (typeof done === 'function') process.nextTick(done, failure(code), 0)
      })
      const name = nameInShard('77')
      const fill = async (): Promise<void> => {
        for (let n = 0; n <= receiveSyncEveryBytes / MiB; n++) await staged.write(Buffer.alloc(MiB))
        await staged.publish(name)
      }
      await assert.rejects(fill, kind, `${call} ${code}`)
      broken.mock.restore()
      await assert.rejects(staged.publish(name))
      assert.equal(await store.size(name), null)
      await staged.discard()
    }
    assert.deepEqual(await Array.fromAsync(store.listStaged()), [])
  })

  it('ends a write that waits when the stage is discarded', async (t) => {
    const store = await openBlobDirectory(scratch(t))
    const staged = await store.stage(randomUUID(), unplanned)
    const waiting = assert.rejects(staged.write(Buffer.alloc(4 * MiB)).then(() => staged.write(Buffer.alloc(1))))
    await staged.discard()
    await waiting
  })
})
