import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { inspect } from 'node:util'
import { closeConnections } from '../harness/client.ts'
import { endProgramsAfterTests, programOf, runProgram } from '../harness/processes.ts'
import { randomOf } from '../harness/random.ts'
import type { Chance } from './modelled-disk.ts'
import type { Play } from './power-cut-player.ts'
import { RecordOfLives } from './record-of-lives.ts'
import type { Change } from './recorder.ts'
import { failuresIn } from './replay.ts'
import { tellTried } from './tried.ts'
import { answerOrNone } from './uploads.ts'

/**
 * Plays power cuts on everything that a service keeps: its database, log, keys, bytes and the folders around them. A
 * service under a small load of everything that writes is recorded over several lives, of which one ends with SIGKILL
 * and two with a failed sync. Then, at moments all over the record, disks are made that a cut could have left
 * (modelled-disk.ts), and the service is started on each: the doctor finds no damage, and a reader finds everything
 * that was answered by then.
 *
 * SVC_TEST_POWER_CUTS says how many; SVC_TEST_SEED makes others. What was recorded and played is kept for a look when
 * something is lost.
 */
const rounds = Number(process.env['SVC_TEST_POWER_CUTS'] ?? 60)
const seed = process.env['SVC_TEST_SEED'] ?? 'power cuts'
/** Where folders are made and thrown away; memory if there is some, for they are many. */
const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
const player = join(import.meta.dirname, 'power-cut-player.ts')
const trusting = programOf(join(import.meta.dirname, 'svc-that-trusts-its-log.ts'))

/** Of everything that is in doubt. */
const nothingArrives = (): number => 0.4
/** As the first answer: it is up to the following ones. */
const some = 0.9

/** Something that was promised is not there, or SQLite cannot read what is. */
const isLoss = (error: unknown): boolean =>
  error instanceof assert.AssertionError || /malformed|not a database/.test(inspect(error))

endProgramsAfterTests()
after(closeConnections)

describe('a power cut', { timeout: 240_000 + rounds * 2_000 }, () => {
  let scratch: string
  let record: RecordOfLives
  let isWhole = true
  before(async () => {
    scratch = await mkdtemp(join(memory, 'svc-power-cuts-'))
    record = await RecordOfLives.begin(scratch)
    const { service, load } = record
    await service.start()
    await load.prepare()
    await load.run(3)
    const cut = answerOrNone(load.run(2))
    await service.end('SIGKILL')
    await cut
    await service.start()
    await load.run(2)
    await record.failsToSync()
    await service.start()
    await load.run(1)
    await service.end('SIGTERM')
    // With next to nothing in the log.
    await service.start()
    await record.failsToSync()
    await service.start()
    await load.run(1)
    await service.end('SIGTERM')
  })
  after(() => (isWhole ? rm(scratch, { recursive: true, force: true }) : undefined))

  it('takes nothing that was answered, wherever it happens', async (t) => {
    const parts = availableParallelism()
    const { recorded, recording, readers } = record
    const play = { ...recorded, inode: String(recorded.inode), record: recording.path, ...readers, seed, rounds, parts }
    const ended = await Promise.all(
      Array.from({ length: parts }, (_, part) =>
        runProgram(process.execPath, [player, JSON.stringify({ ...play, part } satisfies Play)]),
      ),
    )
    isWhole = ended.every(({ code }) => code === 0)
    const tried = new Map<string, number>()
    for (const { code, stdout, stderr } of ended) {
      assert.equal(code, 0, stderr)
      const counts: Record<string, number> = JSON.parse(stdout)
      for (const [where, count] of Object.entries(counts)) tried.set(where, (tried.get(where) ?? 0) + count)
    }
    const result = 'nothing that was answered is lost, the doctor finds no damage'
    const what = 'power cut, with SQLite and a directory'
    tellTried(
      `power-cuts-${seed.replaceAll(/\W+/g, '-')}`,
      [...tried].map(([where, count]) => ({ what, where, rounds: count, result })),
    )
    t.diagnostic(`${rounds} cuts in a record of ${recording.changes().length} changes`)
  })

  /** Files that ever had such a name. */
  const inodesOf = (changes: readonly Change[], name: RegExp): Set<bigint> =>
    new Set(changes.flatMap((change) => ('path' in change && name.test(change.path) ? [change.inode] : [])))

  /** The last answer before the first life ends. */
  const firstAnswers = (changes: readonly Change[]): number =>
    [...changes.keys()].filter((at) => changes[at]?.kind === 'mark')[20] ?? 0

  it('is seen to take something when syncs of the log are ignored (the model can fail)', async () => {
    const changes = record.recording.changes()
    const logs = inodesOf(changes, /-wal$/)
    const ignored = (change: Change): boolean => change.kind === 'synced' && logs.has(change.inode)
    await assert.rejects(record.holdsAfterCut(firstAnswers(changes), nothingArrives, ignored), isLoss)
  })

  it('is seen to take something when the folders of bytes are not synced', async () => {
    const changes = record.recording.changes()
    const shards = inodesOf(changes, /\/blobs\/..$/)
    const ignored = (change: Change): boolean => change.kind === 'synced' && shards.has(change.inode)
    await assert.rejects(record.holdsAfterCut(firstAnswers(changes), nothingArrives, ignored), isLoss)
  })

  it('is seen to break the database when a log is copied that was not written again after a failed sync', async () => {
    const changes = record.recording.changes()
    const logs = inodesOf(changes, /-wal$/)
    const databases = inodesOf(changes, /svc\.db$/)
    const failed = failuresIn(changes).at(-1)?.failed ?? 0
    const after = (from: number, found: (change: Change) => boolean): number =>
      changes.findIndex((change, at) => at > from && found(change))
    const begins = after(failed, (change) => change.kind === 'written' && change.at === 0 && logs.has(change.inode))
    const ends = after(begins, (change) => change.kind === 'synced' && logs.has(change.inode))
    const copied = after(ends, (change) => change.kind === 'syncing' && databases.has(change.inode))
    assert.ok(begins > failed && ends > begins && copied > ends)
    const ignored = (change: Change, at: number): boolean =>
      at >= begins && at <= ends && 'inode' in change && logs.has(change.inode)
    // Of the database file some sectors have arrived, in one way or another; of the log nothing that was not promised.
    const torn = (way: number): Chance => {
      const random = randomOf(`torn ${way}`)
      let asked = 0
      return (path) => (path.endsWith('/svc.db') ? (asked++ === 0 ? some : random()) : nothingArrives())
    }
    let way = 0
    const inAnyWay = async (): Promise<void> => {
      for (; way < 20; way++) await record.holdsAfterCut(copied, torn(way), ignored)
    }
    await assert.rejects(inAnyWay, isLoss)
    await record.holdsAfterCut(copied, torn(way))
  })

  it('is seen to take something when a log that a failed sync has left is taken for what the disk holds', async () => {
    const other = await RecordOfLives.begin(join(scratch, 'trusting'))
    const { service, load, recording } = other
    await service.start()
    await load.prepare()
    await other.failsToSync()
    await service.start(trusting)
    await load.run(1)
    await service.end('SIGKILL')
    await assert.rejects(other.holdsAfterCut(recording.changes().length, nothingArrives), isLoss)
  })
})
