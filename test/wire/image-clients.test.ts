import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { type ImageClients, startImageClients, writeLayout } from '../harness/image-clients.ts'
import { type AskedFor, askedOf, keyWith } from '../harness/keys-from-outside.ts'
import { type LoneService, startLoneService } from '../harness/lone-service.ts'
import { askDoctor, endProgramsAfterTests } from '../harness/processes.ts'
import { until } from '../harness/until.ts'

endProgramsAfterTests()
after(closeConnections)

const pushing = ['artifact.list', 'artifact.read', 'asset.read', 'asset.write', 'content.read'] as const
const uploading = ['upload.complete', 'upload.create', 'upload.write'] as const
const everything = [...pushing, ...uploading, 'artifact.delete']
const reading = ['artifact.list', 'artifact.read', 'content.read']

describe('clients for images', { timeout: 280_000 }, () => {
  let service: LoneService
  let clients: ImageClients
  /** The address as clients write it. */
  let host: string
  let key: string
  let made: string
  let told: AskedFor
  before(async () => {
    service = await startLoneService('image-clients', { SVC_LOG_LEVEL: 'info' })
    told = askedOf(service)
    host = new URL(service.address).host
    clients = await startImageClients(host)
    await told({ path: '/api/v1/repositories', json: { id: 'products' } }, 201)
    key = await keyWith(told, { releases: everything, products: everything })
    const layers = [randomBytes(300_000), Buffer.from('small')]
    made = await writeLayout(join(clients.folder, 'made'), [{ architecture: 'amd64', layers }])
  })
  after(async () => {
    await clients[Symbol.asyncDispose]()
    await service[Symbol.asyncDispose]()
  })

  const at = (image: string): string => `${host}/${image}`
  const remote = (image: string): string => `docker://${at(image)}`
  const layout = (name = 'made'): string => `oci:${join(clients.folder, name)}:made`
  const manifestOf = (image: string): Promise<string> => clients.run('skopeo', 'inspect', '--raw', remote(image))
  const digestOf = (image: string): Promise<string> =>
    clients.run('skopeo', 'inspect', '--format', '{{.Digest}}', remote(image))
  const signedIn = (secret = key) => clients.run('skopeo', 'login', '-u', 'anybody', '-p', secret, host)
  const push = (image: string, ...options: string[]) =>
    clients.run('skopeo', 'copy', ...options, layout(), remote(image))

  /** What was asked for an image, each as operation and status, up to the push of its manifest: the log comes late. */
  const askedFor = async (image: string): Promise<string[]> => {
    const asked = (): string[] =>
      service.program
        .stderr()
        .split('\n')
        .filter((line) => line.includes('"msg":"request"') && line.includes(`/v2/${image}/`))
        .map((line) => {
          const { operation, status } = JSON.parse(line)
          return `${operation} ${status}`
        })
    await until('the push stands in the log', () => asked().includes('putManifest 201'))
    return asked()
  }

  test('sign in with any name and a credential of ours, and hear of one that is none', async () => {
    for (const client of ['skopeo', 'buildah', 'podman'] as const) {
      for (const secret of [service.credential(), key])
        await clients.run(client, 'login', '-u', 'anybody', '-p', secret, host)
      const refused = await clients.fails(client, 'login', '-u', 'anybody', '-p', 'w'.repeat(40), host)
      assert.match(refused, /unauthorized|invalid username\/password/i, client)
      await clients.run(client, 'logout', host)
      assert.match(await clients.fails('skopeo', 'list-tags', remote('releases/app')), /unauthorized/i, client)
    }
  })

  test('push what others pull, bit by bit the same', async () => {
    await signedIn()
    await push('releases/tools/app:1.0')
    assert.equal(await digestOf('releases/tools/app:1.0'), made)
    await clients.run('skopeo', 'copy', remote('releases/tools/app:1.0'), layout('pulled'))
    const manifest = (name: string) =>
      readFile(join(clients.folder, name, 'blobs/sha256', made.slice('sha256:'.length)))
    assert.deepEqual(await manifest('pulled'), await manifest('made'))
    await clients.run('podman', 'pull', at('releases/tools/app:1.0'))
    assert.equal(
      await clients.run('podman', 'image', 'inspect', '--format', '{{.Digest}}', at('releases/tools/app:1.0')),
      made,
    )
    const byDigest = `${at('releases/tools/app')}@${made}`
    assert.match(await clients.run('buildah', 'pull', byDigest), /^[0-9a-f]{64}$/m)
  })

  test('build from what was pushed, push that, and pull what they wrote in it', async () => {
    await signedIn()
    await push('releases/base:1')
    const container = await clients.run('buildah', 'from', at('releases/base:1'))
    const written = join(clients.folder, 'motd')
    await writeFile(written, 'hello\n')
    await clients.run('buildah', 'copy', container, written, '/etc/motd')
    await clients.run('buildah', 'config', '--label', 'org.example.is=built', container)
    await clients.run('buildah', 'commit', container, 'built')
    await clients.run('buildah', 'push', 'built', remote('products/built:1'))
    await clients.run('buildah', 'rm', container)
    await clients.run('buildah', 'rmi', '--force', 'built')
    const pulled = await clients.run('buildah', 'from', '--pull-always', at('products/built:1'))
    const folder = await clients.run('buildah', 'mount', pulled)
    assert.equal(readFileSync(join(folder, 'etc/motd'), 'utf8'), 'hello\n')
    await clients.run('buildah', 'umount', pulled)
    const format = '{{index .Labels "org.example.is"}}'
    assert.equal(await clients.run('skopeo', 'inspect', '--format', format, remote('products/built:1')), 'built')
  })

  test('copy an image to another repository without sending a layer again', async () => {
    await signedIn()
    const layers = [randomBytes(1_000), randomBytes(1_000)]
    await writeLayout(join(clients.folder, 'copied'), [{ architecture: 'amd64', layers }])
    await clients.run('skopeo', 'copy', layout('copied'), remote('releases/copied:1'))
    await clients.run('skopeo', 'copy', remote('releases/copied:1'), remote('products/copied:1'))
    const asked = await askedFor('products/copied')
    assert.equal(asked.filter((each) => each === 'beginBlob 201').length, 2, asked.join('\n'))
    // What a client never mounts is the configuration.
    assert.equal(asked.filter((each) => each.startsWith('appendToBlob')).length, 1, asked.join('\n'))
    assert.equal(await manifestOf('products/copied:1'), await manifestOf('releases/copied:1'))
  })

  test('push and pull an index of images for several machines, whole and one of it', async () => {
    await signedIn()
    const images = ['amd64', 'arm64'] as const
    const digest = await writeLayout(join(clients.folder, 'many'), [
      { architecture: images[0], layers: [Buffer.from('for amd64')] },
      { architecture: images[1], layers: [Buffer.from('for arm64')] },
    ])
    await clients.run('skopeo', 'copy', '--all', layout('many'), remote('releases/many:1'))
    assert.equal(await digestOf('releases/many:1'), digest)
    for (const architecture of images) {
      const chosen = ['--override-arch', architecture, 'inspect', '--format', '{{.Architecture}}']
      assert.equal(await clients.run('skopeo', ...chosen, remote('releases/many:1')), architecture)
    }
    await clients.run('podman', 'manifest', 'create', 'together')
    await clients.run('podman', 'manifest', 'add', '--all', 'together', remote('releases/many:1'))
    await clients.run('podman', 'manifest', 'push', '--all', 'together', remote('products/many:2'))
    assert.equal(JSON.parse(await manifestOf('products/many:2')).manifests.length, 2)
  })

  test('push the formats of others: schema 2 of Docker, and layers packed anew', async () => {
    await signedIn()
    await push('releases/docker:1', '--format', 'v2s2')
    const { mediaType } = JSON.parse(await manifestOf('releases/docker:1'))
    assert.equal(mediaType, 'application/vnd.docker.distribution.manifest.v2+json')
    await clients.run('podman', 'pull', at('releases/docker:1'))
    await push('releases/packed:1', '--dest-compress', '--dest-compress-format', 'zstd')
    await clients.run('skopeo', 'copy', remote('releases/packed:1'), `dir:${join(clients.folder, 'unpacked')}`)
  })

  test('list tags, in the order of their bytes', async () => {
    await signedIn()
    for (const tag of ['v10', 'v2', 'Latest']) await push(`releases/listed:${tag}`)
    const listed = JSON.parse(await clients.run('skopeo', 'list-tags', remote('releases/listed')))
    assert.deepEqual(listed.Tags, ['Latest', 'v10', 'v2'])
    const [, ...lines] = (await clients.run('podman', 'search', '--list-tags', at('releases/listed'))).split('\n')
    assert.deepEqual(
      lines.map((line) => line.trim().split(/ +/)[1]),
      ['Latest', 'v10', 'v2'],
    )
  })

  test('delete an image, of which nothing is left to pull', async () => {
    await signedIn()
    await push('releases/gone:1')
    await clients.run('skopeo', 'delete', remote('releases/gone:1'))
    assert.match(await clients.fails('skopeo', 'inspect', remote('releases/gone:1')), /manifest unknown/i)
    assert.match(await clients.fails('podman', 'pull', at('releases/gone:1')), /manifest unknown/i)
  })

  test('hear what they may not do, and nothing of what is not theirs', async () => {
    await signedIn()
    await push('releases/kept:1')
    await push('products/hidden:1')
    await signedIn(await keyWith(told, { releases: reading }))
    await clients.run('skopeo', 'inspect', remote('releases/kept:1'))
    const push403 = await clients.fails('skopeo', 'copy', layout(), remote('releases/kept:2'))
    assert.match(push403, /denied/i)
    assert.match(await clients.fails('skopeo', 'delete', remote('releases/kept:1')), /denied|403|unexpected/i)
    const hidden = await clients.fails('skopeo', 'inspect', remote('products/hidden:1'))
    const missing = await clients.fails('skopeo', 'inspect', remote('nothing1/hidden:1'))
    assert.match(hidden, /name unknown/i)
    assert.equal(
      hidden.replaceAll('products', 'nothing1').replace(/time="[^"]*"/g, ''),
      missing.replace(/time="[^"]*"/g, ''),
    )
  })

  test('hear which tag is immutable, and by which pattern, whoever moves it or takes it away', async () => {
    const manager = await keyWith(told, { releases: [...everything, 'storage.manage'] })
    const path = '/api/v1/repositories/releases/images/immutable-tags'
    await signedIn()
    await push('releases/final:v1')
    const digest = await digestOf('releases/final:v1')
    await told({ method: 'PUT', path, credential: manager, json: { expectedRevision: 0, patterns: ['v*'] } }, 200)
    await push('releases/final:v1')
    const layers = [randomBytes(100)]
    await writeLayout(join(clients.folder, 'other'), [{ architecture: 'amd64', layers }])
    const refused = /The tag v1 stays where it is: it matches v\*, which is among the immutable tags of this repository/
    const moved = await clients.fails('skopeo', 'copy', layout('other'), remote('releases/final:v1'))
    assert.match(moved, /denied/i)
    assert.match(moved, refused)
    assert.match(await clients.fails('skopeo', 'delete', remote('releases/final:v1')), refused)
    await clients.run('skopeo', 'copy', layout('other'), remote('releases/final:rc1'))
    await clients.run('podman', 'pull', at('releases/final:rc1'))
    assert.match(await clients.fails('podman', 'push', at('releases/final:rc1'), remote('releases/final:v1')), refused)
    assert.equal(await digestOf('releases/final:v1'), digest)
    await told({ method: 'PUT', path, credential: manager, json: { expectedRevision: 1, patterns: [] } }, 200)
  })

  test('leave a store in which the doctor finds nothing', async () => {
    assert.deepEqual((await askDoctor(service.settings)).damage, [])
  })
})
