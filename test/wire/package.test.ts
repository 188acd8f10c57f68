import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'

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
})
