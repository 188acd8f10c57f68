import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ask, closeConnections } from '../harness/client.ts'
import {
  endProgramsAfterTests,
  keyIn,
  listening,
  root,
  runProgram,
  settingsFor,
  startProgram,
} from '../harness/processes.ts'

endProgramsAfterTests()
after(closeConnections)

const units = globSync(join(root, 'deploy/systemd/*')).sort()

describe('the units of systemd', { timeout: 60_000 }, () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-units-'))
    // Where this checkout lies, so that programs and folders are looked for where they are.
    for (const unit of units)
      await writeFile(join(folder, basename(unit)), readFileSync(unit, 'utf8').replaceAll('/opt/svc', root))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  test('are what systemd understands, without a warning', async () => {
    const files = units.map((unit) => join(folder, basename(unit)))
    assert.equal(files.length, 3)
    const { code, stdout, stderr } = await runProgram('systemd-analyze', ['verify', ...files])
    assert.deepEqual([code, stdout, stderr], [0, '', ''])

    const [first = ''] = files
    const wrong = join(folder, 'wrong.service')
    await writeFile(wrong, `${readFileSync(first, 'utf8')}\n[Service]\nProtectSytem=strict\n`)
    const refused = await runProgram('systemd-analyze', ['verify', wrong])
    assert.match(refused.stderr, /ProtectSytem/)
  })

  test('leave the service little to do harm with', async () => {
    // Of 10, in tenths: below 2 counts as "OK", the best there is.
    const options = ['security', '--offline=true', '--threshold=20', '--no-pager', join(folder, 'svc.service')]
    const { code, stdout, stderr } = await runProgram('systemd-analyze', options)
    assert.equal(code, 0, stdout + stderr)
  })

  test('start what serves, and stop it as it wants to be stopped', async () => {
    const unit = readFileSync(join(folder, 'svc.service'), 'utf8')
    const said = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? ''
    const [program = '', ...args] = said('ExecStart').split(' ')
    const dataDir = join(folder, 'data')
    assert.match(said('Environment'), /\bSVC_DATA_DIR=\/var\/lib\/svc$/)
    const service = startProgram(program, args, settingsFor({ dataDir }), { cwd: said('WorkingDirectory') })
    const address = await listening(service)
    const health = await ask(address, { path: '/health/ready', credential: keyIn(dataDir, 'health-token.txt') })
    assert.equal(health.status, 200, health.text)
    assert.equal(said('KillSignal'), 'SIGTERM')
    service.child.kill('SIGTERM')
    assert.deepEqual(await service.ended, { code: 0, signal: null })
  })
})
