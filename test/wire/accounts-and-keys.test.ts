import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type LoneService, startLoneService } from '../harness/lone-service.ts'
import { endProgramsAfterTests, ownService, root, svcFile } from '../harness/processes.ts'
import { stepsOf } from './page.ts'
import { at, isOnThePage, paste } from './pasting.ts'

endProgramsAfterTests()

const steps = stepsOf(readFileSync(join(root, 'docs/operating/accounts-and-keys.md'), 'utf8'))

describe('accounts and keys, as their page tells it', { timeout: 240_000 }, () => {
  let service: LoneService
  before(async () => {
    service = await startLoneService('accounts')
  })
  after(() => service[Symbol.asyncDispose]())

  /** A program that is called svc, in a folder of its own. */
  const svcOnPath = async (): Promise<string> => {
    const bin = join(service.folder, 'bin')
    await mkdir(bin)
    await writeFile(join(bin, 'svc'), `#!/bin/sh\nexec '${process.execPath}' '${svcFile}' "$@"\n`)
    await chmod(join(bin, 'svc'), 0o755)
    return [bin, dirname(process.execPath), process.env['PATH']].join(delimiter)
  }

  test('every command works, and prints what stands there', async () => {
    assert.ok(steps.length >= 7, 'commands are missing')
    const before = service.credential()
    const cwd = join(service.folder, 'at work')
    await mkdir(cwd)
    const environment = { ...service.settings, ...ownService(service.address), PATH: await svcOnPath() }
    const { printed, stderr } = await paste(steps, { environment, cwd, changed: at(service.address) })
    assert.equal(stderr, '')
    isOnThePage(steps, printed)
    assert.notEqual(service.credential(), before)
  })
})
