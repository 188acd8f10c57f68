import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type ImageClients, startImageClients, writeLayout } from '../harness/image-clients.ts'
import { type LoneService, startLoneService } from '../harness/lone-service.ts'
import { endProgramsAfterTests, type Program, runProgram, startProgram } from '../harness/processes.ts'
import { until } from '../harness/until.ts'

endProgramsAfterTests()

/** Everything in one folder, and nothing that runs containers: content and images are what is asked for. */
const configuration = (folder: string): string => {
  const own = `uid = ${process.getuid?.()}\n  gid = ${process.getgid?.()}`
  const unwanted = [
    'grpc.v1.cri',
    'internal.v1.opt',
    ...['aufs', 'btrfs', 'devmapper', 'zfs'].map((name) => `snapshotter.v1.${name}`),
  ]
  return [
    'version = 2',
    `root = "${join(folder, 'root')}"`,
    `state = "${join(folder, 'state')}"`,
    `disabled_plugins = ${JSON.stringify(unwanted.map((name) => `io.containerd.${name}`))}`,
    `[grpc]\n  address = "${join(folder, 'grpc.sock')}"\n  ${own}`,
    `[ttrpc]\n  address = "${join(folder, 'ttrpc.sock')}"\n  ${own}`,
  ].join('\n')
}

describe('containerd', { timeout: 120_000 }, () => {
  let service: LoneService
  let clients: ImageClients
  let daemon: Program
  let host: string
  before(async () => {
    service = await startLoneService('containerd')
    host = new URL(service.address).host
    clients = await startImageClients(host)
    const file = join(clients.folder, 'containerd.toml')
    await writeFile(file, configuration(clients.folder))
    daemon = startProgram('containerd', ['--config', file, '--log-level', 'error'])
    await until('containerd answers', async () => (await ctr('version')).code === 0)
    await clients.run('skopeo', 'login', '-u', 'anybody', '-p', service.credential(), host)
  })
  after(async () => {
    daemon.child.kill('SIGTERM')
    await daemon.ended
    await clients[Symbol.asyncDispose]()
    await service[Symbol.asyncDispose]()
  })

  const ctr = (...args: string[]) => runProgram('ctr', ['--address', join(clients.folder, 'grpc.sock'), ...args])
  const done = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await ctr(...args)
    assert.equal(code, 0, `ctr ${args.join(' ')}\n${stdout}${stderr}${daemon.stderr()}`)
    return stdout
  }
  const signedIn = (secret: string): string[] => ['--plain-http', '--user', `anybody:${secret}`]
  const push = async (image: string, ...architectures: [string, ...string[]]): Promise<string> => {
    const [first, ...others] = architectures.map((architecture) => ({
      architecture,
      layers: [Buffer.from(image + architecture)],
    }))
    assert.ok(first !== undefined)
    const name = image.replaceAll(/[/:]/g, '-')
    const digest = await writeLayout(join(clients.folder, name), [first, ...others])
    await clients.run('skopeo', 'copy', '--all', `oci:${join(clients.folder, name)}:made`, `docker://${host}/${image}`)
    return digest
  }
  const manifestOf = (image: string): Promise<string> =>
    clients.run('skopeo', 'inspect', '--raw', `docker://${host}/${image}`)

  test('fetches an image that was pushed, and pushes it below another name, bit by bit the same', async () => {
    const digest = await push('releases/app:1', 'amd64')
    await done('content', 'fetch', ...signedIn(service.credential()), `${host}/releases/app:1`)
    assert.match(await done('images', 'list'), new RegExp(`${host}/releases/app:1 .*${digest}`))
    await done('images', 'tag', `${host}/releases/app:1`, `${host}/releases/again:2`)
    await done('images', 'push', ...signedIn(service.credential()), `${host}/releases/again:2`)
    assert.equal(await manifestOf('releases/again:2'), await manifestOf('releases/app:1'))
  })

  test('fetches an index with the images of all machines', async () => {
    await push('releases/many:1', 'amd64', 'arm64')
    await done('content', 'fetch', '--all-platforms', ...signedIn(service.credential()), `${host}/releases/many:1`)
    const listed = await done('images', 'list')
    assert.match(listed, /releases\/many:1 .*linux\/amd64,linux\/arm64/)
  })

  test('hears that a credential is none, and that an image is not there', async () => {
    const wrong = await ctr('content', 'fetch', ...signedIn('w'.repeat(40)), `${host}/releases/app:1`)
    assert.notEqual(wrong.code, 0)
    assert.match(wrong.stderr, /401 Unauthorized/)
    const missing = await ctr('content', 'fetch', ...signedIn(service.credential()), `${host}/releases/app:none`)
    assert.notEqual(missing.code, 0)
    assert.match(missing.stderr, /not found/)
  })
})
