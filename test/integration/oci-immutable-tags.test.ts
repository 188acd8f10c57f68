import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { immutableTagsMax } from '../../src/kernel/limits/oci.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { imageSite, sha512 } from '../harness/images.ts'
import { type Inspection, openInspection } from '../harness/inspection.ts'
import { createRepository } from '../harness/people.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

const image = 'releases/app'
const path = '/api/v1/repositories/releases/images/immutable-tags'

forEachEngine((engine) => {
  const site = imageSite(engine, { roles: { gateway: 'api', worker: false } })
  const { expect, pushImage, pushManifest, newImage } = site
  let inspection: Inspection
  let manager: string
  let actor: string
  before(async () => {
    inspection = await openInspection(site.service)
    const bindings = [binding('releases', 'artifact.list', 'storage.manage', 'diagnostics.read')]
    const account = await createServiceAccount(site.service, bindings)
    manager = (await activeKey(site.service, account.id, { bindings })).secret
    actor = `service-account:${account.id}`
  })
  after(() => inspection.close())

  const ask = (given: object, status: number, code?: string): Promise<Told> =>
    expectAnswer(site.service, { path, credential: manager, ...given }, status, code)
  const list = async (): Promise<Told['json']> => (await ask({}, 200)).json
  const save = async (...patterns: string[]): Promise<Told['json']> => {
    const { revision: expectedRevision } = await list()
    return (await ask({ method: 'PUT', json: { expectedRevision, patterns } }, 200)).json
  }
  const digestAt = async (tag: string): Promise<unknown> =>
    (await expect({ method: 'HEAD', path: `/v2/${image}/manifests/${tag}` }, 200)).headers['docker-content-digest']
  const remove = (reference: string, credential = site.owner.token) => ({
    method: 'DELETE',
    path: `/v2/${image}/manifests/${reference}`,
    credential,
  })

  describe('the list of immutable tags', () => {
    it('begins empty, is saved as a whole, and says who saved it', async () => {
      assert.deepEqual(await list(), { revision: 0, patterns: [], savedAt: null, actor: null })
      const saved = await save('v*', 'final')
      assert.deepEqual({ ...saved, savedAt: null }, { revision: 1, patterns: ['v*', 'final'], savedAt: null, actor })
      assert.ok(Math.abs(Date.parse(saved.savedAt) - site.service.clock.now()) < 60_000)
      assert.deepEqual(await list(), saved)
    })

    it('is compared before it is swapped', async () => {
      const json = { expectedRevision: 0, patterns: [] }
      await ask({ method: 'PUT', json }, 409, 'revision_mismatch')
      assert.deepEqual((await list()).patterns, ['v*', 'final'])
    })

    it('is told to operators', async () => {
      const events = '/api/v1/repositories/releases/storage/events'
      const { items } = (await ask({ path: events }, 200)).json
      const { level, code, details } = items.at(-1)
      assert.deepEqual([level, code], ['info', 'immutable-tags.saved'])
      assert.deepEqual(details, { revision: 1, patterns: 'v* final', actor })
    })

    it('has a bounded number of patterns, each of which could be a tag', async () => {
      const { revision: expectedRevision } = await list()
      for (const patterns of [
        [''],
        ['v 1'],
        ['-v'],
        ['a/b'],
        ['v?'],
        ['v'.repeat(129)],
        ['v*', 'v*'],
        Array.from({ length: immutableTagsMax + 1 }, (_, n) => `t${n}`),
      ])
        await ask({ method: 'PUT', json: { expectedRevision, patterns } }, 400, 'invalid_request')
      const most = Array.from({ length: immutableTagsMax }, (_, n) => `most-${n}`.padEnd(128, 'x'))
      assert.deepEqual((await save(...most)).patterns, most)
      await save('v*', 'final')
    })

    it('is read by those who list, and saved by those who manage', async () => {
      await ask({ credential: site.reader.token }, 200)
      const json = { expectedRevision: 1, patterns: [] }
      for (const credential of [site.reader.token, site.owner.token, site.key])
        await ask({ method: 'PUT', credential, json }, 403, 'permission_missing')
    })
  })

  describe('a tag that is immutable', () => {
    it('is set once, and not moved: by its name, beside a digest, or among others', async () => {
      const first = await pushImage(image, 'v1')
      const second = await newImage(image)
      for (const reference of ['v1', `${second.digest}?tag=v1`, 'other?tag=new,v1']) {
        const told = await pushManifest(image, second, reference, 409)
        const [{ code, message, detail }] = told.json.errors
        assert.equal(code, 'DENIED')
        assert.match(
          message,
          /The tag v1 stays where it is: it matches v\*, which is among the immutable tags of this repository\./,
        )
        assert.deepEqual(
          { ...detail, requestId: '' },
          { tag: 'v1', pattern: 'v*', reason: 'tag_immutable', requestId: '' },
        )
      }
      assert.equal(await digestAt('v1'), first.digest)
      for (const reference of ['other', 'new', second.digest])
        await expect({ path: `/v2/${image}/manifests/${reference}` }, 404, 'MANIFEST_UNKNOWN')
    })

    it('may be set again to what it is at', async () => {
      const same = await pushImage(image, 'v2')
      await pushManifest(image, same, 'v2')
      await pushManifest(image, same, `${same.digest}?tag=v2&tag=beside`)
      assert.equal(await digestAt('v2'), same.digest)
    })

    it('is called by the digest that it had, also where its manifest comes again under another', async () => {
      const same = await pushImage(image, 'v12')
      await pushManifest(image, same, `${sha512(same.text)}?tag=v12&tag=free`)
      assert.equal(await digestAt('v12'), same.digest)
      assert.equal(await digestAt('free'), sha512(same.text))
    })

    it('is not taken away, nor its manifest with it', async () => {
      const manifest = await pushImage(image, 'final')
      await pushManifest(image, manifest, 'beside')
      await expect(remove('final'), 409, 'DENIED')
      const told = await expect(remove(manifest.digest, site.key), 409, 'DENIED')
      assert.match(told.json.errors[0].message, /The tag final stays/)
      assert.equal(await digestAt('final'), manifest.digest)
      assert.equal(await digestAt('beside'), manifest.digest)
      await expect(remove('beside'), 202)
    })

    it('stays for whoever moves or deletes it over JSON, or promotes another to it, as well', async () => {
      const api = '/api/v1/repositories/releases/images'
      const there = await pushImage(image, 'v9')
      const { digest } = await pushImage(image, 'beside')
      const refused = async (given: Ask): Promise<void> => {
        const told = await site.ask(given)
        assert.deepEqual([told.status, told.json.code], [409, 'tag_immutable'], told.text)
        assert.match(told.json.detail, /The tag v9 stays where it is/)
      }
      const put = { method: 'PUT', path: `${api}/tags` }
      await refused({ ...put, json: { image: 'app', tag: 'v9', digest } })
      await refused({ method: 'DELETE', path: `${api}/tags?image=app&tag=v9` })
      const manifest = `${api}/manifests?image=app&digest=${there.digest}`
      await refused({ method: 'DELETE', path: manifest, credential: site.key })
      const promotion = { path: `${api}/promote`, json: { image: 'app', reference: 'v9', target: 'second' } }
      await refused({ ...promotion, json: { ...promotion.json, mode: 'move' } })
      const again = { ...put, json: { image: 'app', tag: 'v9', digest: there.digest } }
      assert.equal((await site.ask(again)).status, 200)
      await pushImage('second/app', 'from')
      const back = { image: 'app', reference: 'from', target: 'releases', tags: ['v9'] }
      await refused({ path: '/api/v1/repositories/second/images/promote', json: back })
      assert.equal(await digestAt('v9'), there.digest)
    })

    it('is one of its repository alone, and in the case in which it is written', async () => {
      await pushImage(image, 'V1')
      await pushImage(image, 'V1')
      await pushImage('second/app', 'v1')
      await pushImage('second/app', 'v1')
    })

    it('moves again once the list is without it', async () => {
      await pushImage(image, 'v3')
      await save('final')
      const moved = await pushImage(image, 'v3')
      assert.equal(await digestAt('v3'), moved.digest)
      await expect(remove('v3'), 202)
    })
  })

  it('a repository that comes back under its id has no immutable tags', async () => {
    const { service } = site
    await createRepository(service, 'again')
    const bindings = [binding('again', 'artifact.list', 'storage.manage')]
    const account = await createServiceAccount(service, bindings)
    const { secret: credential } = await activeKey(service, account.id, { bindings })
    const there = { path: path.replace('releases', 'again') }
    await ask({ ...there, credential, method: 'PUT', json: { expectedRevision: 0, patterns: ['*'] } }, 200)
    const gone = { method: 'DELETE', path: '/api/v1/repositories/again', credential: service.recoveryKey }
    await ask(gone, 204)
    await createRepository(service, 'again')
    assert.equal((await ask({ ...there, credential: site.key }, 404)).json.code, 'not_found')
    const anew = await createServiceAccount(service, bindings)
    const key = await activeKey(service, anew.id, { bindings })
    assert.equal((await ask({ ...there, credential: key.secret }, 200)).json.revision, 0)
  })

  it('leaves everything in order', async () => {
    await inspection.inOrder()
  })
})
