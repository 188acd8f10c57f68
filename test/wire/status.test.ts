import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ask, closeConnections } from '../harness/client.ts'
import { startPostgres } from '../harness/postgres.ts'
import {
  endProgramsAfterTests,
  keyIn,
  listening,
  ownService,
  runSvc,
  settingsFor,
  startSvc,
} from '../harness/processes.ts'
import { until } from '../harness/until.ts'

endProgramsAfterTests()
after(closeConnections)

describe('svc status', { timeout: 120_000 }, () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-status-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  test('says on one screen how the service is, and all processes that share the port count', async () => {
    const dataDir = join(folder, 'several')
    const settings = settingsFor({ dataDir }, { SVC_PROCESSES: '2', SVC_DOWNLOAD_SLOTS: '10' })
    const program = startSvc(['up'], settings)
    const address = await listening(program)
    const on = { ...settings, ...ownService(address) }
    const { code, stdout, stderr } = await runSvc(['status'], on)
    assert.equal(code, 0, stderr)
    for (const line of [
      /^service +svc \S+ at http:\S+, up since 20\S+Z, 2 processes$/m,
      /^engines +SQLite, a directory$/m,
      /^ready +yes$/m,
      /^writable +yes$/m,
      /^space +0 B published, 0 B of 10 TiB reserved; .+ free/m,
      /^uploads +0 under way, 0 sessions open$/m,
      /^downloads +0 under way, 0 of 10 slots taken, 0 wait$/m,
      /^jobs +0 open, 0 failed within a day$/m,
      /^upkeep /m,
    ])
      assert.match(stdout, line)
    const told = JSON.parse((await runSvc(['status', '--json'], on)).stdout)
    assert.deepEqual([told.ready, told.processes, told.database, told.store], [true, 2, 'sqlite', 'directory'])
    const ready = await ask(address, { path: '/health/ready', credential: keyIn(dataDir, 'health-token.txt') })
    assert.equal(ready.json.transfers.downloads.admission.slots, 10)
    program.child.kill('SIGTERM')
    await program.ended
    const gone = await runSvc(['status'], on)
    assert.equal(gone.code, 5)
    assert.match(gone.stderr, /Nothing runs at http/)
  })

  test('says what keeps the service from working, with an exit code of its own', async () => {
    const server = await startPostgres()
    const dataDir = join(folder, 'postgres')
    const settings = settingsFor({ dataDir, databaseUrl: await server.createDatabase() })
    const program = startSvc(['up'], settings)
    const address = await listening(program)
    const on = { ...settings, ...ownService(address) }
    try {
      assert.equal((await runSvc(['status'], on)).code, 0)
    } finally {
      await server.stop()
    }
    const told = await until('it is told', async () => {
      const end = await runSvc(['status'], on)
      return end.code === 6 && end
    })
    assert.match(told.stdout, /^ready +NO: The database does not answer\.$/m)
    assert.match(told.stdout, /^jobs +unknown open/m)
    const { text } = await ask(address, { path: '/health/metrics', credential: keyIn(dataDir, 'health-token.txt') })
    assert.match(text, /^svc_database_up 0$/m)
    program.child.kill('SIGKILL')
    await program.ended
  })
})
