import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { configType, described, imageSite, imageType, indexType, layerType, manifestOf } from '../harness/images.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = imageSite(engine, { roles: { gateway: 'api', worker: false } })
  const { pushBlob, pushManifest, newImage, pushImage } = site
  const base = '/api/v1/repositories/releases/images'
  const get = async (path: string, status = 200): Promise<Told> => {
    const told = await site.ask({ path: base + path })
    assert.equal(told.status, status, told.text)
    return told
  }
  /** What all pages have, from the first one on. */
  const pages = async <T>(path: string, itemOf: (item: Record<string, unknown>) => T): Promise<T[][]> => {
    const found: T[][] = []
    for (let next: string | null = ''; next !== null; ) {
      const { json } = await get(`${path}${next === '' ? '' : `&after=${next}`}`)
      found.push(json.items.map(itemOf))
      next = json.next
    }
    return found
  }

  describe('the images of a repository', () => {
    before(async () => {
      for (const name of ['web', 'team/api', 'team/app']) await pushImage(`releases/${name}`, 'v1')
      await pushImage('releases/team/app', 'v1')
      await pushManifest('releases/team/app', await newImage('releases/team/app'), 'v2')
      await pushImage('second/elsewhere', 'v1')
    })

    it('are listed by name, with how many tags and manifests each has, and when one came last', async () => {
      const { items, next } = (await get('')).json
      assert.equal(next, null)
      assert.deepEqual(
        items.map(({ name, tags, manifests }: Record<string, unknown>) => [name, tags, manifests]),
        [
          ['team/api', 1, 1],
          ['team/app', 2, 3],
          ['web', 1, 1],
        ],
      )
      for (const { createdAt, pushedAt } of items) assert.ok(createdAt <= pushedAt)
      const app = items[1]
      const earlier = (await get('/tags?image=team/app')).json.items.map(({ movedAt }: { movedAt: string }) => movedAt)
      assert.equal(app.pushedAt, earlier.sort().at(-1))
    })

    it('come in pages, and by a part of the name, whatever its case', async () => {
      const nameOf = ({ name }: Record<string, unknown>) => name
      assert.deepEqual(await pages('?limit=2', nameOf), [['team/api', 'team/app'], ['web']])
      assert.deepEqual(await pages('?limit=1&contains=AP', nameOf), [['team/api'], ['team/app']])
      assert.deepEqual((await get('?contains=nowhere')).json, { items: [], next: null })
      for (const sign of ['%25', '_', '\\']) assert.deepEqual((await get(`?contains=${sign}`)).json.items, [])
      const { next } = (await get('?limit=1')).json
      await get(`?after=${next}&contains=a`, 400)
      await get('?contains=%00', 400)
    })

    it('go with their last manifest, and count down before', async () => {
      const [one, two] = [await pushImage('releases/short', 'v1'), await newImage('releases/short')]
      await pushManifest('releases/short', two, two.digest)
      const counts = async () => {
        const { items } = (await get('?contains=short')).json
        return items.map(({ tags, manifests }: Record<string, unknown>) => [tags, manifests])
      }
      assert.deepEqual(await counts(), [[1, 2]])
      const remove = (digest: string) =>
        site.expect({ method: 'DELETE', path: `/v2/releases/short/manifests/${digest}`, credential: site.key }, 202)
      await remove(one.digest)
      assert.deepEqual(await counts(), [[0, 1]])
      await remove(two.digest)
      assert.deepEqual(await counts(), [])
    })

    it('are nothing to whoever may not see the repository, nor to whoever may not list it', async () => {
      for (const path of ['', '/tags?image=elsewhere', '/manifest?image=elsewhere&reference=v1']) {
        const [there, nowhere] = await Promise.all(
          ['second', 'nowhere'].map((repository) =>
            site.ask({ path: `/api/v1/repositories/${repository}/images${path}`, credential: site.reader.token }),
          ),
        )
        assert.deepEqual([there?.status, there?.json.detail], [404, nowhere?.json.detail])
      }
    })

    it('are among what the card of the repository says that it holds, as far as one may list it', async () => {
      const inUse = async (repository: string, credential = site.owner.token) =>
        (await site.service.ask({ path: `/api/v1/repositories/${repository}`, credential })).json.inUse
      assert.deepEqual(await inUse('second'), ['images'])
      const raw = '/api/v1/repositories/second/raw/a/file'
      await site.expect({ method: 'PUT', path: raw, body: 'bytes' }, 201)
      assert.deepEqual(await inUse('second'), ['files', 'images'])
    })
  })

  describe('the tags of an image', () => {
    const image = 'releases/tagged'
    const path = '/tags?image=tagged'
    const names = ['b', 'a', 'V2.1', 'v1', 'latest']
    before(async () => {
      const manifest = await newImage(image)
      for (const name of names) {
        await pushManifest(image, manifest, name)
        site.service.clock.advance(1000)
      }
    })
    const tagOf = ({ tag }: Record<string, unknown>) => tag

    it('come by name, or the one that was moved last first', async () => {
      const sorted = [...names].sort()
      assert.deepEqual(await pages(`${path}&limit=2`, tagOf), [sorted.slice(0, 2), sorted.slice(2, 4), sorted.slice(4)])
      assert.deepEqual((await pages(`${path}&limit=3&order=newest`, tagOf)).flat(), [...names].reverse())
      const other = await newImage(image)
      await pushManifest(image, other, 'a')
      assert.deepEqual((await pages(`${path}&limit=1&order=newest`, tagOf)).flat(), ['a', 'latest', 'v1', 'V2.1', 'b'])
    })

    it('come by a part of their name in either order', async () => {
      assert.deepEqual(await pages(`${path}&contains=V&limit=1`, tagOf), [['V2.1'], ['v1']])
      assert.deepEqual((await pages(`${path}&contains=V&order=newest&limit=1`, tagOf)).flat(), ['v1', 'V2.1'])
      const { next } = (await get(`${path}&limit=1`)).json
      await get(`${path}&limit=1&order=newest&after=${next}`, 400)
    })

    it('tell where they are, what that is for, how much it takes, and who moved them when', async () => {
      const config = JSON.stringify({ architecture: 'arm', os: 'linux', variant: 'v7' })
      const layer = await pushBlob(image, 'x'.repeat(1000))
      const elsewhere = { ...described('y'.repeat(70), `${layerType}.nondistributable.`), urls: ['http://x'] }
      const layers = [layer, { ...elsewhere, mediaType: 'application/vnd.oci.image.layer.nondistributable.v1.tar' }]
      await pushBlob(image, config)
      const one = manifestOf({ config: described(config, configType), layers: [...layers, layer] })
      const told = await pushManifest(image, one, 'one')
      const two = await newImage(image)
      await pushManifest(image, two, two.digest)
      const platform = { os: 'windows', architecture: 'amd64', 'os.version': '10.0' }
      const unknown = { os: 'unknown', architecture: 'unknown' }
      const children = [
        { ...described(one.text, imageType), platform: { os: 'linux', architecture: 'arm', variant: 'v7' } },
        { ...described(two.text, imageType), platform },
        { ...described(two.text, imageType), platform: unknown },
      ]
      const index = manifestOf({ manifests: children }, indexType)
      await pushManifest(image, index, 'index')
      const { items } = (await get(`${path}&order=newest&limit=2`)).json
      const bytes = config.length + 1000 + 70
      const size = (text: string): number => JSON.parse(text).config.size + 1000
      const who = { actor: `account:${site.owner.id}`, actorName: site.owner.name }
      const about = { artifactType: null, stages: [], movedAt: items[0].movedAt, ...who }
      assert.deepEqual(
        items.find(({ tag }: { tag: string }) => tag === 'index'),
        {
          ...{ tag: 'index', digest: index.digest, mediaType: indexType, ...about },
          platforms: ['linux/arm/v7', 'windows/amd64'],
          contentSize: String(bytes + size(two.text)),
        },
      )
      const { contentSize, platforms, artifactType, digest } = items.find(({ tag }: { tag: string }) => tag === 'one')
      assert.deepEqual([contentSize, platforms], [String(bytes), ['linux/arm/v7']])
      assert.deepEqual([artifactType, digest], [configType, told.headers['docker-content-digest']])
    })

    it('are none of an image that is not there, and a name that can be none is 400', async () => {
      assert.deepEqual((await get('/tags?image=never')).json, { items: [], next: null })
      await get('/tags?image=Never', 400)
      await get('/tags', 400)
    })
  })
})
