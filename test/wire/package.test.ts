import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { ask, closeConnections } from '../harness/client.ts'
import { endProgramsAfterTests, keyIn, listening, settingsFor, startProgram } from '../harness/processes.ts'
import { until } from '../harness/until.ts'
import { startReceiver } from '../harness/webhook-receiver.ts'

endProgramsAfterTests()
after(closeConnections)

const run = promisify(execFile)

/** What a user gets from the registry: the packed tarball, installed in a folder of its own. */
describe('the published package', () => {
  let folder: string
  let files: string[]
  const svc = (...args: string[]) => run(join(folder, 'node_modules/.bin/svc'), args, { cwd: folder })

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-package-'))
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder])
    const [packed] = JSON.parse(stdout.slice(stdout.search(/^\[/m))) as [
      { filename: string; files: { path: string }[] },
    ]
    files = packed.files.map((file) => file.path)
    const quick = ['--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock']
    await run('npm', ['install', ...quick, '--prefix', folder, join(folder, packed.filename)], { cwd: folder })
  })

  after(() => rm(folder, { recursive: true, force: true }))

  test('holds the program and the papers, and neither tests nor sources', () => {
    for (const file of [
      'dist/main/svc.js',
      'dist/console/index.html',
      'package.json',
      'README.md',
      'LICENSE',
      'CHANGELOG.md',
    ]) {
      assert.ok(files.includes(file), `${file} is missing`)
    }
    assert.deepEqual(
      files.filter((file) => /\.(?:test|suite)\.|^(?:src|test|scripts|bench)\//.test(file)),
      [],
    )
  })

  test('says its version', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string }
    const { stdout } = await svc('--version')
    assert.equal(stdout.trim(), version)
  })

  test('prints its settings', async () => {
    const { stdout } = await svc('settings')
    assert.match(stdout, /SVC_LISTEN/)
    assert.match(stdout, /SVC_DATA_DIR/)
  })

  test('delivers webhooks, in the thread that it has for them', async (t) => {
    const secret = 'a secret of sixteen bytes or more'
    const receiver = await startReceiver(secret)
    t.after(() => receiver[Symbol.asyncDispose]())
    const at = (name: string): string => join(folder, name)
    const [secretFile, file, dataDir] = [at('secret'), at('webhooks.json'), at('delivering')]
    const webhook = { id: 'one', repository: 'releases', url: receiver.url, secretFile }
    await writeFile(secretFile, secret)
    await writeFile(file, JSON.stringify({ webhooks: [webhook] }), { mode: 0o600 })
    const settings = { SVC_WEBHOOKS_FILE: file, SVC_WEBHOOKS_ALLOW_PRIVATE: '127.0.0.0/8' }
    const program = startProgram(join(folder, 'node_modules/.bin/svc'), ['up'], settingsFor({ dataDir }, settings))
    const address = await listening(program)
    const credential = keyIn(dataDir, 'bootstrap-token.txt')
    const path = '/api/v1/repositories/releases/raw/file'
    const { status, text } = await ask(address, { method: 'PUT', path, credential, body: 'bytes' })
    assert.equal(status, 201, text)
    await until('it is delivered', () => receiver.taken.length > 0)
    assert.deepEqual([receiver.faults, program.stderr()], [[], ''])
    program.child.kill()
    await program.ended
  })

  test('tells people at a terminal how it is, in lines of theirs', async () => {
    const dataDir = join(folder, 'terminal')
    const settings = settingsFor({ dataDir }, { SVC_LOG_LEVEL: 'info' })
    const command = `exec ${join(folder, 'node_modules/.bin/svc')} up`
    const program = startProgram('script', ['--quiet', '--return', '--command', command, '/dev/null'], settings, {
      group: true,
    })
    await listening(program)
    await until('a line is there', () => /\[\d\d:\d\d:\d\d\].*INFO/.test(program.stdout()))
    process.kill(-program.pid, 'SIGTERM')
    await program.ended
  })
})
