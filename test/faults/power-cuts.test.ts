import assert from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ask, closeConnections, type Told } from '../harness/client.ts'
import {
  type Environment,
  endProgramsAfterTests,
  keyIn,
  listening,
  type Program,
  settingsFor,
  startSvc,
} from '../harness/processes.ts'
import { randomOf } from '../harness/random.ts'
import { MixedLoad, type Promised } from './mixed-load.ts'
import { ModelledDisk } from './modelled-disk.ts'
import { holdsItsPromises } from './power-cut-check.ts'
import { type Change, Recording } from './recorder.ts'
import { tellTried } from './tried.ts'
import { answerOrNone } from './uploads.ts'

/**
 * Plays power cuts on everything that a service keeps: its database, log, keys, bytes and the folders around them. A service
 * under a small load of everything that writes is recorded over several lives, of which one ends with SIGKILL and one with a
 * failed sync. Then, at moments all over the record, disks are made that a cut could have left (modelled-disk.ts), and the
 * service is started on each: the doctor finds no damage, and a reader finds everything that was answered by then.
 */
const rounds = Number(process.env['SVC_TEST_POWER_CUTS'] ?? 12)
const seed = process.env['SVC_TEST_SEED'] ?? 'power cuts'
/** Where folders are made and thrown away; memory if there is some, for they are many. */
const scratch = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

endProgramsAfterTests()
after(closeConnections)

/** A moment in words. */
const placeOf = (change: Change | undefined): string => {
  if (change?.kind === 'syncing') return 'as a sync begins'
  if (change?.kind === 'synced') return change.failed ? 'as a sync fails' : 'as a sync ends'
  return 'between syncs'
}

/** A service in a process of its own, recorded. */
class RecordedService {
  readonly dataDir: string
  readonly #recording: Recording
  #program: Program | undefined
  url = ''

  constructor(dataDir: string, recording: Recording) {
    this.dataDir = dataDir
    this.#recording = recording
  }

  get recoveryKey(): string {
    return keyIn(this.dataDir, 'bootstrap-token.txt')
  }

  ask(asked: Parameters<typeof ask>[1]): Promise<Told> {
    return ask(this.url, asked)
  }

  async start(settings: Environment = {}): Promise<void> {
    const environment = { SVC_CLEANUP_GRACE_HOURS: '0', ...this.#recording.environment, ...settings }
    this.#program = startSvc(['up'], settingsFor({ dataDir: this.dataDir }, environment))
    this.url = await listening(this.#program)
  }

  async end(signal: NodeJS.Signals | null): Promise<number | null> {
    if (signal !== null) this.#program?.child.kill(signal)
    return (await this.#program?.ended)?.code ?? null
  }
}

describe('a power cut', { timeout: Math.max(120_000, rounds * 3_000) }, () => {
  let folder: string
  let root: string
  let service: RecordedService
  let recording: Recording
  let load: MixedLoad
  let rootInode: bigint
  before(async () => {
    folder = await mkdtemp(join(scratch, 'svc-power-cuts-'))
    root = join(folder, 'disk')
    await mkdir(root)
    rootInode = statSync(root, { bigint: true }).ino
    recording = await Recording.of(root, join(folder, 'record'))
    service = new RecordedService(join(root, 'data'), recording)
    const promise = (promised: Promised): void => recording.mark(JSON.stringify(promised))
    load = new MixedLoad(service, promise)
    await service.start()
    await load.prepare()
    await load.run(3)
    const cut = answerOrNone(load.run(2))
    await service.end('SIGKILL')
    await cut
    await service.start()
    await load.run(2)
    recording.failSyncs('/svc.db-wal')
    await answerOrNone(load.run(1))
    assert.equal(await service.end(null), 74)
    recording.failSyncs(null)
    await service.start()
    await load.run(2)
    await service.end('SIGTERM')
  })
  after(() => rm(folder, { recursive: true, force: true }))

  /**
   * Moments all over the record, in order: a third of them where a sync ends or begins, and a third between the sync that failed
   * and the next answer, where the next process takes over what the system's memory shows and the disk may not have.
   */
  const moments = (changes: readonly Change[], random: () => number): number[] => {
    const syncs = [...changes.keys()].filter((at) => ['syncing', 'synced'].includes(changes[at]?.kind ?? ''))
    const failed = changes.findIndex((change) => change.kind === 'synced' && change.failed)
    const next = changes.findIndex((change, at) => at > failed && change.kind === 'mark')
    assert.ok(failed > 0 && next > failed)
    const places = [
      () => syncs[Math.floor(random() * syncs.length)] ?? 0,
      () => failed + Math.floor(random() * (next - failed)),
      () => Math.floor(random() * changes.length),
    ]
    return Array.from({ length: rounds }, (_, round) => places[round % places.length]?.() ?? 0).sort((a, b) => a - b)
  }
  const readers = { recoveryKey: () => service.recoveryKey, key: () => load.key }

  it('takes nothing that was answered, wherever it happens', async (t) => {
    const random = randomOf(seed)
    const changes = recording.changes()
    const disk = new ModelledDisk(root, rootInode)
    const promises = new Map<string, Promised>()
    const tried = new Map<string, number>()
    let played = 0
    for (const [round, moment] of moments(changes, random).entries()) {
      for (; played <= moment; played++) {
        const change = changes[played]
        if (change === undefined) break
        disk.play(change)
        if (change.kind !== 'mark') continue
        const promised: Promised = JSON.parse(change.text)
        promises.set(promised.place, promised)
      }
      const left = join(folder, `cut-${round}`)
      disk.cut(random, left)
      try {
        await holdsItsPromises(join(left, 'data'), promises, readers)
      } catch (error) {
        throw new Error(`seed ${seed}, round ${round}, after change ${moment} of ${changes.length}`, { cause: error })
      }
      await rm(left, { recursive: true })
      const where = placeOf(changes[moment])
      tried.set(where, (tried.get(where) ?? 0) + 1)
    }
    const result = 'nothing that was answered is lost, the doctor finds no damage'
    const what = 'power cut, with SQLite and a directory'
    tellTried(
      'power-cuts',
      [...tried].map(([where, count]) => ({ what, where, rounds: count, result })),
    )
    t.diagnostic(`${rounds} cuts in a record of ${changes.length} changes`)
  })

  it('is seen to take something when syncs of the log are ignored (the model can fail)', async () => {
    const changes = recording.changes()
    const disk = new ModelledDisk(root, rootInode)
    const promises = new Map<string, Promised>()
    const logs = new Set(changes.flatMap((each) => ('path' in each && each.path.endsWith('-wal') ? [each.inode] : [])))
    for (const change of changes) {
      if (change.kind === 'synced' && logs.has(change.inode)) continue
      disk.play(change)
      if (change.kind !== 'mark') continue
      const promised: Promised = JSON.parse(change.text)
      promises.set(promised.place, promised)
      // The last answer before the first life ends.
      if (promises.size > 20) break
    }
    const left = join(folder, 'ignored')
    // Nothing that is not durable arrives.
    disk.cut(() => 0.4, left)
    await assert.rejects(holdsItsPromises(join(left, 'data'), promises, readers), { name: 'AssertionError' })
  })
})
