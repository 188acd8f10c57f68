import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ask, closeConnections } from '../harness/client.ts'
import { type LoneService, startLoneService } from '../harness/lone-service.ts'
import { endProgramsAfterTests, listening, type Program, root, startSvc } from '../harness/processes.ts'
import { until } from '../harness/until.ts'
import { stepsOf } from './page.ts'
import { paste } from './pasting.ts'

endProgramsAfterTests()
after(closeConnections)

const path = '/api/v1/repositories/releases/raw/kept'

/** The processes that try a restore beside the service with this data directory. */
const rehearsalsIn = (dataDir: string): string[] =>
  readdirSync('/proc').filter((id) => {
    try {
      const of = (name: string): string[] => readFileSync(`/proc/${id}/${name}`, 'utf8').split('\0')
      return of('cmdline').includes('rehearse') && of('environ').includes(`SVC_DATA_DIR=${dataDir}`)
    } catch {
      // No process, or one that has just ended.
      return false
    }
  })

describe('a backup, as its page tells it', { timeout: 120_000 }, () => {
  let service: LoneService
  let vault: string
  before(async () => {
    vault = await mkdtemp(join(tmpdir(), 'svc-backup-page-'))
    await mkdir(join(vault, 'svc'))
    service = await startLoneService('backup-page', {
      SVC_BACKUP_VAULT: `file:${join(vault, 'svc')}`,
      SVC_BACKUP_REHEARSE: 'monthly',
    })
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await rm(vault, { recursive: true })
  })

  const stop = async (program: Program): Promise<void> => {
    program.child.kill('SIGTERM')
    await program.ended
  }

  test('is made beside the service, brought up to date, and started from', async () => {
    const { address, dataDir, folder, settings } = service
    const credential = service.credential()
    const put = async (to: string): Promise<void> =>
      assert.equal((await ask(address, { method: 'PUT', path: to, credential, body: 'kept' })).status, 201)
    await put(path)
    await put('/api/v1/repositories/releases/raw/app/1.0.0/app.tar.gz')

    const [making, planning, trying, bringingBack, oneFile, oneRepository, ...more] = stepsOf(
      readFileSync(join(root, 'docs/operating/backup.md'), 'utf8'),
    )
    assert.ok(making && planning && trying && bringingBack && oneFile && oneRepository)
    assert.deepEqual(more, [])
    const terminal = {
      environment: settings,
      changed: (script: string): string =>
        script
          .replaceAll('/mnt/backup', vault)
          .replaceAll(/(?<![\w/])data\/config/g, join(dataDir, 'config'))
          .replaceAll('http://127.0.0.1:8080', address)
          .replace(/^npm start .*\n/m, '')
          .replaceAll(/(?:\.\/)?\brestored\b/g, join(folder, 'restored'))
          .replace('--output app.tar.gz', `--output ${join(folder, 'app.tar.gz')}`),
    }
    await paste([making, planning], terminal)
    await until('the agent has proven the point by restoring it', async () => {
      const { json: status } = await ask(address, { path: '/api/v1/backup/status', credential })
      assert.equal(status.rehearsalError, null)
      return status.lastProven !== null
    })
    const { printed } = await paste([trying, oneFile, oneRepository], terminal)
    assert.match(String(printed[2]), /svc grant <who> releases-of-may read\./)
    assert.equal(readFileSync(join(folder, 'app.tar.gz'), 'utf8'), 'kept')
    const { json } = await ask(address, { path: '/api/v1/access/repositories', credential })
    const ids = json.items.map(({ id }: { id: string }) => id)
    assert.ok(ids.includes('releases-of-may'), JSON.stringify(json))
    await stop(service.program)
    assert.match(bringingBack.commands, / && npm start\n$/)
    await paste([{ ...bringingBack, commands: bringingBack.commands.replace(/ && npm start\n$/, '\n') }], terminal)

    const restored = startSvc(['up'], { ...settings, SVC_DATA_DIR: join(folder, 'restored') })
    assert.equal((await ask(await listening(restored), { path, credential })).text, 'kept')
    // It has tried no restore yet and is about to; whether it is stopped before or meanwhile, nothing goes on.
    await stop(restored)
    assert.deepEqual(rehearsalsIn(join(folder, 'restored')), [])
    const again = startSvc(['up'], { ...settings, SVC_DATA_DIR: join(folder, 'restored') })
    await until('a restore is tried in a process of its own', () => rehearsalsIn(join(folder, 'restored')).length > 0)
    await stop(again)
    assert.deepEqual(rehearsalsIn(join(folder, 'restored')), [])
  })
})
