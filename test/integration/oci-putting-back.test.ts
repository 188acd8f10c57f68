import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { hour, minute } from '../../src/kernel/units.ts'
import { settleImages } from '../../src/protocols/oci/jobs.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { imageSite, type Pushed, pusher, sha256, sha512 } from '../harness/images.ts'
import { type Inspection, openInspection } from '../harness/inspection.ts'
import { signIn } from '../harness/people.ts'
import { inDatabase } from '../harness/rows.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

const image = 'releases/team/app'
const name = 'team/app'

forEachEngine((engine) => {
  const site = imageSite(engine, { roles: { gateway: 'api', worker: false } })
  const base = '/api/v1/repositories/releases/images'
  let inspection: Inspection
  let token = ''
  let first: Pushed
  let second: Pushed
  before(async () => {
    inspection = await openInspection(site.service)
    token = site.owner.token
    first = await pushImage(image, 'v1')
    second = await pushImage(image, 'v1')
  })
  after(() => inspection.close())

  const expect: typeof site.expect = (given, status, code) => site.expect({ credential: token, ...given }, status, code)
  const { pushManifest, newImage, pushImage } = pusher(expect)
  const ask = async (given: Ask, status: number, code?: string): Promise<Told> => {
    const told = await site.ask({ credential: token, ...given, path: base + given.path })
    assert.equal(told.status, status, `${given.path}: ${told.text}`)
    if (code !== undefined) assert.equal(told.json.code, code)
    return told
  }
  const put = (tag: string, digest: string, status = 200, more: object = {}) =>
    ask({ method: 'PUT', path: '/tags', json: { image: name, tag, digest, ...more } }, status)
  const untag = (tag: string, status = 204, more = '') =>
    ask({ method: 'DELETE', path: `/tags?image=${name}&tag=${tag}${more}` }, status)
  const moves = async (tag: string, more = '') =>
    (await ask({ path: `/tag-moves?image=${name}&tag=${tag}${more}` }, 200)).json
  const removed = async (more = '') => (await ask({ path: `/tags/removed?image=${name}${more}` }, 200)).json
  const pulled = async (tag: string, status = 200) =>
    (await expect({ method: 'HEAD', path: `/v2/${image}/manifests/${tag}` }, status)).headers['docker-content-digest']
  const pass = async (ms: number): Promise<void> => {
    site.service.clock.advance(ms)
    token = await signIn(site.service, site.owner.name)
  }
  const settle = () => settleImages({ ...inspection, cleanupGraceMs: 24 * hour, report: assert.ifError })

  describe('a tag', () => {
    it('is moved back to where its history says that it was, and a pull follows', async () => {
      const { items } = await moves('v1')
      assert.deepEqual(
        items.map(({ digest, removed, revision }: Record<string, unknown>) => [revision, digest, removed]),
        [
          [2, second.digest, false],
          [1, first.digest, false],
        ],
      )
      assert.equal(items[0].keptUntil, null)
      assert.equal(Date.parse(items[1].keptUntil), Date.parse(items[0].movedAt) + 24 * hour)
      assert.deepEqual([items[0].actor, items[0].actorName], [`account:${site.owner.id}`, site.owner.name])
      const told = await put('v1', first.digest, 200, { expectedDigest: second.digest })
      assert.deepEqual([told.json.tag, told.json.digest, told.json.actorName], ['v1', first.digest, site.owner.name])
      assert.deepEqual(told.json, (await ask({ path: `/tags?image=${name}` }, 200)).json.items[0])
      assert.equal(await pulled('v1'), first.digest)
      assert.deepEqual((await moves('v1', '&limit=1')).items[0].revision, 3)
      const rest = await moves('v1', `&before=${(await moves('v1', '&limit=1')).next}`)
      assert.deepEqual([rest.items.length, rest.next], [2, null])
    })

    it('is told by the journal as a move over the wire is, and where it is already by nothing', async () => {
      await put('told', first.digest)
      await put('told', first.digest)
      await pushManifest(image, second, 'told')
      await untag('told')
      const lines = await inDatabase(site.service, (q) =>
        q.selectFrom('journal').select(['action', 'actor']).where('detail', '=', `${name}:told`).execute(),
      )
      assert.deepEqual(
        lines.map(({ action }) => action),
        ['tag.set', 'tag.set', 'tag.remove'],
      )
      assert.equal(new Set(lines.map(({ actor }) => actor)).size, 1)
    })

    it('is moved only from where it is expected', async () => {
      await put('only', first.digest, 200, { expectedDigest: null })
      await put('only', second.digest, 409, { expectedDigest: null })
      const told = await put('only', second.digest, 409, { expectedDigest: second.digest })
      assert.equal(told.json.code, 'revision_mismatch')
      assert.match(told.json.detail, new RegExp(first.digest))
      await put('nowhere', second.digest, 409, { expectedDigest: first.digest })
      await put('only', second.digest, 200, { expectedDigest: first.digest })
      await untag('only', 409, `&expectedDigest=${first.digest}`)
      await untag('only', 204, `&expectedDigest=${second.digest}`)
      await untag('only', 404, `&expectedDigest=${second.digest}`)
      await untag('only', 404)
    })

    it('goes to no manifest that is not here, and is set and taken away with asset.write alone', async () => {
      await put('v2', sha256('nothing'), 404)
      await put('-v2', first.digest, 400)
      await put('v2', 'sha256:x', 400)
      for (const credential of [site.reader.token, site.key]) {
        const json = { image: name, tag: 'v1', digest: second.digest }
        await ask({ method: 'PUT', path: '/tags', json, credential }, 403)
        const path = `/tags?image=${name}&tag=v1`
        await ask({ method: 'DELETE', path, credential }, 403)
      }
      assert.equal(await pulled('v1'), first.digest)
    })

    it('that is to stay where it is stays, and what has a stage is not deleted', async () => {
      const bindings = [binding('releases', 'storage.manage')]
      const robot = await createServiceAccount(site.service, bindings)
      const { secret } = await activeKey(site.service, robot.id, { bindings })
      const immutable = { expectedRevision: 0, patterns: ['final*'] }
      await ask({ method: 'PUT', path: '/immutable-tags', credential: secret, json: immutable }, 200)
      await put('final-1', first.digest)
      assert.equal((await put('final-1', second.digest, 409)).json.code, 'tag_immutable')
      assert.equal((await untag('final-1', 409)).json.code, 'tag_immutable')
      const staged = await pushImage(image, 'staged')
      const stage = { image: name, reference: 'staged' }
      await ask({ method: 'PUT', path: '/stages/tested', json: stage }, 200)
      const path = `/manifests?image=${name}&digest=${staged.digest}`
      await ask({ method: 'DELETE', path, credential: site.key }, 409, 'image_kept')
      assert.deepEqual((await put('staged-too', staged.digest)).json.stages, ['tested'])
      const opened = (await ask({ path: `/manifest?image=${name}&reference=staged` }, 200)).json
      assert.deepEqual([opened.stages, opened.tags], [['tested'], ['staged', 'staged-too']])
    })

    it('that is set by a SHA-512 is called by it', async () => {
      const manifest = await newImage(image)
      await pushManifest(image, manifest, sha512(manifest.text))
      assert.equal((await put('long', sha512(manifest.text))).json.digest, sha512(manifest.text))
      assert.equal(await pulled('long'), sha512(manifest.text))
    })
  })

  describe('a tag that was taken away', () => {
    it('is found with until when it can be put back, and is not when it is there again', async () => {
      const lone = await pushImage(image, 'lone')
      await untag('lone')
      await pass(minute)
      await put('beside', first.digest)
      await untag('beside')
      const all = (await removed()).items
      assert.deepEqual(
        all.slice(0, 2).map(({ tag, digest }: Record<string, unknown>) => [tag, digest]),
        [
          ['beside', first.digest],
          ['lone', lone.digest],
        ],
      )
      assert.equal(all[0].keptUntil, null)
      assert.equal(Date.parse(all[1].keptUntil), Date.parse(all[1].removedAt) + 24 * hour)
      assert.equal(all[1].actorName, site.owner.name)
      const page = await removed('&limit=1')
      assert.deepEqual((await removed(`&limit=1&after=${page.next}`)).items, [all[1]])
      await put('lone', lone.digest)
      await put('beside', second.digest)
      await untag('beside')
      const now = (await removed()).items.map(({ tag }: { tag: string }) => tag)
      assert.deepEqual([now.includes('lone'), now.filter((tag: string) => tag === 'beside')], [false, ['beside']])
    })

    it('goes from the list with its manifest, when the grace period is over', async () => {
      const gone = await pushImage(image, 'gone')
      await untag('gone')
      await pass(25 * hour)
      await put('v1', first.digest)
      await settle()
      await put('gone', gone.digest, 404)
      assert.ok(!(await removed()).items.some(({ tag }: { tag: string }) => tag === 'gone'))
      assert.deepEqual((await moves('gone')).items, [])
    })
  })

  describe('a manifest', () => {
    it('is deleted with its tags, by who may delete', async () => {
      const manifest = await pushImage(image, 'deleted')
      const path = `/manifests?image=${name}&digest=${manifest.digest}`
      await ask({ method: 'DELETE', path }, 403)
      await ask({ method: 'DELETE', path, credential: site.key }, 204)
      await pulled('deleted', 404)
      await ask({ method: 'DELETE', path, credential: site.key }, 404)
      assert.ok(!(await removed()).items.some(({ tag }: { tag: string }) => tag === 'deleted'))
    })

    it('leaves everything in order', async () => {
      await inspection.inOrder()
    })
  })
})
