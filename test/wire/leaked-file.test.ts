import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ask, closeConnections } from '../harness/client.ts'
import { type LoneService, startLoneService } from '../harness/lone-service.ts'
import { askDoctor, endProgramsAfterTests, ownService, root, runProgram, svcFile } from '../harness/processes.ts'
import { until } from '../harness/until.ts'
import { stepsOf } from './page.ts'
import { isOnThePage, paste } from './pasting.ts'

endProgramsAfterTests()
after(closeConnections)

const page = readFileSync(join(root, 'docs/operating/space.md'), 'utf8')
const [, section = ''] = /^## A file that has to go now$(.*?)^## /ms.exec(page) ?? []
const steps = stepsOf(section)
const secret = 'the password is swordfish'

describe('a file that has to go now, as its page tells it', { timeout: 120_000 }, () => {
  let service: LoneService
  before(async () => {
    service = await startLoneService('leaked')
  })
  after(() => service[Symbol.asyncDispose]())

  test('is gone within two minutes, bytes and all', async () => {
    assert.equal(steps.length, 3)
    const { address, dataDir, folder, settings } = service
    const svc = `svc() { '${process.execPath}' '${svcFile}' "$@"; }`
    const changed = (script: string): string =>
      script
        .replaceAll('http://127.0.0.1:8080', address)
        .replace('svc() { npm run --silent svc -- "$@"; }', svc)
        .replace('data/config', join(dataDir, 'config'))
        .replace('account.txt', join(folder, 'account.txt'))
    const started = Date.now()
    const { printed, stderr } = await paste(steps, { environment: { ...settings, ...ownService(address) }, changed })
    assert.equal(stderr, '')
    isOnThePage(steps, printed)

    const credential = service.credential()
    await until('the audit tells that the bytes are gone', async () => {
      const told = await ask(address, { path: '/api/v1/repositories/releases/audit', credential })
      return told.text.includes('bytes.reclaim')
    })
    assert.ok(Date.now() - started < 120_000)
    const { stdout: found } = await runProgram('grep', ['-rl', secret, join(dataDir, 'blobs')], settings)
    assert.equal(found, '')
    assert.deepEqual((await askDoctor(settings)).damage, [])
  })
})
