import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { freeSpaceBelievedMs } from '../../kernel/limits/transfers.ts'
import type { BlobStore } from '../../ports/blob-store.ts'
import { watchFreeSpace } from './free-space.ts'

const reserve = 1000

/** A disk and a clock that do as they are told. */
const scene = () => {
  const disk: { freeBytes: number | null; looks: number; now: number } = { freeBytes: 5000, looks: 0, now: 0 }
  const space: BlobStore['space'] = async () => {
    disk.looks += 1
    return disk.freeBytes === null ? null : { freeBytes: disk.freeBytes, totalBytes: 10_000 }
  }
  const clock = { now: () => disk.now }
  return { disk, freeSpace: watchFreeSpace({ space }, clock, reserve) }
}

const full = { code: 'insufficient_space', status: 507 }

describe('free space', () => {
  it('is what the reserve leaves, to the byte', async () => {
    const { disk, freeSpace } = scene()
    await freeSpace.refuseUnlessRoomFor(4000)
    await assert.rejects(freeSpace.refuseUnlessRoomFor(4001), full)
    assert.equal(await freeSpace.writable(), true)
    disk.now += freeSpaceBelievedMs
    disk.freeBytes = reserve
    assert.equal(await freeSpace.writable(), true)
    await freeSpace.refuseUnlessRoomFor(0)
    await assert.rejects(freeSpace.refuseUnlessRoomFor(1), full)
    disk.now += freeSpaceBelievedMs
    disk.freeBytes = reserve - 1
    assert.equal(await freeSpace.writable(), false)
    await assert.rejects(freeSpace.refuseUnlessRoomFor(0), full)
  })

  it('is looked at once a second, however often it is asked for, and at once when the clock was put back', async () => {
    const { disk, freeSpace } = scene()
    for (let times = 0; times < 3; times++) await freeSpace.refuseUnlessRoomFor(1)
    assert.equal(disk.looks, 1)
    disk.now += freeSpaceBelievedMs - 1
    await freeSpace.writable()
    assert.equal(disk.looks, 1)
    disk.now += 1
    await freeSpace.writable()
    assert.equal(disk.looks, 2)
    disk.now -= 1
    await freeSpace.writable()
    assert.equal(disk.looks, 3)
  })

  it('is endless where the store has no such notion', async () => {
    const { disk, freeSpace } = scene()
    disk.freeBytes = null
    assert.equal(await freeSpace.writable(), true)
    await freeSpace.refuseUnlessRoomFor(Number.MAX_SAFE_INTEGER)
  })
})
