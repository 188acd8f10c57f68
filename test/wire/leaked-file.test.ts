import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ask, closeConnections } from '../harness/client.ts'
import {
  askDoctor,
  type Environment,
  endProgramsAfterTests,
  keyIn,
  listening,
  type Program,
  root,
  runProgram,
  settingsFor,
  startSvc,
  svcFile,
} from '../harness/processes.ts'
import { until } from '../harness/until.ts'
import { likeThePage, stepsOf } from './page.ts'

endProgramsAfterTests()
after(closeConnections)

const page = readFileSync(join(root, 'docs/operating/space.md'), 'utf8')
const [, section = ''] = /^## A file that has to go now$(.*?)^## /ms.exec(page) ?? []
const steps = stepsOf(section)
const mark = '== the next block =='
const secret = 'the password is swordfish'

describe('a file that has to go now, as its page tells it', { timeout: 120_000 }, () => {
  let folder: string
  let settings: Environment
  let service: Program
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-leaked-'))
    settings = settingsFor({ dataDir: join(folder, 'data') })
    service = startSvc(['up'], settings)
  })
  after(async () => {
    service.child.kill('SIGKILL')
    await service.ended
    await rm(folder, { recursive: true, force: true })
  })

  test('is gone within two minutes, bytes and all', async () => {
    assert.equal(steps.length, 3)
    const address = await listening(service)
    const svc = `svc() { '${process.execPath}' '${svcFile}' "$@"; }`
    const script = steps
      .map(({ commands }) => `${commands}\necho '${mark}'`)
      .join('\n')
      .replaceAll('http://127.0.0.1:8080', address)
      .replace('svc() { npm run --silent svc -- "$@"; }', svc)
      .replace('data/config', join(folder, 'data/config'))
      .replace('account.txt', join(folder, 'account.txt'))
    const started = Date.now()
    const environment = { ...settings, SVC_URL: address }
    const { code, stdout, stderr } = await runProgram('bash', ['-euo', 'pipefail', '-c', script], environment)
    assert.deepEqual([code, stderr], [0, ''], stdout)
    const printed = stdout.split(`${mark}\n`)
    const like = likeThePage()
    for (const [index, { commands, answer }] of steps.entries()) like(answer, printed[index] ?? '', commands)

    const credential = keyIn(join(folder, 'data'), 'bootstrap-token.txt')
    await until('the audit tells that the bytes are gone', async () => {
      const told = await ask(address, { path: '/api/v1/repositories/releases/audit', credential })
      return told.text.includes('bytes.reclaim')
    })
    assert.ok(Date.now() - started < 120_000)
    const { stdout: found } = await runProgram('grep', ['-rl', secret, join(folder, 'data/blobs')], settings)
    assert.equal(found, '')
    assert.deepEqual((await askDoctor(settings)).damage, [])
  })
})
