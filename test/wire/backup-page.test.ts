import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ask, closeConnections } from '../harness/client.ts'
import {
  type Environment,
  endProgramsAfterTests,
  keyIn,
  listening,
  type Program,
  root,
  runProgram,
  settingsFor,
  startSvc,
} from '../harness/processes.ts'
import { stepsOf } from './page.ts'

endProgramsAfterTests()
after(closeConnections)

const path = '/api/v1/repositories/releases/raw/kept'

describe('a backup, as its page tells it', { timeout: 120_000 }, () => {
  let folder: string
  let service: Program
  let settings: Environment
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-backup-page-'))
    settings = settingsFor({ dataDir: join(folder, 'data') })
    service = startSvc(['up'], settings)
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const stop = async (program: Program): Promise<void> => {
    program.child.kill('SIGTERM')
    await program.ended
  }

  test('is made beside the service, brought up to date, and started from', async () => {
    const address = await listening(service)
    const credential = keyIn(join(folder, 'data'), 'bootstrap-token.txt')
    assert.equal((await ask(address, { method: 'PUT', path, credential, body: 'kept' })).status, 201)

    const steps = stepsOf(readFileSync(join(root, 'docs/operating/backup.md'), 'utf8'))
    const [making = '', bringingBack = ''] = steps.map(({ commands }) =>
      commands
        .replaceAll('/mnt/backup', join(folder, 'backup'))
        .replaceAll(/(?<![\w/])data\/config/g, join(folder, 'data/config'))
        .replaceAll(/(?:\.\/)?\brestored\b/g, join(folder, 'restored')),
    )
    assert.equal(steps.length, 2)
    const paste = async (script: string): Promise<void> => {
      const { code, stdout, stderr } = await runProgram('bash', ['-euo', 'pipefail', '-c', script], settings)
      assert.equal(code, 0, `${script}\n${stdout}${stderr}`)
    }
    await mkdir(join(folder, 'backup'))
    await paste(making)
    await stop(service)
    assert.match(bringingBack, /\nnpm start\n$/)
    await paste(bringingBack.replace(/npm start\n$/, ''))

    const restored = startSvc(['up'], { ...settings, SVC_DATA_DIR: join(folder, 'restored') })
    assert.equal((await ask(await listening(restored), { path, credential })).text, 'kept')
    await stop(restored)
  })
})
