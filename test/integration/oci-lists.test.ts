import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { described, imageSite, imageType, indexType, manifestOf, sha256 } from '../harness/images.ts'
import { createPerson, createRepository, grant } from '../harness/people.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = imageSite(engine, { roles: { gateway: 'api', worker: false } })
  const { expect, pushBlob, pushManifest, newImage, pushImage } = site

  /** The address of the next page, which has to lead there as it is. */
  const nextOf = ({ headers }: Told): string | null => {
    if (headers['link'] === undefined) return null
    const [, path = ''] = /^<([^<>]+)>; rel="next"$/.exec(String(headers['link'])) ?? []
    assert.match(path, /^\/v2\//)
    return path
  }
  /** What all pages have, from the first one on. */
  const pages = async <T>(path: string, itemsOf: (told: Told) => T[]): Promise<T[][]> => {
    const found: T[][] = []
    for (let next: string | null = path; next !== null; ) {
      const told: Told = await expect({ path: next }, 200)
      found.push(itemsOf(told))
      next = nextOf(told)
    }
    return found
  }

  describe('the tags of an image', () => {
    const list = '/v2/releases/tags/of/tags/list'
    const tags = ['v2', '10', '2', 'a', 'A', '_x', 'b.1-2']
    const sorted = ['10', '2', 'A', '_x', 'a', 'b.1-2', 'v2']
    before(async () => {
      const manifest = await newImage('releases/tags/of')
      for (const tag of tags) await pushManifest('releases/tags/of', manifest, tag)
    })

    it('are listed in the order of their bytes, with the whole name', async () => {
      assert.deepEqual((await expect({ path: list }, 200)).json, { name: 'releases/tags/of', tags: sorted })
    })

    it('come in pages, each leading to the next', async () => {
      const found = await pages(`${list}?n=3`, ({ json }) => json.tags)
      assert.deepEqual(found, [sorted.slice(0, 3), sorted.slice(3, 6), sorted.slice(6)])
      assert.deepEqual((await expect({ path: `${list}?n=100` }, 200)).headers['link'], undefined)
    })

    it('are none of none, and go on behind what need not be there', async () => {
      const none = await expect({ path: `${list}?n=0` }, 200)
      assert.deepEqual([none.json.tags, none.headers['link']], [[], undefined])
      assert.deepEqual((await expect({ path: `${list}?last=A` }, 200)).json.tags, sorted.slice(3))
      assert.deepEqual((await expect({ path: `${list}?last=B` }, 200)).json.tags, sorted.slice(3))
      for (const n of ['x', '-1', '1.5', '9'.repeat(30)])
        await expect({ path: `${list}?n=${n}` }, 400, 'PAGINATION_NUMBER_INVALID')
    })

    it('are an empty list where nothing was ever pushed', async () => {
      assert.deepEqual((await expect({ path: '/v2/releases/never/used/tags/list' }, 200)).json.tags, [])
    })
  })

  describe('what refers to a manifest', () => {
    const image = 'releases/referred'
    const path = (digest: string, query = '') => `/v2/${image}/referrers/${digest}${query}`
    const sbom = 'application/vnd.example.sbom+json'
    const itemsOf = (told: Told): Record<string, unknown>[] => {
      assert.equal(told.headers['content-type'], indexType)
      const { schemaVersion, mediaType, manifests } = told.json
      assert.deepEqual([schemaVersion, mediaType], [2, indexType])
      return manifests
    }

    it('is nothing where nothing was ever pushed', async () => {
      const told = await expect({ path: `/v2/releases/unused/referrers/${sha256('any')}` }, 200)
      assert.deepEqual(itemsOf(told), [])
      await expect({ path: path('not-a-digest') }, 400, 'DIGEST_INVALID')
    })

    it('is listed with its type and annotations, pushed before the manifest or behind it', async () => {
      const subject = await newImage(image)
      const refers = { subject: described(subject.text, imageType) }
      const early = await newImage(image, { ...refers, annotations: { 'org.example.ü': 'yes' } })
      const told = await pushManifest(image, early, early.digest)
      assert.equal(told.headers['oci-subject'], subject.digest)
      await pushManifest(image, subject, 'subject')
      const late = await newImage(image, { ...refers, artifactType: sbom })
      assert.equal((await pushManifest(image, late, 'late')).headers['oci-subject'], subject.digest)
      const plain = manifestOf({ ...refers, manifests: [] }, indexType)
      const typed = manifestOf({ ...refers, manifests: [], artifactType: sbom }, indexType)
      for (const index of [plain, typed])
        assert.equal((await pushManifest(image, index, index.digest)).headers['oci-subject'], subject.digest)
      const config = JSON.parse(early.text).config.mediaType
      const of = ({ text, type }: typeof plain, more: object) => ({ ...described(text, type), ...more })
      const expected = [
        of(early, { artifactType: config, annotations: { 'org.example.ü': 'yes' } }),
        of(late, { artifactType: sbom }),
        of(plain, {}),
        of(typed, { artifactType: sbom }),
      ].sort((one, other) => (one.digest < other.digest ? -1 : 1))
      assert.deepEqual(itemsOf(await expect({ path: path(subject.digest) }, 200)), expected)
      const filtered = await expect({ path: path(subject.digest, `?artifactType=${encodeURIComponent(sbom)}`) }, 200)
      assert.equal(filtered.headers['oci-filters-applied'], 'artifactType')
      assert.deepEqual(
        itemsOf(filtered),
        expected.filter((each) => Reflect.get(each, 'artifactType') === sbom),
      )
      const both = `?artifactType=${encodeURIComponent(sbom)}&artifactType=${encodeURIComponent(config)}`
      assert.equal(itemsOf(await expect({ path: path(subject.digest, both) }, 200)).length, 3)
      const empty = await expect({ path: path(subject.digest, '?artifactType=') }, 200)
      assert.deepEqual([itemsOf(empty), empty.headers['oci-filters-applied']], [[], 'artifactType'])
    })

    it('comes in pages where it is much, or long', async () => {
      const subject = await pushImage(image, 'much')
      const config = await pushBlob(image, '{}')
      const refers = { subject: described(subject.text, imageType), config, layers: [] }
      const many = Array.from({ length: 101 }, (_, number) =>
        manifestOf({ ...refers, annotations: { n: `${number}` } }),
      )
      for (const each of many) await pushManifest(image, each, each.digest)
      const found = await pages(path(subject.digest), itemsOf)
      assert.deepEqual(
        found.map((page) => page.length),
        [100, 1],
      )
      assert.equal(new Set(found.flat().map(({ digest }) => digest)).size, 101)
      const other = await pushImage(image, 'long')
      const long = { ...refers, subject: described(other.text, imageType) }
      for (const letter of ['a', 'b', 'c']) {
        const manifest = manifestOf({ ...long, annotations: { long: letter.repeat(2_000_000) } })
        await pushManifest(image, manifest, manifest.digest)
      }
      const pagesOfLong = await pages(path(other.digest), itemsOf)
      assert.deepEqual(
        pagesOfLong.map((page) => page.length),
        [2, 1],
      )
    })
  })

  describe('the catalog', () => {
    it('has the images of every repository that the caller may list, and of no other', async () => {
      for (const repository of ['a-b', 'ab', 'hidden']) {
        await createRepository(site.service, repository)
        if (repository !== 'hidden') await grant(site.service, site.owner, repository, 'write')
      }
      for (const image of ['a-b/one', 'a-b/two/three', 'ab/one', 'second/x']) await pushImage(image, 'v1')
      const secret = await createPerson(site.service, 'secret')
      await grant(site.service, secret, 'hidden', 'write')
      const { text, type } = manifestOf({ manifests: [] }, indexType)
      const put = { method: 'PUT', path: '/v2/hidden/x/manifests/v1', headers: { 'content-type': type }, body: text }
      await expect({ ...put, credential: secret.token }, 201)
      const all = (await expect({ path: '/v2/_catalog' }, 200)).json.repositories
      assert.deepEqual(all, ['a-b/one', 'a-b/two/three', 'ab/one', 'releases/referred', 'releases/tags/of', 'second/x'])
      for (const n of [1, 2, 5]) {
        const found = await pages(`/v2/_catalog?n=${n}`, ({ json }) => json.repositories)
        assert.deepEqual(found.flat(), all)
        assert.ok(found.slice(0, -1).every((page) => page.length === n))
      }
      const seen = await expect({ path: '/v2/_catalog', credential: secret.token }, 200)
      assert.deepEqual(seen.json.repositories, ['hidden/x'])
      await expect({ path: '/v2/_catalog?last=%00' }, 400)
      await expect({ path: '/v2/hidden/x/tags/list' }, 404, 'NAME_UNKNOWN')
    })
  })
})
