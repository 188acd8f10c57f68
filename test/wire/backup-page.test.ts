import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ask, closeConnections } from '../harness/client.ts'
import { type LoneService, startLoneService } from '../harness/lone-service.ts'
import { endProgramsAfterTests, listening, type Program, root, startSvc } from '../harness/processes.ts'
import { stepsOf } from './page.ts'
import { paste } from './pasting.ts'

endProgramsAfterTests()
after(closeConnections)

const path = '/api/v1/repositories/releases/raw/kept'

describe('a backup, as its page tells it', { timeout: 120_000 }, () => {
  let service: LoneService
  let vault: string
  before(async () => {
    vault = await mkdtemp(join(tmpdir(), 'svc-backup-page-'))
    await mkdir(join(vault, 'svc'))
    service = await startLoneService('backup-page', { SVC_BACKUP_VAULT: `file:${join(vault, 'svc')}` })
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
    assert.equal((await ask(address, { method: 'PUT', path, credential, body: 'kept' })).status, 201)

    const [making, planning, bringingBack, ...more] = stepsOf(
      readFileSync(join(root, 'docs/operating/backup.md'), 'utf8'),
    )
    assert.ok(making !== undefined && planning !== undefined && bringingBack !== undefined)
    assert.deepEqual(more, [])
    const terminal = {
      environment: settings,
      changed: (script: string): string =>
        script
          .replaceAll('/mnt/backup', vault)
          .replaceAll(/(?<![\w/])data\/config/g, join(dataDir, 'config'))
          .replaceAll('http://127.0.0.1:8080', address)
          .replace(/^npm start .*\n/m, '')
          .replaceAll(/(?:\.\/)?\brestored\b/g, join(folder, 'restored')),
    }
    await paste([making, planning], terminal)
    await stop(service.program)
    assert.match(bringingBack.commands, / && npm start\n$/)
    await paste([{ ...bringingBack, commands: bringingBack.commands.replace(/ && npm start\n$/, '\n') }], terminal)

    const restored = startSvc(['up'], { ...settings, SVC_DATA_DIR: join(folder, 'restored') })
    assert.equal((await ask(await listening(restored), { path, credential })).text, 'kept')
    await stop(restored)
  })
})
