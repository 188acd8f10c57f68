import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { sql } from 'kysely'
import { newId } from '../../src/kernel/ids.ts'
import { promotedBlobsMax } from '../../src/kernel/limits/oci.ts'
import { opaqueCursor } from '../../src/kernel/opaque-cursor.ts'
import { hour } from '../../src/kernel/units.ts'
import { settleImages } from '../../src/protocols/oci/jobs.ts'
import { type Ask, closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { described, imageSite, imageType, indexType, manifestOf, type Pushed, sha256 } from '../harness/images.ts'
import { openInspection } from '../harness/inspection.ts'
import { PolicyPlace } from '../harness/policies.ts'
import { analyze, planReader } from '../harness/query-plans.ts'
import { inDatabase } from '../harness/rows.ts'

after(closeConnections)

/** Rows of each table of images; what is asked for is a small part of them. */
const rowCount = 6_000
const smallRows = 1_000
const image = 'releases/app'
const images = '/api/v1/repositories/releases/images'

/** Who calls, and where they are known; what begins a snapshot in SQLite. */
/** Rows that a statement brings along itself. */
const ofItsOwn = /^SCAN (?:\d+ CONSTANT ROWS|c) /
/** Of repositories there are as many as people made. */
const readWhole = /^(?:SCAN|Seq Scan) repositories /

forEachEngine((engine) => {
  const site = imageSite(engine, { roles: { gateway: 'api', worker: false } })
  const { expect, pushBlob, pushImage, newImage, pushManifest } = site
  let manifest: Pushed
  let referrer: Pushed
  let time: string
  before(async () => {
    manifest = await pushImage(image, 'v1')
    referrer = await newImage(image, { subject: described(manifest.text, imageType) })
    await pushManifest(image, referrer, referrer.digest)
    await inDatabase(site.service, async (q) => {
      const one = await q
        .selectFrom('oci_manifests')
        .selectAll()
        .where('digest', '=', manifest.digest)
        .executeTakeFirstOrThrow()
      const claim = await q.selectFrom('claims').selectAll().where('id', '=', one.blob_id).executeTakeFirstOrThrow()
      const blob = await q.selectFrom('oci_blobs').selectAll().where('id', '=', one.blob_id).executeTakeFirstOrThrow()
      const repository = await q
        .selectFrom('repositories')
        .selectAll()
        .where('id', '=', 'releases')
        .executeTakeFirstOrThrow()
      const now = new Date().toISOString()
      time = now
      const counted = { tags: 0, manifests: 0, pushed_at: now }
      for (let start = 0; start < rowCount; start += 500) {
        const numbers = Array.from({ length: 500 }, (_, index) => start + index)
        const ids = numbers.map((number) => newId(Date.now() + number))
        const digest = (number: number): string => sha256(`${number}`)
        const of = numbers.map((number, at) => ({ number, id: ids[at] ?? '' }))
        const name = (number: number): string => (number % 3 === 0 ? 'app' : `other/${number % 50}`)
        await q
          .insertInto('repositories')
          .values(numbers.map((number) => ({ ...repository, id: `r${number}` })))
          .execute()
        await q
          .insertInto('claims')
          .values(of.map(({ number, id }) => ({ ...claim, id, sha256: digest(number).slice(7) })))
          .execute()
        const unused_since = (number: number) => (number % 4 === 0 ? now : null)
        await q
          .insertInto('oci_blobs')
          .values(
            of.map(({ number, id }) => ({
              ...blob,
              id,
              sha256: digest(number).slice(7),
              sha512: null,
              unused_since: unused_since(number),
            })),
          )
          .execute()
        await q
          .insertInto('oci_images')
          .values(
            numbers.map((number) => ({ repository: 'releases', name: `many/${number}`, created_at: now, ...counted })),
          )
          .execute()
        for (const other of new Set(numbers.map(name)))
          await q
            .insertInto('oci_images')
            .values({ repository: 'releases', name: other, created_at: now, ...counted })
            .onConflict((conflict) => conflict.doNothing())
            .execute()
        await q
          .insertInto('oci_manifests')
          .values(
            of.map(({ number, id }) => ({
              ...{ ...one, id, digest: digest(number), digest512: null, blob_id: id, name: name(number) },
              ...{ subject: number % 2 === 0 ? manifest.digest : null, artifact_type: `type/${number % 5}` },
              unused_since: unused_since(number),
            })),
          )
          .execute()
        const here = (number: number) => ({ repository: 'releases', name: name(number) })
        await q
          .insertInto('oci_references')
          .values(
            of.map(({ number, id }) => ({
              ...{ manifest_id: id, position: 0, ...here(number), role: 'layer' as const },
              ...{ digest: digest(number), blob_id: id },
            })),
          )
          .execute()
        const tagged = of.map(({ number, id }) => ({
          ...{ ...here(number), tag: `t${number}`, manifest_id: id, moved_at: now, actor: 'account:someone' },
        }))
        await q
          .insertInto('oci_tags')
          .values(tagged.map((row) => ({ ...row, algorithm: 'sha256' as const })))
          .execute()
        await q
          .insertInto('oci_tag_moves')
          .values(
            tagged.map((row, at) => ({ ...row, revision: 1, removed: at % 5 === 0 ? (1 as const) : (0 as const) })),
          )
          .execute()
        const given = { promoted_at: now, actor: 'account:someone', comment: null }
        await q
          .insertInto('oci_stages')
          .values(
            of.map(({ number, id }) => ({
              ...{ manifest_id: id, stage: `s${number % 4}`, ...here(number), digest: digest(number), ...given },
            })),
          )
          .execute()
        const from = { source_repository: 'releases', source_name: 'app', mode: 'move' as const, promoted_at: now }
        await q
          .insertInto('oci_promotions')
          .values(of.map(({ number, id }) => ({ copy_id: id, moved_tag: `t${number}`, ...from })))
          .execute()
      }
    })
    await analyze(site.service.databaseUrl)
  })

  const faultsOf = planReader(
    () => site.service,
    smallRows,
    (fault) => readWhole.test(fault) || ofItsOwn.test(fault),
  )

  it('what is read of images goes by an index, in its order', async () => {
    const base = `/v2/${image}`
    const types = 'artifactType=type/0&artifactType=type/2'
    const listed = '/api/v1/repositories/releases/images'
    const named = 'image=app'
    const removed = ['removed tags', 'releases', 'app']
    const after = (order: string, part: string, position: readonly string[]): string =>
      opaqueCursor(['tags', 'releases', 'app', order, part], position)
    const asked: Record<string, string> = {
      'the first tags': `${base}/tags/list?n=20`,
      'tags in the middle': `${base}/tags/list?n=20&last=t3000`,
      'a manifest by tag': `${base}/manifests/v1`,
      'a manifest by digest': `${base}/manifests/${manifest.digest}`,
      'a blob': `${base}/blobs/${JSON.parse(manifest.text).layers[0].digest}`,
      referrers: `${base}/referrers/${manifest.digest}`,
      'the next referrers': `${base}/referrers/${manifest.digest}?last=${sha256('5')}`,
      'referrers of a type': `${base}/referrers/${manifest.digest}?artifactType=type/0`,
      'referrers of two types': `${base}/referrers/${manifest.digest}?${types}`,
      stages: `${images}/stages?limit=20`,
      'stages of an image': `${images}/stages?limit=20&image=app`,
      'one stage': `${images}/stages?limit=20&stage=s2`,
      'one stage of an image': `${images}/stages?limit=20&stage=s0&image=other/8`,
      'stages of a manifest': `${images}/stages?image=app&reference=v1`,
      'promotions of an image': `${images}/promotions?image=app&reference=v1`,
      'the catalog': '/v2/_catalog?n=20',
      'the card of the repository': '/api/v1/repositories/releases',
      'the images of a repository': listed,
      'images in the middle': `${listed}?limit=20&after=${opaqueCursor(['images', 'releases', ''], ['many/3000'])}`,
      'images by a part of their name': `${listed}?contains=999`,
      'tags by name': `${listed}/tags?${named}`,
      'tags by name in the middle': `${listed}/tags?${named}&after=${after('name', '', ['t3000'])}`,
      'tags by a part of their name': `${listed}/tags?${named}&contains=999`,
      'the newest tags': `${listed}/tags?${named}&order=newest`,
      'older tags': `${listed}/tags?${named}&order=newest&after=${after('newest', '', [time, 't3000'])}`,
      'the newest by a part': `${listed}/tags?${named}&order=newest&contains=99`,
      'older ones by a part': `${listed}/tags?${named}&order=newest&contains=9&after=${after('newest', '9', [time, 't3'])}`,
      'removed tags': `${listed}/tags/removed?${named}`,
      'tags that were removed earlier': `${listed}/tags/removed?${named}&after=${opaqueCursor(removed, [time, 't3000'])}`,
      'moves of a tag': `${listed}/tag-moves?${named}&tag=t3000`,
      'earlier moves of a tag': `${listed}/tag-moves?${named}&tag=t3000&before=2`,
      'an opened manifest': `${listed}/manifest?${named}&reference=v1`,
      'what refers to it': `${listed}/referrers?${named}&digest=${manifest.digest}`,
      'the catalog from the middle on': '/v2/_catalog?n=20&last=releases/many/3000',
    }
    const faults: string[] = []
    for (const [what, path] of Object.entries(asked))
      faults.push(...(await faultsOf(what, () => expect({ path }, 200))))
    for (const query of ['', '&image=app', '&stage=s2', '&stage=s0&image=other/8']) {
      const path = `${images}/stages?limit=20${query}`
      const { next } = (await expect({ path }, 200)).json
      faults.push(...(await faultsOf(`the next stages ${query}`, () => expect({ path: `${path}&after=${next}` }, 200))))
    }
    assert.deepEqual(faults, [])
  })

  it('so do changes of images', async () => {
    const config = JSON.parse(manifest.text).config
    const pushed = manifestOf({ config, layers: [], subject: described(manifest.text, imageType) })
    const index = manifestOf({ manifests: [described(manifest.text, imageType)] }, indexType)
    const { digest } = await pushBlob('second/x', 'to be mounted')
    const unnamed = await pushBlob(image, 'to be deleted')
    const remove = (path: string, credential = site.key): Ask => ({
      method: 'DELETE',
      path: `/v2/${image}/${path}`,
      credential,
    })
    const done: Record<string, () => Promise<unknown>> = {
      'a blob that comes': () => pushBlob(image, 'comes'),
      'a blob that comes again': () => pushBlob(image, 'comes'),
      'a mounted blob': () =>
        expect({ method: 'POST', path: `/v2/${image}/blobs/uploads/?mount=${digest}&from=second/x` }, 201),
      'a blob that is mounted from anywhere': () =>
        expect({ method: 'POST', path: `/v2/second/y/blobs/uploads/?mount=${config.digest}` }, 201),
      'a pushed manifest': () => pushManifest(image, pushed, pushed.digest),
      'a pushed index': () => pushManifest(image, index, 'index'),
      'a moved tag': () => pushManifest(image, referrer, 'index'),
      'a removed tag': () => expect(remove('manifests/index', site.owner.token), 202),
      'a deleted index': () => expect(remove(`manifests/${index.digest}`), 202),
      'a deleted blob': () => expect(remove(`blobs/${unnamed.digest}`), 202),
    }
    const wide = 'releases/wide'
    const child = await pushImage(wide, 'child')
    const listing = manifestOf({ manifests: [described(child.text, imageType)] }, indexType)
    await pushManifest(wide, listing, 'v1')
    const signature = await newImage(wide, { subject: described(listing.text, indexType) })
    await pushManifest(wide, signature, signature.digest)
    const promote = (more: object, status: number) =>
      expect({ path: `${images}/promote`, json: { image: 'wide', reference: 'v1', target: 'second', ...more } }, status)
    const isTooMuch = async (more: object): Promise<void> => {
      const { code } = (await promote(more, 409)).json
      assert.equal(code, 'promotion_limit')
    }
    const manyLayers = await pushImage(wide, 'layers')
    await inDatabase(site.service, (q) =>
      sql`insert into oci_references (manifest_id, position, repository, name, role, digest, blob_id)
        select m.id, 10 + row_number() over (), 'releases', 'wide', 'layer', 'sha256:' || b.sha256, b.id
        from oci_blobs b, oci_manifests m where b.repository = 'releases' and m.digest = ${manyLayers.digest}
        limit ${promotedBlobsMax + 1}`.execute(q),
    )
    const stage = `${images}/stages/tested`
    Object.assign(done, {
      'a stage that is given': () =>
        expect({ method: 'PUT', path: stage, json: { image: 'wide', reference: 'v1' } }, 200),
      'a stage that is taken': () => expect({ method: 'DELETE', path: `${stage}?image=wide&reference=v1` }, 204),
      'a promoted image': () => promote({}, 201),
      'an image that is promoted again': () => promote({ stages: ['released'] }, 200),
      'a moved image': () => promote({ mode: 'move', targetImage: 'other' }, 201),
      'an image that is moved again': () => promote({ mode: 'move', targetImage: 'other' }, 200),
      'an image that was moved by its digest': () =>
        promote({ mode: 'move', targetImage: 'other', reference: listing.digest }, 200),
      'more manifests than one promotion takes': () => isTooMuch({ image: 'app' }),
      'more layers than one promotion takes': () => isTooMuch({ reference: 'layers' }),
    })
    const faults: string[] = []
    for (const [what, work] of Object.entries(done)) faults.push(...(await faultsOf(what, work)))
    assert.deepEqual(faults, [])
  })

  it('so does what a storage policy makes of images, and immutable tags', async () => {
    const there = await PolicyPlace.in(site.service, 'releases')
    await inDatabase(site.service, (q) => q.deleteFrom('oci_stages').where('name', '=', 'app').execute())
    const rules = { enabled: true, keepLast: 1_000, intervalMinutes: 60 }
    const channels = [{ label: 't1*', keepLast: 50 }]
    const expectedRevision = 0
    const patterns = { method: 'PUT', path: '/images/immutable-tags', json: { expectedRevision, patterns: ['t5*'] } }
    const faults = await faultsOf('saving immutable tags', () => there.expect(patterns, 200))
    for (const grouping of ['package', 'package-channel', 'repository']) {
      const protectedLabels = ['t3*']
      const { revision } = await there.save({ ...rules, grouping, channels, protectedLabels })
      const { images } = (await there.expect({ path: '/storage/preview' }, 200)).json
      assert.ok(images.length > 10, `${images.length} go (${grouping})`)
      const asked: Record<string, Ask> = {
        preview: { path: '/storage/preview' },
        explain: { path: `/images/explain?image=app&reference=${sha256('3')}` },
        run: { method: 'POST', path: '/storage/run', json: { expectedRevision: revision } },
      }
      for (const [what, each] of Object.entries(asked))
        faults.push(...(await faultsOf(`${what} by ${grouping}`, () => there.expect(each, 200))))
    }
    assert.deepEqual(faults, [])
  })

  it('so does the upkeep of images, also beside what is not due yet', async () => {
    const inspection = await openInspection(site.service)
    const deps = { ...inspection, cleanupGraceMs: hour, report: assert.ifError }
    assert.deepEqual(await faultsOf('upkeep', () => settleImages(deps)), [])
    await inspection.close()
  })
})
