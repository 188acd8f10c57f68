import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextRound } from 'node:timers/promises'
import { GroupSync } from './group-sync.ts'

/** A file whose syncs end when the test says so. */
class Disk {
  version_ = 1
  readonly syncs: PromiseWithResolvers<void>[] = []
  sync(): Promise<void> {
    const sync = Promise.withResolvers<void>()
    this.syncs.push(sync)
    return sync.promise
  }
  version(): number {
    return this.version_
  }
}

const setUp = async () => {
  const disk = new Disk()
  const group = new GroupSync(disk, (cause) => new Error('poisoned', { cause }))
  // The first one also covers what others left before we came.
  const first = group.durable()
  await nextRound()
  disk.syncs.shift()?.resolve()
  await first
  return { disk, group }
}

/** Whether a promise has settled, once everything that can happen has happened. */
const settledSoon = async (promise: Promise<void>): Promise<boolean> => {
  let settled = false
  promise.then(
    () => {
      settled = true
    },
    () => {
      settled = true
    },
  )
  await nextRound()
  await nextRound()
  return settled
}

describe('group sync', () => {
  it('answers at once when nothing was committed', async () => {
    const { disk, group } = await setUp()
    await group.durable()
    assert.equal(disk.syncs.length, 0)
  })

  it('serves all commits of one turn with one sync', async () => {
    const { disk, group } = await setUp()
    const waiting = [1, 2, 3].map(() => {
      group.committed()
      return group.durable()
    })
    await nextRound()
    assert.equal(disk.syncs.length, 1)
    disk.syncs[0]?.resolve()
    await Promise.all(waiting)
  })

  it('never lets a commit ride on a sync that began before it', async () => {
    const { disk, group } = await setUp()
    group.committed()
    const first = group.durable()
    await nextRound()
    group.committed()
    const second = group.durable()
    disk.syncs[0]?.resolve()
    await first
    assert.equal(await settledSoon(second), false)
    assert.equal(disk.syncs.length, 2)
    disk.syncs[1]?.resolve()
    await second
  })

  it('lets a reader of nothing newer join the running sync', async () => {
    const { disk, group } = await setUp()
    group.committed()
    const writer = group.durable()
    await nextRound()
    const reader = group.durable()
    assert.equal(await settledSoon(reader), false)
    disk.syncs[0]?.resolve()
    await Promise.all([writer, reader])
    assert.equal(disk.syncs.length, 1)
  })

  it('makes those wait who may have seen a relaxed commit, or one of another process', async () => {
    const { disk, group } = await setUp()
    group.committed()
    const afterRelaxed = group.durable()
    assert.equal(await settledSoon(afterRelaxed), false)
    disk.syncs[0]?.resolve()
    await afterRelaxed
    disk.version_++
    const afterForeign = group.durable()
    assert.equal(await settledSoon(afterForeign), false)
    assert.equal(disk.syncs.length, 2)
    disk.syncs[1]?.resolve()
    await afterForeign
    await group.durable()
    assert.equal(disk.syncs.length, 2)
  })

  it('fails for ever after a failed sync, without another try', async () => {
    const { disk, group } = await setUp()
    group.committed()
    const running = group.durable()
    await nextRound()
    group.committed()
    const waiting = group.durable()
    disk.syncs[0]?.reject(new Error('EIO'))
    await assert.rejects(running, /poisoned/)
    await assert.rejects(waiting, /poisoned/)
    await assert.rejects(group.durable(), /poisoned/)
    await nextRound()
    assert.equal(disk.syncs.length, 1)
    assert(group.failure !== undefined)
  })
})
