import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { sqliteLogKeptBytes } from '../../src/kernel/limits/engines.ts'
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
import { until } from '../harness/until.ts'
import { type Change, Recording, type Sync } from './recorder.ts'

endProgramsAfterTests()
after(closeConnections)

const raw = '/api/v1/repositories/releases/raw'

describe('syncs of a service on SQLite', { timeout: 120_000 }, () => {
  let folder: string
  let dataDir: string
  let recording: Recording
  let program: Program
  let url: string
  let files = 0
  const acknowledged: string[] = []
  const start = async (settings: Environment = {}): Promise<void> => {
    program = startSvc(['up'], settingsFor({ dataDir }, { ...recording.environment, ...settings }))
    url = await listening(program)
  }
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-syncs-'))
    dataDir = join(folder, 'data')
    recording = await Recording.of(dataDir, join(folder, 'record'))
    await start()
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const put = async (): Promise<Told> => {
    const path = `file-${++files}`
    const credential = keyIn(dataDir, 'bootstrap-token.txt')
    const told = await ask(url, { method: 'PUT', path: `${raw}/${path}`, credential, body: Buffer.from(path) })
    if (told.status === 201) acknowledged.push(path)
    return told
  }
  const metric = async (name: string): Promise<number> => {
    const told = await ask(url, { path: '/health/metrics', credential: keyIn(dataDir, 'health-token.txt') })
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(told.text)?.[1])
  }

  /** How often the log has begun anew: how often its header was written over the one before. */
  const beginnings = (changes: readonly Change[]): number => {
    const log = BigInt(statSync(join(dataDir, 'svc.db-wal')).ino)
    return changes.filter((change) => change.kind === 'written' && change.inode === log && change.at === 0).length
  }

  it('are never waited for by the event loop, and the log stays small however much is put', async () => {
    assert.equal((await put()).status, 201)
    program.child.kill('SIGTERM')
    await program.ended
    await start()
    recording.mark('started again')
    const sinceStart = (): Change[] => changesAfter('started again')
    await until('the log has begun anew twice', async () => {
      const told = await Promise.all(Array.from({ length: 100 }, put))
      for (const { status, text } of told) assert.equal(status, 201, text)
      return beginnings(sinceStart()) > 1
    })
    const syncs = sinceStart().filter((change): change is Sync => change.kind === 'syncing')
    const names = (some: readonly Sync[]): string[] => [...new Set(some.map(({ call }) => call))]
    assert.deepEqual(names(syncs).sort(), ['fdatasync', 'fsync'])
    assert.deepEqual(names(syncs.filter(({ process, thread }) => process === thread)), [])
    const length = await metric('svc_database_log_bytes')
    assert.ok(length > 0 && length <= 2 * sqliteLogKeptBytes, `${length} bytes of log`)
    assert.ok((await metric('svc_database_log_copied_timestamp_seconds')) > 0)
    assert.equal(await metric('svc_database_log_copy_failures_total'), 0)
  })

  /** Everything that was acknowledged is there. */
  const nothingIsLost = async (): Promise<void> => {
    for (const path of acknowledged) {
      const told = await ask(url, { path: `${raw}/${path}`, credential: keyIn(dataDir, 'bootstrap-token.txt') })
      assert.deepEqual([path, told.status, told.text], [path, 200, path])
    }
  }
  /** Puts until the service has ended by itself. */
  const putUntilItEnds = async (processes = 1): Promise<void> => {
    const over = { is: false }
    void program.ended.then(() => {
      over.is = true
    })
    await until('the service has ended', async () => {
      if (!over.is) await Promise.allSettled(Array.from({ length: 50 }, put))
      return over.is
    })
    assert.deepEqual(await program.ended, { code: 74, signal: null })
    const lines = program.stderr().split('\n')
    const said = lines.filter((line) => line.includes('Syncing the database to its disk failed')).length
    assert.ok(said >= 1 && said <= processes, program.stderr())
  }
  const changesAfter = (mark: string): Change[] => {
    const changes = recording.changes()
    return changes.slice(changes.findLastIndex((change) => change.kind === 'mark' && change.text === mark))
  }

  for (const [file, what] of [
    ['svc.db-wal', 'the log'],
    ['svc.db', 'the database file'],
  ] as const)
    it(`that fail on ${what} end the process, which leaves the database as it is; the next one makes the log durable first`, async () => {
      assert.equal((await put()).status, 201)
      recording.mark(`failing ${file}`)
      recording.failSyncs(`/${file}`)
      await putUntilItEnds()
      recording.failSyncs(null)
      const [database, log] = ['svc.db', 'svc.db-wal'].map((name) => BigInt(statSync(join(dataDir, name)).ino))
      const after = changesAfter(`failing ${file}`)
      const failed = after.findIndex((change) => change.kind === 'synced' && change.failed)
      const takenAway = after.slice(failed).filter((change) => change.kind === 'unlinked' && change.inode === log)
      assert.deepEqual(takenAway, [])
      const logBytes = statSync(join(dataDir, 'svc.db-wal')).size
      recording.mark(`after ${file}`)
      await start()
      const changes = changesAfter(`after ${file}`)
      const first = changes.findIndex((change) => change.kind === 'written' && change.inode === database)
      const before = changes.slice(0, first)
      const written = before.filter((change) => change.kind === 'written' && change.inode === log)
      assert.equal(
        written.reduce((sum, change) => sum + (change.kind === 'written' ? change.bytes.length : 0), 0),
        logBytes,
      )
      const synced = before.findIndex((change) => change.kind === 'synced' && change.inode === log && !change.failed)
      assert.ok(synced > before.findLastIndex((change) => change.kind === 'written' && change.inode === log))
      await nothingIsLost()
      assert.equal(existsSync(join(dataDir, 'svc.db-suspect')), false)
    })

  it('that fail in one of several gateway processes end them all', async () => {
    program.child.kill('SIGTERM')
    await program.ended
    await start({ SVC_PROCESSES: '2' })
    const children = readFileSync(`/proc/${program.pid}/task/${program.pid}/children`, 'utf8').trim().split(' ')
    assert.equal(children.length, 2)
    recording.failSyncs('/svc.db-wal')
    await putUntilItEnds(3)
    recording.failSyncs(null)
    await until('no process is left', () => children.every((pid) => !existsSync(`/proc/${pid}`)))
    await start()
    await nothingIsLost()
  })
})
