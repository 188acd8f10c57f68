import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ask, closeConnections } from '../harness/client.ts'
import { endProgramsAfterTests, listening, nodeFlags, root, runProgram, startProgram } from '../harness/processes.ts'

endProgramsAfterTests()
after(closeConnections)

/** The process at the end of a chain of children. */
const innermost = (pid: number): number => {
  const [child] = globSync(`/proc/${pid}/task/*/children`)
    .flatMap((path) => readFileSync(path, 'utf8').trim().split(' '))
    .filter((each) => each !== '')
  return child === undefined ? pid : innermost(Number(child))
}

describe('the container', { timeout: 280_000 }, () => {
  let folder: string
  let environment: Record<string, string>
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-container-'))
    const storage = join(folder, 'storage.conf')
    const places = `graphroot = "${join(folder, 'images')}"\nrunroot = "${join(folder, 'run')}"`
    await writeFile(storage, `[storage]\ndriver = "vfs"\n${places}\n`)
    environment = { CONTAINERS_STORAGE_CONF: storage, TMPDIR: folder, BUILDAH_ISOLATION: 'chroot' }
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const run = async (command: string, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runProgram(command, args, environment)
    assert.equal(code, 0, `${command} ${args.join(' ')}\n${stdout}${stderr}`)
    return stdout.trim()
  }

  test('is built of the checkout alone, holds nothing but what it runs, and serves', async () => {
    await run(join(root, 'deploy/container/build'), 'svc-under-test')
    const { OCIv1 } = JSON.parse(await run('buildah', 'inspect', '--type', 'image', 'svc-under-test'))
    assert.equal(OCIv1.config.User, '10001:10001')
    assert.deepEqual(OCIv1.config.Entrypoint, ['/usr/bin/node', ...nodeFlags, 'dist/main/svc.js'])
    assert.deepEqual(OCIv1.config.Cmd, ['up'])
    assert.deepEqual(OCIv1.config.Volumes, { '/data': {} })

    const container = await run('buildah', 'from', 'svc-under-test')
    const inside = ['run', '--isolation', 'chroot', container, '--']
    const shell = await runProgram('buildah', [...inside, '/bin/sh', '-c', 'true'], environment)
    assert.notEqual(shell.code, 0, 'there is a shell in it')
    const own = ['run', '--isolation', 'chroot', '--env', 'SVC_LISTEN=127.0.0.1:0', container, '--']
    const service = startProgram('buildah', [...own, ...OCIv1.config.Entrypoint, ...OCIv1.config.Cmd], environment)
    const address = await listening(service)
    const [key = ''] = globSync(join(folder, '**/config/bootstrap-token.txt'))
    const credential = readFileSync(key, 'utf8').trim()
    const path = '/api/v1/repositories/releases/raw/in/a/container'
    assert.equal((await ask(address, { method: 'PUT', path, credential, body: 'kept' })).status, 201)
    assert.equal((await ask(address, { path, credential })).text, 'kept')
    // What runs in it is a child of a child of buildah, which hands no signal on.
    process.kill(innermost(service.pid), 'SIGTERM')
    assert.deepEqual(await service.ended, { code: 0, signal: null }, service.stderr())
  })
})
