import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { hour } from '../../src/kernel/units.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import {
  configType,
  described,
  imageSite,
  imageType,
  indexType,
  layerType,
  manifestOf,
  sha256,
  sha512,
} from '../harness/images.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

const image = 'releases/opened'

forEachEngine((engine) => {
  const site = imageSite(engine, { roles: { gateway: 'api', worker: false } })
  const { pushBlob, pushManifest, newImage, pushImage } = site
  const base = '/api/v1/repositories/releases/images'
  const ask = async (path: string, status = 200, credential = site.owner.token): Promise<Told> => {
    const told = await site.ask({ path: base + path, credential })
    assert.equal(told.status, status, told.text)
    return told
  }
  const open = async (reference: string, credential?: string) =>
    (await ask(`/manifest?image=opened&reference=${reference}`, 200, credential)).json

  /** An image with this config, pushed under a tag. */
  const pushConfig = async (tag: string, config: string | Buffer, more: object = {}, type = configType) => {
    await pushBlob(image, config)
    const manifest = manifestOf({ config: described(config, type), layers: [], ...more })
    await pushManifest(image, manifest, tag)
    return manifest
  }

  const config = {
    created: '2026-01-02T03:04:05.123456789Z',
    author: 'Ann <ann@example.org>',
    architecture: 'arm64',
    os: 'linux',
    config: {
      User: 'app:app',
      WorkingDir: '/app',
      Entrypoint: ['/bin/app', '--serve'],
      Cmd: ['now'],
      Env: ['PATH=/usr/bin:/bin', 'TOKEN=secret=value', 'EMPTY'],
      ExposedPorts: { '8080/tcp': {} },
      Volumes: { '/data': {} },
      Labels: { 'org.opencontainers.image.version': '1.0', __proto__x: 'ü' },
    },
    history: [
      { created: '2026-01-01T00:00:00Z', created_by: 'ADD rootfs /', comment: 'base' },
      { created_by: 'ENV TOKEN', empty_layer: true, author: 'Ben' },
    ],
  }

  describe('an opened manifest', () => {
    it('tells its layers, its config with history, what it says of itself and what leads to it', async () => {
      const layer = await pushBlob(image, 'a layer')
      const text = JSON.stringify(config)
      const layers = [{ ...layer, mediaType: layerType, annotations: { title: 'a.tar' } }, layer]
      const annotations = { 'org.opencontainers.image.title': 'opened' }
      const { text: bytes, digest } = await pushConfig('v1', text, { layers, annotations })
      await pushManifest(image, { text: bytes, digest, type: imageType }, 'latest')
      const opened = await open('v1')
      assert.deepEqual(opened, {
        ...{ mediaType: imageType, digest, size: String(bytes.length), artifactType: configType },
        ...{ platforms: ['linux/arm64'], contentSize: String(Buffer.byteLength(text) + 7), annotations, subject: null },
        config: {
          ...{ mediaType: configType, digest: sha256(text), size: String(Buffer.byteLength(text)) },
          content: {
            ...{ platform: 'linux/arm64', created: config.created, author: config.author },
            ...{ user: 'app:app', workingDir: '/app', entrypoint: ['/bin/app', '--serve'], cmd: ['now'] },
            ...{ environment: ['PATH', 'TOKEN', 'EMPTY'], exposedPorts: ['8080/tcp'], volumes: ['/data'] },
            labels: config.config.Labels,
            history: [
              {
                ...{ created: '2026-01-01T00:00:00Z', createdBy: 'ADD rootfs /', author: null, comment: 'base' },
                emptyLayer: false,
              },
              { created: null, createdBy: 'ENV TOKEN', author: 'Ben', comment: null, emptyLayer: true },
            ],
          },
        },
        layers: [
          { mediaType: layerType, digest: layer.digest, size: '7', annotations: { title: 'a.tar' } },
          { ...layer, size: '7', annotations: {} },
        ],
        ...{ manifests: [], tags: ['latest', 'v1'], moreTags: false, stages: [], pushedAt: opened.pushedAt },
        ...{ actor: `account:${site.owner.id}`, actorName: site.owner.name, keptUntil: null, opened: true },
      })
      assert.doesNotMatch(JSON.stringify(opened), /secret=value/)
      assert.deepEqual(await open(digest), opened)
    })

    it('shows what a config says to those alone who may read content', async () => {
      const { digest } = await pushConfig('hidden', JSON.stringify({ ...config, author: 'hidden' }))
      const bindings = [binding('releases', 'artifact.read')]
      const robot = await createServiceAccount(site.service, bindings)
      const { secret } = await activeKey(site.service, robot.id, { bindings })
      const told = await open('hidden', secret)
      assert.equal(told.digest, digest)
      assert.equal(told.config.content, null)
      assert.equal((await open('hidden', site.reader.token)).config.content.author, 'hidden')
      await ask('/tags?image=opened', 403, secret)
    })

    it('shows of a config that is not as it should be what is, and of none nothing', async () => {
      const odd = { os: 7, created: 1, config: { Cmd: 'all', Env: [1, 'A=b'], Labels: { a: 1, b: 'c' } }, history: [7] }
      await pushConfig('odd', JSON.stringify(odd))
      const { content } = (await open('odd')).config
      assert.deepEqual(
        [content.platform, content.created, content.cmd, content.environment, content.labels],
        [null, null, [], ['A'], { b: 'c' }],
      )
      assert.deepEqual(content.history, [
        { created: null, createdBy: null, author: null, comment: null, emptyLayer: false },
      ])
      for (const [tag, bytes] of [
        ['list', '[1]'],
        ['broken', '{"os":'],
        ['binary', Buffer.from([0xff, 0xfe, 0])],
        ['empty', ''],
        ['deep', '['.repeat(200_000)],
        ['long', JSON.stringify({ ...config, author: 'x'.repeat(1024 * 1024) })],
      ] as const) {
        await pushConfig(tag, bytes)
        const opened = await open(tag)
        assert.deepEqual([opened.config.content, opened.platforms, opened.opened], [null, [], true], tag)
      }
      await pushConfig('chart', '{"name":"chart"}', {}, 'application/vnd.cncf.helm.config.v1+json')
      const chart = await open('chart')
      assert.deepEqual([chart.config.content, chart.artifactType], [null, 'application/vnd.cncf.helm.config.v1+json'])
    })

    it('is told of, and not looked into, where it is too long', async () => {
      const config = await pushBlob(image, '{}')
      const long = manifestOf({ config, layers: [], annotations: { long: 'x'.repeat(1_100_000) } })
      await pushManifest(image, long, 'too-long')
      const { opened, annotations, layers, size, digest, tags } = await open('too-long')
      assert.deepEqual([opened, annotations, layers, digest, tags], [false, {}, [], long.digest, ['too-long']])
      assert.equal(size, String(long.text.length))
    })

    it('of an index has the platforms, and what each of its manifests leads to', async () => {
      const children = [await newImage(image), await newImage(image)]
      const [one, two] = children.map(({ text }) => described(text, imageType))
      for (const child of children) await pushManifest(image, child, child.digest)
      const listed = [
        { ...one, platform: { os: 'linux', architecture: 'amd64' }, annotations: { a: 'b' } },
        { ...two, platform: { os: 'linux', architecture: 'arm', variant: 'v7' }, artifactType: 'application/x' },
      ]
      const index = manifestOf({ manifests: listed }, indexType)
      await pushManifest(image, index, 'index')
      const opened = await open('index')
      const size = ({ text }: { text: string }): string => String(JSON.parse(text).config.size + 1000)
      const [first, second] = children.map((child) => ({
        ...{ mediaType: imageType, digest: child.digest, size: String(child.text.length), contentSize: size(child) },
      }))
      assert.deepEqual(opened.manifests, [
        { ...first, artifactType: null, platform: 'linux/amd64', annotations: { a: 'b' } },
        { ...second, artifactType: 'application/x', platform: 'linux/arm/v7', annotations: {} },
      ])
      assert.deepEqual([opened.config, opened.layers], [null, []])
      const path = `/v2/${image}/manifests/${children[0]?.digest}`
      await site.expect({ method: 'DELETE', path, credential: site.key }, 202)
      assert.equal((await open('index')).manifests[0].contentSize, null)
    })

    it('says until when it is kept where nothing keeps it, and shows a hundred of its tags', async () => {
      const lone = await newImage(image)
      await pushManifest(image, lone, lone.digest)
      const opened = await open(lone.digest)
      assert.equal(Date.parse(opened.keptUntil), Date.parse(opened.pushedAt) + 24 * hour)
      const numbers = Array.from({ length: 101 }, (_, number) => `many-${number}`)
      await pushManifest(image, lone, `${lone.digest}?tag=${numbers.slice(0, 100).join(',')}`)
      assert.deepEqual([(await open(lone.digest)).tags.length, (await open(lone.digest)).moreTags], [100, false])
      await pushManifest(image, lone, 'many-100')
      const { tags, moreTags, keptUntil } = await open(lone.digest)
      assert.deepEqual([tags, moreTags, keptUntil], [numbers.sort().slice(0, 100), true, null])
    })

    it('is called as it was asked for, and found by its SHA-512 as well', async () => {
      const manifest = await newImage(image)
      await pushManifest(image, manifest, sha512(manifest.text))
      assert.equal((await open(sha512(manifest.text))).digest, sha512(manifest.text))
      assert.equal((await open(manifest.digest)).digest, manifest.digest)
      await ask(`/manifest?image=opened&reference=${sha256('another')}`, 404)
      await ask('/manifest?image=opened&reference=sha256:x', 400)
      await ask('/manifest?image=never&reference=latest', 404)
    })
  })

  describe('what refers to a manifest', () => {
    it('is listed in pages with its annotations, its kind, and who pushed it', async () => {
      const subject = await pushImage(image, 'signed')
      const refers = { subject: described(subject.text, imageType) }
      const kind = 'application/vnd.example.signature'
      const signature = await newImage(image, { ...refers, artifactType: kind, annotations: { key: 'ü' } })
      const sbom = await newImage(image, { ...refers, artifactType: 'application/vnd.example.sbom' })
      for (const each of [signature, sbom]) await pushManifest(image, each, each.digest)
      const path = `/referrers?image=opened&digest=${subject.digest}`
      const first = (await ask(`${path}&limit=1`)).json
      const second = (await ask(`${path}&limit=1&after=${first.next}`)).json
      assert.deepEqual(
        [...first.items, ...second.items].map(({ digest }: { digest: string }) => digest),
        [signature.digest, sbom.digest].sort(),
      )
      assert.equal(second.next, null)
      const { items } = (await ask(`${path}&artifactType=${kind}`)).json
      assert.deepEqual(items, [
        {
          ...{ digest: signature.digest, mediaType: imageType, artifactType: kind },
          ...{
            size: String(Buffer.byteLength(signature.text)),
            annotations: { key: 'ü' },
            pushedAt: items[0].pushedAt,
          },
          ...{ actor: `account:${site.owner.id}`, actorName: site.owner.name },
        },
      ])
      assert.equal((await open(signature.digest)).subject, subject.digest)
      const other = `/referrers?image=opened&digest=${signature.digest}`
      assert.deepEqual((await ask(other)).json, { items: [], next: null })
      await ask(`${other}&after=${first.next}`, 400)
    })
  })
})
