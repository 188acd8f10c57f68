import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { stagesPerArtifactMax } from '../../src/kernel/limits/catalog.ts'
import { hour } from '../../src/kernel/units.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { indexType, manifestOf, type Pushed } from '../harness/images.ts'
import { imagesOverTime } from '../harness/images-over-time.ts'

after(closeConnections)

const base = '/api/v1/repositories/releases/images/stages'

forEachEngine((engine) => {
  const over = imagesOverTime(engine)
  const { site, expect, newImage, pushImage, pushManifest, pass, tidy } = over
  const add = async (image: string, reference: string, stage: string, more: object = {}): Promise<Told['json']> =>
    (await expect({ method: 'PUT', path: `${base}/${stage}`, json: { image, reference, ...more } }, 200)).json
  const remove = (image: string, reference: string, stage: string): Promise<Told> =>
    expect({ method: 'DELETE', path: `${base}/${stage}?image=${image}&reference=${reference}` }, 204)
  const list = async (query: string): Promise<Told['json'][]> =>
    (await expect({ path: `${base}${query}` }, 200)).json.items
  const lone = async (image: string): Promise<Pushed> => {
    const manifest = await newImage(image)
    await pushManifest(image, manifest, manifest.digest)
    return manifest
  }

  describe('a stage of an image', () => {
    it('is given to what a tag is at, once, and stays there when the tag moves', async () => {
      const first = await pushImage('releases/staged', 'v1')
      const given = await add('staged', 'v1', 'tested', { comment: 'all green ✓' })
      assert.deepEqual(given, {
        ...{ image: 'staged', digest: first.digest, stage: 'tested', comment: 'all green ✓' },
        ...{ promotedAt: given.promotedAt, actor: `account:${site.owner.id}` },
      })
      site.service.clock.advance(60_000)
      assert.deepEqual(await add('staged', first.digest, 'tested', { comment: 'again' }), given)
      const second = await pushImage('releases/staged', 'v1')
      assert.deepEqual(await list('?image=staged&reference=v1'), [])
      assert.deepEqual(await list(`?image=staged&reference=${first.digest}`), [
        { ...given, actorName: site.owner.name },
      ])
      assert.equal((await add('staged', 'v1', 'tested')).digest, second.digest)
      for (let time = 0; time < 2; time++) await remove('staged', first.digest, 'tested')
      assert.deepEqual(
        (await list('?image=staged')).map(({ digest }) => digest),
        [second.digest],
      )
    })

    it('is one of sixteen at most', async () => {
      await pushImage('releases/full', 'v1')
      for (let number = 0; number < stagesPerArtifactMax; number++) await add('full', 'v1', `s${number}`)
      await add('full', 'v1', 's0')
      const json = { image: 'full', reference: 'v1' }
      const told = await expect({ method: 'PUT', path: `${base}/more`, json }, 409)
      assert.equal(told.json.code, 'stage_limit')
    })

    it('is refused for what is not there, and for what is no image', async () => {
      for (const [status, code, json] of [
        [404, 'not_found', { image: 'nothing', reference: 'v1' }],
        [404, 'not_found', { image: 'staged', reference: 'nothing' }],
        [404, 'not_found', { image: 'staged', reference: `sha512:${'0'.repeat(128)}` }],
        [400, 'invalid_request', { image: 'staged', reference: 'sha256:0' }],
        [400, 'invalid_request', { image: '/staged', reference: 'v1' }],
        [400, 'invalid_request', { image: 'staged' }],
      ] as const) {
        const told = await expect({ method: 'PUT', path: `${base}/tested`, json }, status)
        assert.equal(told.json.code, code, told.text)
      }
      await expect({ path: `${base}?image=staged&reference=nothing` }, 404)
      const told = await expect({ path: `${base}?reference=v1` }, 400)
      assert.equal(told.json.details[0].pointer, '/query/image')
    })

    it('is given and taken by who may promote, and listed by who may list', async () => {
      await pushImage('releases/rights', 'v1')
      const json = { image: 'rights', reference: 'v1' }
      const credential = site.reader.token
      const refused = await expect({ method: 'PUT', path: `${base}/tested`, json, credential }, 403)
      assert.equal(refused.json.code, 'permission_missing')
      await add('rights', 'v1', 'tested')
      const query = '?image=rights&reference=v1'
      await expect({ method: 'DELETE', path: `${base}/tested${query}`, credential }, 403)
      assert.equal((await expect({ path: `${base}${query}`, credential }, 200)).json.items.length, 1)
      await expect({ path: base.replace('releases', 'second'), credential }, 404)
    })

    it('is listed with others by image and digest, page by page, of one stage or one image', async () => {
      const wanted: string[] = []
      for (const image of ['list/a', 'list/b', 'list/c'])
        for (let number = 0; number < 3; number++) {
          const { digest } = await lone(`releases/${image}`)
          for (const stage of ['approved', 'released']) {
            await add(image, digest, stage)
            wanted.push(`${image} ${digest} ${stage}`)
          }
        }
      const all = async (query: string): Promise<string[]> => {
        const found: string[] = []
        for (let next: string | null = ''; next !== null; ) {
          const path: string = `${base}?limit=2${query}${next === '' ? '' : `&after=${next}`}`
          const { items, next: more } = (await expect({ path }, 200)).json
          for (const { image, digest, stage } of items)
            if (image.startsWith('list/')) found.push(`${image} ${digest} ${stage}`)
          next = more
        }
        return found
      }
      wanted.sort()
      assert.deepEqual(await all(''), wanted)
      const released = wanted.filter((each) => each.endsWith('released'))
      assert.deepEqual(await all('&stage=released'), released)
      assert.deepEqual(
        await all('&stage=released&image=list/b'),
        released.filter((each) => each.startsWith('list/b')),
      )
      assert.deepEqual(
        await all('&image=list/c'),
        wanted.filter((each) => each.startsWith('list/c')),
      )
      const { next } = (await expect({ path: `${base}?limit=1` }, 200)).json
      await expect({ path: `${base}?limit=1&stage=released&after=${next}` }, 400)
    })
  })

  it('every stage that comes and goes is told by all journals', async () => {
    const { digest } = await pushImage('releases/told', 'v1')
    await add('told', 'v1', 'tested', { comment: 'by hand' })
    await remove('told', 'v1', 'tested')
    const events = (await expect({ path: '/api/v1/repositories/releases/promotions?order=desc&limit=2' }, 200)).json
    const ofImage = { repository: 'releases', image: 'told', digest, package: null, version: null }
    const told = { ...ofImage, stage: 'tested', mode: null, peerImage: null }
    for (const [at, action, comment] of [
      [0, 'stage.removed', null],
      [1, 'stage.added', 'by hand'],
    ] as const) {
      const { artifactId, sequence, occurredAt, ...rest } = events.items[at]
      assert.match(`${artifactId} ${sequence} ${occurredAt}`, /^[0-9a-f-]{36} \d+ \d{4}-/)
      const peer = { peerRepository: null, peerArtifactId: null }
      const actor = { actor: `account:${site.owner.id}`, actorName: site.owner.name }
      assert.deepEqual(rest, { ...told, ...peer, ...actor, action, comment })
    }
    const [before] = events.items.slice(-1)
    const changes = await expect(
      { path: `/api/v1/repositories/releases/changes?after=${Number(before.sequence) - 1}` },
      200,
    )
    assert.deepEqual(
      changes.json.items.map(({ action, detail }: Told['json']) => [action, detail]),
      [
        ['image.staged', `told@${digest} tested`],
        ['image.unstaged', `told@${digest} tested`],
      ],
    )
    const audit = (await expect({ path: '/api/v1/repositories/releases/audit?order=desc' }, 200)).json.items
    assert.deepEqual(
      audit.slice(0, 2).map(({ action }: Told['json']) => action),
      ['image.unstaged', 'image.staged'],
    )
  })

  describe('what has a stage', () => {
    const isThere = async ({ digest }: Pushed, there = true): Promise<void> => {
      await expect({ method: 'HEAD', path: `/v2/releases/kept/manifests/${digest}` }, there ? 200 : 404)
    }

    it('is kept without a tag, with what it lists, until the stage is taken from it', async () => {
      const child = await lone('releases/kept')
      const index = manifestOf(
        { manifests: [{ mediaType: child.type, digest: child.digest, size: child.text.length }] },
        indexType,
      )
      await pushManifest('releases/kept', index, index.digest)
      await add('kept', index.digest, 'released')
      await pass(100 * hour)
      await tidy()
      for (const each of [index, child]) await isThere(each)
      await over.inspection.inOrder()
      await remove('kept', index.digest, 'released')
      await pass(23 * hour)
      await tidy()
      await isThere(index)
      await pass(2 * hour)
      await tidy()
      for (const each of [index, child]) await isThere(each, false)
    })

    it('cannot be deleted, and says why; its tags can', async () => {
      const manifest = await pushImage('releases/kept', 'v1')
      await add('kept', 'v1', 'released')
      const path = `/v2/releases/kept/manifests/${manifest.digest}`
      const told = await expect({ method: 'DELETE', path, credential: site.key }, 409)
      assert.deepEqual([told.json.errors[0].code, told.json.errors[0].detail.reason], ['DENIED', 'image_kept'])
      await expect({ method: 'DELETE', path: '/v2/releases/kept/manifests/v1' }, 202)
      await pass(100 * hour)
      await tidy()
      await isThere(manifest)
      await remove('kept', manifest.digest, 'released')
      await expect({ method: 'DELETE', path, credential: site.key }, 202)
    })

    it('leaves everything in order', async () => {
      await over.inspection.inOrder()
    })
  })
})
