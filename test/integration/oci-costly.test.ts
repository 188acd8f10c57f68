import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { configType, described, imageSite, layerType, manifestOf, sha256 } from '../harness/images.ts'

after(closeConnections)

const image = 'releases/costly'

/** So many of the shortest texts, by name. */
const texts = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [String(at), '']))

forEachEngine((engine) => {
  const site = imageSite(engine, { roles: { gateway: 'api', worker: false } })
  const { expect, pushBlob, pushManifest } = site

  describe('a manifest', () => {
    it('that is made of too much is refused before it is looked into', async () => {
      const config = await pushBlob(image, '{}')
      const subject = described('x', layerType)
      const costly = manifestOf({ config, layers: [], subject, annotations: texts(300_000) })
      const told = await pushManifest(image, costly, 'costly', 400)
      assert.equal(told.json.errors[0].code, 'MANIFEST_INVALID')
      assert.match(told.json.errors[0].message, /100000 brackets, commas and colons/)
      await pushManifest(image, manifestOf({ config, layers: [], subject, annotations: texts(40_000) }), 'fine')
    })

    it('that names very much that is not here is told of the first hundred', async () => {
      const config = described('not here', configType)
      const layers = Array.from({ length: 500 }, (_, at) => described(String(at), layerType))
      const told = await pushManifest(image, manifestOf({ config, layers }), 'missing', 400)
      assert.deepEqual(
        told.json.errors.map(({ detail }: { detail: { digest: string } }) => detail.digest),
        [config, ...layers].slice(0, 100).map(({ digest }) => digest),
      )
    })

    it('with a byte order mark is none', async () => {
      const { text, type } = manifestOf({ config: await pushBlob(image, '{}'), layers: [] })
      const marked = `\ufeff${text}`
      const told = await pushManifest(image, { text: marked, type, digest: sha256(marked) }, 'marked', 400)
      assert.equal(told.json.errors[0].code, 'MANIFEST_INVALID')
    })
  })

  it('a config that is made of too much is not looked into, and pushed as any other', async () => {
    const open = async (labels: number): Promise<unknown> => {
      const config = JSON.stringify({ os: 'linux', architecture: 'arm64', config: { Labels: texts(labels) } })
      const tag = `of-${labels}`
      const named = { ...(await pushBlob(image, config)), mediaType: configType }
      await pushManifest(image, manifestOf({ config: named, layers: [] }), tag)
      const path = `/api/v1/repositories/releases/images/manifest?image=costly&reference=${tag}`
      return (await expect({ path }, 200)).json.config.content?.platform ?? null
    }
    assert.equal(await open(10_000), 'linux/arm64')
    assert.equal(await open(80_000), null)
  })

  it('a page of referrers ends where their annotations are many, and goes on', async () => {
    const config = await pushBlob(image, '{}')
    const subject = described('what they refer to', layerType)
    for (const nonce of ['a', 'b', 'c'])
      await pushManifest(image, manifestOf({ config, layers: [], subject, nonce, annotations: texts(20_000) }), nonce)
    const path = `/api/v1/repositories/releases/images/referrers?image=costly&digest=${subject.digest}`
    const found: string[] = []
    for (let after = ''; ; ) {
      const { items, next } = (await expect({ path: `${path}${after}` }, 200)).json
      assert.equal(items.length, 1)
      found.push(items[0].digest)
      if (next === null) break
      after = `&after=${next}`
    }
    assert.equal(new Set(found).size, 3)
  })
})
