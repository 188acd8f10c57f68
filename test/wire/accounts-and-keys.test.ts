import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import {
  type Environment,
  endProgramsAfterTests,
  keyIn,
  listening,
  type Program,
  root,
  settingsFor,
  startProgram,
  startSvc,
  svcFile,
} from '../harness/processes.ts'
import { likeThePage, stepsOf } from './page.ts'

endProgramsAfterTests()

const steps = stepsOf(readFileSync(join(root, 'docs/operating/accounts-and-keys.md'), 'utf8'))
const mark = '== the next block =='

describe('accounts and keys, as their page tells it', { timeout: 240_000 }, () => {
  let folder: string
  let settings: Environment
  let service: Program
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-accounts-'))
    settings = settingsFor({ dataDir: join(folder, 'data') })
    service = startSvc(['up'], settings)
  })
  after(async () => {
    service.child.kill('SIGKILL')
    await service.ended
    await rm(folder, { recursive: true, force: true })
  })

  /** A program that is called svc, in a folder of its own. */
  const svcOnPath = async (): Promise<string> => {
    const bin = join(folder, 'bin')
    await mkdir(bin)
    await writeFile(join(bin, 'svc'), `#!/bin/sh\nexec '${process.execPath}' '${svcFile}' "$@"\n`)
    await chmod(join(bin, 'svc'), 0o755)
    return [bin, dirname(process.execPath), process.env['PATH']].join(delimiter)
  }

  test('every command works, and prints what stands there', async () => {
    assert.ok(steps.length >= 7, 'commands are missing')
    const address = await listening(service)
    const script = steps
      .map(({ commands }) => `${commands}\necho '${mark}'`)
      .join('\n')
      .replaceAll('http://127.0.0.1:8080', address)
    const before = keyIn(join(folder, 'data'), 'bootstrap-token.txt')
    const cwd = join(folder, 'at work')
    await mkdir(cwd)
    const environment = { ...settings, SVC_URL: address, PATH: await svcOnPath() }
    const shell = ['-O', 'inherit_errexit', '-euo', 'pipefail', '-c', script]
    const program = startProgram('bash', shell, environment, { cwd })
    const { code } = await program.ended
    const printed = program.stdout().split(`${mark}\n`)
    assert.deepEqual([code, program.stderr()], [0, ''], `${printed.at(-1)}\nin\n${steps[printed.length - 1]?.commands}`)
    const like = likeThePage()
    for (const [index, { commands, answer }] of steps.entries()) like(answer, printed[index] ?? '', commands)
    assert.notEqual(keyIn(join(folder, 'data'), 'bootstrap-token.txt'), before)
  })
})
