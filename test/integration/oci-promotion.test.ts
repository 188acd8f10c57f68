import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { imagePromotions, sizeOf } from '../harness/image-promotions.ts'
import { described, imageSite, imageType, indexType, manifestOf } from '../harness/images.ts'
import { type Inspection, openInspection } from '../harness/inspection.ts'
import { createRepository, grant } from '../harness/people.ts'
import { inDatabase } from '../harness/rows.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

const api = '/api/v1/repositories'

forEachEngine((engine) => {
  const site = imageSite(engine)
  const { expect, pushManifest, pushImage, newImage } = site
  const { promoting, promote, isThere, isGone, events, bytesIn } = imagePromotions(site)
  let inspection: Inspection
  before(async () => {
    inspection = await openInspection(site.service)
  })
  after(() => inspection.close())

  describe('a copy', () => {
    it('has the tag, the digests and the bytes of its source, and is counted once in the target', async () => {
      const manifest = await pushImage('releases/team/app', '1.0')
      const before = await bytesIn('second')
      const promoted = await promote({ image: 'team/app', reference: '1.0', comment: 'good' })
      assert.deepEqual(promoted, {
        ...{ repository: 'second', image: 'team/app', digest: manifest.digest, tags: ['1.0'] },
        ...{ sourceRepository: 'releases', sourceImage: 'team/app', mode: 'copy', created: true, manifests: 1 },
        stages: [],
      })
      assert.equal((await bytesIn('second')) - before, sizeOf(manifest))
      for (const image of ['releases/team/app', 'second/team/app']) await isThere(image, manifest, '1.0')
      const [layer] = JSON.parse(manifest.text).layers
      const layerIn = (repository: string) => expect({ path: `/v2/${repository}/team/app/blobs/${layer.digest}` }, 200)
      const [there, here] = [await layerIn('releases'), await layerIn('second')]
      assert.ok(there.bytes.equals(here.bytes))
      const again = await promote({ image: 'team/app', reference: '1.0', comment: 'good' }, 200)
      assert.deepEqual(again, { ...promoted, created: false, manifests: 0 })
      const other = await promote({
        image: 'team/app',
        reference: manifest.digest,
        targetImage: 'other',
        tags: ['a', 'b'],
      })
      assert.deepEqual([other.image, other.tags], ['other', ['a', 'b']])
      for (const tag of ['a', 'b']) await isThere('second/other', manifest, tag)
      assert.equal((await bytesIn('second')) - before, sizeOf(manifest), 'the bytes are there already')
    })

    it('by digest has no tag unless one is asked for, and may be given stages', async () => {
      const manifest = await newImage('releases/untagged')
      await pushManifest('releases/untagged', manifest, manifest.digest)
      const wish = { image: 'untagged', reference: manifest.digest, stages: ['released', 'approved'], comment: 'go' }
      assert.deepEqual((await promote(wish)).stages, ['approved', 'released'])
      const tags = (await expect({ path: '/v2/second/untagged/tags/list' }, 200)).json.tags
      assert.deepEqual(tags, [])
      const { items } = (await expect({ path: `${api}/second/images/stages?image=untagged` }, 200)).json
      assert.deepEqual(
        items.map(({ stage, comment }: Told['json']) => [stage, comment]),
        [
          ['approved', 'go'],
          ['released', 'go'],
        ],
      )
      assert.deepEqual((await promote({ ...wish, stages: ['more'] }, 200)).stages, ['approved', 'more', 'released'])
    })

    it('moves a tag of the target that is elsewhere, and what was there stays', async () => {
      const [old, next] = [await pushImage('releases/tags', 'v1'), await pushImage('releases/tags', 'v2')]
      await promote({ image: 'tags', reference: 'v1', tags: ['latest'] })
      await promote({ image: 'tags', reference: 'v2', tags: ['latest'] })
      await isThere('second/tags', next, 'latest')
      await isThere('second/tags', old, old.digest)
    })
  })

  describe('a move', () => {
    it('takes tag and stages along, and leaves the source without them until its grace is over', async () => {
      const manifest = await pushImage('releases/moved', 'v1')
      const stages = `${api}/releases/images/stages`
      await expect(
        { method: 'PUT', path: `${stages}/tested`, json: { image: 'moved', reference: 'v1', comment: 'by CI' } },
        200,
      )
      const [given] = (await expect({ path: `${stages}?image=moved` }, 200)).json.items
      const wish = { image: 'moved', reference: 'v1', mode: 'move', stages: ['released'], tags: ['v1', 'stable'] }
      const promoted = await promote(wish)
      assert.deepEqual(promoted.stages, ['released', 'tested'])
      await isGone('releases/moved', 'v1')
      await isThere('releases/moved', manifest, manifest.digest)
      for (const tag of ['v1', 'stable']) await isThere('second/moved', manifest, tag)
      assert.deepEqual((await expect({ path: `${stages}?image=moved` }, 200)).json.items, [])
      const carried = (await expect({ path: `${api}/second/images/stages?image=moved&stage=tested` }, 200)).json.items
      assert.deepEqual(carried, [given])
      // By its tag, which is gone, and by its digest, which is still there: the answer is the same.
      const again = { ...promoted, created: false, manifests: 0 }
      assert.deepEqual(await promote(wish, 200), again)
      const byDigest = { ...wish, reference: manifest.digest }
      assert.deepEqual(await promote(byDigest, 200), again)
      const before = await events('second', 'image=moved&reference=v1')
      await expect(
        { method: 'DELETE', path: `/v2/releases/moved/manifests/${manifest.digest}`, credential: site.key },
        202,
      )
      for (const each of [wish, byDigest]) assert.deepEqual(await promote(each, 200), again)
      assert.deepEqual(await events('second', 'image=moved&reference=v1'), before)
      // A copy of what is gone is none; nor is one of another tag, or in another place.
      for (const other of [{ mode: 'copy' }, { reference: 'v2' }, { targetImage: 'x' }])
        await promote({ ...wish, ...other }, 404, 'not_found')
    })

    it('is refused for what something else keeps, and leaves it as it was', async () => {
      const image = 'releases/unmoved'
      const manifest = await pushImage(image, 'v1')
      await pushManifest(image, manifest, 'also')
      const wish = { image: 'unmoved', mode: 'move' }
      const told = await promote({ ...wish, reference: 'v1' }, 409, 'source_not_deletable')
      assert.match(told.detail, /the tag also/)
      await promote({ ...wish, reference: manifest.digest, tags: ['v1'] }, 409, 'source_not_deletable')
      const child = await pushImage(image, 'child')
      const index = manifestOf({ manifests: [described(child.text, imageType)] }, indexType)
      await pushManifest(image, index, 'index')
      const referrer = await newImage(image, { subject: described(child.text, imageType) })
      await pushManifest(image, referrer, 'referrer')
      for (const reference of ['child', 'referrer']) await promote({ ...wish, reference }, 409, 'source_not_deletable')
      for (const tag of ['v1', 'also', 'child', 'index', 'referrer'])
        await expect({ method: 'HEAD', path: `/v2/${image}/manifests/${tag}` }, 200)
      await isGone('second/unmoved', 'v1')
      await promote({ ...wish, reference: 'v1', tags: ['v1', 'also'] })
      await isGone(image, 'also')
    })
  })

  describe('both journals tell of it', () => {
    it('once of each two, each with the other end, as far as who reads may see that', async () => {
      const index = manifestOf({ manifests: [] }, indexType)
      await pushManifest('releases/told', index, 'v1')
      const signature = await newImage('releases/told', { subject: described(index.text, indexType) })
      await pushManifest('releases/told', signature, signature.digest)
      for (const status of [201, 200])
        await promote({ image: 'told', reference: 'v1', targetImage: 'heard', comment: 'why' }, status)
      const sent = await events('releases', 'image=told&reference=v1')
      const received = await events('second', 'image=heard&reference=v1')
      assert.deepEqual([sent.length, received.length], [1, 1])
      const shared = { digest: index.digest, stage: null, mode: 'copy', comment: 'why', occurredAt: sent[0].occurredAt }
      const by = { actor: `account:${site.owner.id}`, actorName: site.owner.name }
      const ends = [
        { repository: 'releases', artifactId: received[0].peerArtifactId, image: 'told', action: 'promoted' },
        { repository: 'second', artifactId: sent[0].peerArtifactId, image: 'heard', action: 'received' },
      ] as const
      for (const [at, line] of [sent[0], received[0]].entries()) {
        const [own, peer] = at === 0 ? [ends[0], ends[1]] : [ends[1], ends[0]]
        const peers = { peerRepository: peer.repository, peerArtifactId: peer.artifactId, peerImage: peer.image }
        assert.deepEqual(line, {
          sequence: line.sequence,
          ...own,
          ...peers,
          ...shared,
          ...by,
          package: null,
          version: null,
        })
      }
      const ofSignature = await events('second', `image=heard&reference=${signature.digest}`)
      assert.deepEqual(
        ofSignature.map(({ action }) => action),
        ['received'],
      )
      const credential = site.reader.token
      const path = `${api}/releases/images/promotions?image=told&reference=v1`
      const [seen] = (await expect({ path, credential }, 200)).json.items
      assert.deepEqual([seen.peerRepository, seen.peerArtifactId, seen.peerImage], [null, null, null])
      const changes = await expect({ path: `${api}/second/changes?after=${Number(received[0].sequence) - 1}` }, 200)
      assert.deepEqual(
        changes.json.items.map(({ action, detail }: Told['json']) => [action, detail]),
        [
          ['image.received', `heard@${index.digest}`],
          ['image.received', `heard@${signature.digest}`],
          ['tag.set', 'heard:v1'],
        ],
      )
    })
  })

  describe('a promotion is refused', () => {
    const wish = { image: 'refused', reference: 'v1' }
    before(async () => {
      await pushImage('releases/refused', 'v1')
    })

    it('where the input is wrong, and for what is not there', async () => {
      for (const [given, status, code] of [
        [{ target: 'releases' }, 400, 'invalid_request'],
        [{ tags: ['-'] }, 400, 'invalid_request'],
        [{ tags: ['a', 'a'] }, 400, 'invalid_request'],
        [{ targetImage: 'UPPER' }, 400, 'invalid_request'],
        [{ targetImage: 'x'.repeat(250) }, 400, 'invalid_request'],
        [{ stages: ['Stage'] }, 400, 'invalid_request'],
        [{ reference: 'sha256:no' }, 400, 'invalid_request'],
        [{ reference: 'nothing' }, 404, 'not_found'],
        [{ image: 'nothing' }, 404, 'not_found'],
        [{ target: 'nowhere' }, 404, 'not_found'],
      ] as const)
        await promote({ ...wish, ...given }, status, code)
      await expect({ path: `${api}/releases/images/promotions?image=refused&reference=nothing` }, 404)
    })

    it('to who may not, there or, to move, here', async () => {
      const reader = { ...promoting(wish), credential: site.reader.token }
      assert.equal((await site.ask(reader)).status, 404, 'they do not see the target')
      await createRepository(site.service, 'third')
      await grant(site.service, site.reader, 'third', 'read')
      const json = { target: 'third', ...wish }
      assert.equal((await site.ask({ ...reader, json })).status, 403)
      await grant(site.service, site.reader, 'third', 'write')
      const moving = await site.ask({ ...reader, json: { ...json, mode: 'move' } })
      assert.equal(moving.status, 403)
      assert.match(moving.text, /artifact\.promote/)
      assert.equal((await site.ask({ ...reader, json })).status, 201)
    })

    it('where an index lists what was deleted', async () => {
      const image = 'releases/refused'
      const child = await newImage(image)
      await pushManifest(image, child, child.digest)
      await pushManifest(image, manifestOf({ manifests: [described(child.text, imageType)] }, indexType), 'index')
      await expect({ method: 'DELETE', path: `/v2/${image}/manifests/${child.digest}`, credential: site.key }, 202)
      const told = await promote({ ...wish, reference: 'index' }, 409, 'image_incomplete')
      assert.ok(told.detail.includes(child.digest))
    })

    it('where it would move a tag that stays where it is, there or here', async () => {
      const bindings = ['releases', 'second'].map((id) => binding(id, 'artifact.list', 'storage.manage'))
      const account = await createServiceAccount(site.service, bindings)
      const credential = (await activeKey(site.service, account.id, { bindings })).secret
      const keep = (repository: string, ...patterns: string[]) =>
        site.service.ask({
          ...{
            method: 'PUT',
            path: `${api}/${repository}/images/immutable-tags`,
            credential,
          },
          json: { expectedRevision: 0, patterns },
        })
      const [old, next] = [await pushImage('releases/stays', 'v1'), await pushImage('releases/stays', 'v2')]
      await promote({ image: 'stays', reference: 'v1', tags: ['final'] })
      assert.equal((await keep('second', 'final')).status, 200)
      await promote({ image: 'stays', reference: 'v2', tags: ['final', 'other'] }, 409, 'tag_immutable')
      await isGone('second/stays', 'other')
      await isGone('second/stays', next.digest)
      await isThere('second/stays', old, 'final')
      assert.equal((await keep('releases', 'v2')).status, 200)
      await promote({ image: 'stays', reference: 'v2', mode: 'move' }, 409, 'tag_immutable')
      await isThere('releases/stays', next, 'v2')
      await isGone('second/stays', 'v2')
    })

    it('where the target has no room for all of it, and nothing is left behind', async () => {
      await createRepository(site.service, 'small')
      await grant(site.service, site.owner, 'small', 'write')
      const manifest = await pushImage('releases/large', 'v1')
      const quota = (bytes: number) =>
        inDatabase(site.service, (q) =>
          q.updateTable('repositories').set({ quota_bytes: bytes }).where('id', '=', 'small').execute(),
        )
      await quota(sizeOf(manifest) - 1)
      const given = { image: 'large', reference: 'v1', target: 'small', stages: ['released'] }
      await promote(given, 507, 'storage_quota')
      await inDatabase(site.service, async (q) => {
        for (const table of ['claims', 'oci_blobs', 'oci_manifests', 'oci_tags', 'oci_images', 'journal'] as const)
          assert.deepEqual(
            await q.selectFrom(table).select('repository').where('repository', '=', 'small').execute(),
            [],
          )
      })
      await quota(sizeOf(manifest))
      await promote(given)
    })
  })

  it('everything is in order', async () => {
    await inspection.inOrder()
  })
})
