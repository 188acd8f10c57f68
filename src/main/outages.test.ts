import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextRound } from 'node:timers/promises'
import { DatabaseUnavailable } from '../database/unavailable.ts'
import { Failure } from '../kernel/failure.ts'
import { BlobStoreUnavailable } from '../ports/blob-store.ts'
import { logTo } from './log.ts'
import { Outages } from './outages.ts'

const scene = () => {
  const lines: { level: string; msg: string; err?: unknown; why?: string }[] = []
  const works = { database: true, store: true, disk: true }
  const outages = new Outages(logTo({ write: (line) => void lines.push(JSON.parse(line)) }, 'info'))
  const look = (what: keyof typeof works) => async () => {
    if (!works[what]) throw what === 'disk' ? new Failure('insufficient_space', 'no room') : new Error('away')
  }
  const stop = outages.watch({ database: look('database'), store: look('store'), disk: look('disk') })
  return { lines, works, outages, stop, said: () => lines.map(({ level, msg }) => `${level} ${msg}`) }
}

describe('what is away', () => {
  it('is told once, whoever meets it, and what else fails is told with its stack', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { works, outages, said, lines, stop } = scene()
    works.store = false
    const gone = new BlobStoreUnavailable('no route')
    for (const part of ['one', 'two', 'three']) outages.report(`${part} failed`, new Error('In part.', { cause: gone }))
    outages.notice(gone)
    outages.report('another fault', new Error('a bug'))
    await nextRound()
    assert.deepEqual(said(), ['error another fault', 'error the blob store does not answer'])
    assert.ok(lines[0]?.err)
    assert.equal(lines[1]?.err, undefined)
    assert.equal(lines[1]?.why, 'In part: no route')
    works.store = true
    t.mock.timers.tick(1_000)
    await nextRound()
    assert.deepEqual(said().slice(2), ['warn the blob store answers again'])
    stop()
  })

  it('is not what one request met, when the rest works: that is told with its stack', async () => {
    const { outages, said, lines } = scene()
    outages.report('one thing failed', new DatabaseUnavailable('kept waiting'))
    await nextRound()
    assert.deepEqual(said(), ['error one thing failed'])
    assert.ok(lines[0]?.err)
  })

  it('may be the room on the disk, also before it is full to the last byte', async () => {
    const { works, outages, said } = scene()
    const refused = new Failure('insufficient_space', 'The disk would keep less than its reserve.')
    outages.notice(refused)
    await nextRound()
    assert.deepEqual(said(), [], 'a file that is too large for what is left')
    works.disk = false
    for (const _ of [1, 2]) outages.notice(refused)
    await nextRound()
    assert.deepEqual(said(), ['error the disk is full: nothing can be written'])
  })

  it('is told once when it goes and once when it is back, though nobody asks for anything meanwhile', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
    const { works, said, stop } = scene()
    const pass = async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 1_000) {
        t.mock.timers.tick(1_000)
        await nextRound()
      }
    }
    await pass(60_000)
    assert.deepEqual(said(), [])
    works.disk = false
    works.database = false
    await pass(60_000)
    const gone = ['error the database does not answer', 'error the disk is full: nothing can be written']
    assert.deepEqual(said().sort(), gone)
    works.disk = true
    works.database = true
    await pass(60_000)
    const back = ['warn the database answers again', 'warn there is room on the disk again']
    assert.deepEqual(said().slice(2).sort(), back)
    stop()
    works.store = false
    await pass(60_000)
    assert.equal(said().length, 4)
  })

  it('is never a request that was wrong', () => {
    const { outages, lines } = scene()
    outages.report('the job failed', new Failure('checksum_mismatch', 'The checksum differs.'))
    assert.deepEqual([lines[0]?.level, lines[0]?.err, lines[0]?.why], ['info', undefined, 'The checksum differs.'])
  })
})
