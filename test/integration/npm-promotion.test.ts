import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { setQuota } from '../../src/features/lifecycle/policies/policy.ts'
import { textBytes } from '../../src/kernel/text-bytes.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { openInspection } from '../harness/inspection.ts'
import { packed } from '../harness/npm-documents.ts'
import { publishAttested } from '../harness/npm-packages.ts'
import { npmPromotionSite } from '../harness/npm-promotions.ts'
import { inDatabase } from '../harness/rows.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

forEachEngine((engine) => {
  const promoting = npmPromotionSite(engine)
  const { site, promote, stage, events, told, bytesIn, expect } = promoting
  const publishAll = async (name: string, ...versions: string[]): Promise<void> => {
    for (const version of versions) await site.npm.publish({ name, version, description: name })
  }
  const tagsThere = async (name: string) => (await promoting.there.document(name)).json['dist-tags']

  describe('a version that is promoted', () => {
    it('is there with all that is said of it, its bytes shared, and the tags that were chosen', async () => {
      const { npm } = site
      const name = '@acme/promoted'
      await publishAttested(npm, { name, version: '1.0.0', readme: '# it', dependencies: { a: '^1' } }, 'stable')
      await npm.publish({ name, version: '1.1.0' })
      const document = (await npm.document(name)).json
      document.versions['1.0.0'].deprecated = 'use 1.1.0'
      await npm.expect({ method: 'PUT', path: npm.at('/@acme%2fpromoted'), json: document }, 200)
      const [here, before] = [await bytesIn('releases'), await bytesIn('second')]
      const wish = { package: name, version: '1.0.0', tags: ['next'], stages: ['tested'], comment: 'ü' }
      const promoted = await promote(wish)
      assert.deepEqual(promoted, {
        ...{ repository: 'second', package: name, version: '1.0.0', tags: ['next'], sourceRepository: 'releases' },
        ...{ mode: 'copy', created: true, stages: ['tested'] },
      })
      const source = (await npm.document(name)).json
      const copy = (await promoting.there.document(name)).json
      assert.deepEqual(copy['dist-tags'], { latest: '1.0.0', next: '1.0.0' })
      assert.deepEqual(Object.keys(copy.versions), ['1.0.0'])
      const { dist, ...said } = copy.versions['1.0.0']
      const { dist: first, ...saidHere } = source.versions['1.0.0']
      assert.deepEqual(said, saidHere)
      assert.deepEqual([dist.integrity, dist.shasum, dist.fileCount], [first.integrity, first.shasum, first.fileCount])
      assert.match(dist.tarball, /\/npm\/second\/@acme\/promoted\/-\/promoted-1\.0\.0\.tgz$/)
      assert.equal(copy.readme, '# it')
      assert.equal(said.deprecated, 'use 1.1.0')
      const attestations = await promoting.there.expect({ path: new URL(dist.attestations.url).pathname }, 200)
      assert.equal(attestations.json.attestations.length, 1)
      const [one, other] = [
        await npm.expect({ path: new URL(first.tarball).pathname }, 200),
        await promoting.there.expect({ path: new URL(dist.tarball).pathname }, 200),
      ]
      assert.ok(one.bytes.equals(other.bytes))
      const {
        manifest,
        readme,
        attestations: attested,
      } = await inDatabase(site.service, (q) =>
        q
          .selectFrom('npm_versions')
          .select(['manifest', 'readme', 'attestations'])
          .where('repository', '=', 'second')
          .where('name', '=', name)
          .executeTakeFirstOrThrow(),
      )
      const counted = one.bytes.byteLength + textBytes(manifest, readme, attested)
      assert.deepEqual([await bytesIn('releases'), await bytesIn('second')], [here, before + counted])
      assert.deepEqual(await told('second', name), [
        `package.received ${name}@1.0.0`,
        `dist-tag.set ${name}@1.0.0 next`,
        `dist-tag.set ${name}@1.0.0 latest`,
        `package.staged ${name}@1.0.0 tested`,
      ])
      assert.equal((await told('releases', name)).at(-1), `package.promoted ${name}@1.0.0`)
      const [event] = await events('second', name, '1.0.0')
      assert.deepEqual(
        [event.action, event.peerRepository, event.mode, event.comment, event.package, event.version],
        ['received', 'releases', 'copy', 'ü', name, '1.0.0'],
      )
    })

    it('is answered again, told once, and given what it lacks', async () => {
      await publishAll('again', '1.0.0')
      const wish = { package: 'again', version: '1.0.0' }
      await promote(wish)
      const state = async () => (await promoting.there.document('again')).text
      const before = await state()
      const repeated = await promote(wish, 200)
      assert.deepEqual([repeated.created, repeated.stages], [false, []])
      assert.equal(await state(), before, 'nothing is written for what is there')
      await promote({ ...wish, tags: ['stable'], stages: ['released'] }, 200)
      assert.deepEqual(await tagsThere('again'), { latest: '1.0.0', stable: '1.0.0' })
      assert.equal((await told('second', 'again')).filter((line) => line.startsWith('package.received')).length, 1)
      assert.equal((await told('releases', 'again')).filter((line) => line.startsWith('package.promoted')).length, 1)
    })

    it('leaves the tags of others there where they are', async () => {
      await publishAll('tagged', '1.0.0', '2.0.0')
      await promote({ package: 'tagged', version: '2.0.0', tags: ['stable'] })
      await promote({ package: 'tagged', version: '1.0.0' })
      assert.deepEqual(await tagsThere('tagged'), { latest: '2.0.0', stable: '2.0.0' })
      await promote({ package: 'tagged', version: '1.0.0', tags: ['latest', 'stable'] }, 200)
      assert.deepEqual(await tagsThere('tagged'), { latest: '1.0.0', stable: '1.0.0' })
    })

    it('is found as a copy where the same bytes were published there, and refused where others were', async () => {
      const { npm } = site
      const same = { name: 'same', version: '1.0.0' }
      const tarball = await packed(same)
      await npm.publish(same, { tarball })
      await promoting.there.publish(same, { tarball })
      assert.equal((await promote({ package: 'same', version: '1.0.0' }, 200)).created, false)
      await npm.publish({ name: 'other', version: '1.0.0' })
      await promoting.there.publish({ name: 'other', version: '1.0.0', more: true })
      const { detail } = await promote({ package: 'other', version: '1.0.0' }, 409, 'version_exists')
      assert.match(detail, /another tarball/)
    })

    it('is never given a number that was taken away there', async () => {
      await publishAll('taken', '1.0.0')
      await promote({ package: 'taken', version: '1.0.0' })
      const bindings = [binding('second', 'artifact.delete')]
      const account = await createServiceAccount(site.service, bindings)
      const { secret: credential } = await activeKey(site.service, account.id, { bindings })
      await expect({ method: 'DELETE', path: promoting.there.at('/taken/-/taken-1.0.0.tgz/-rev/0'), credential })
      const { detail } = await promote({ package: 'taken', version: '1.0.0' }, 409, 'version_exists')
      assert.match(detail, /never given again/)
    })
  })

  describe('a version that is moved', () => {
    it('takes its stages along, and latest here goes to what is left', async () => {
      await publishAll('moved', '1.0.0', '1.1.0')
      await stage('moved', '1.1.0', 'tested', 'approved')
      const here = await bytesIn('releases')
      const wish = { package: 'moved', version: '1.1.0', mode: 'move', stages: ['released'] }
      assert.deepEqual((await promote(wish)).stages, ['approved', 'released', 'tested'])
      const left = (await site.npm.document('moved')).json
      assert.deepEqual([Object.keys(left.versions), left['dist-tags']], [['1.0.0'], { latest: '1.0.0' }])
      assert.ok((await bytesIn('releases')) < here)
      assert.deepEqual(Object.keys((await promoting.there.document('moved')).json.versions), ['1.1.0'])
      assert.deepEqual((await told('releases', 'moved')).slice(-5), [
        'package.promoted moved@1.1.0',
        'package.unstaged moved@1.1.0 approved',
        'package.unstaged moved@1.1.0 tested',
        'dist-tag.set moved@1.0.0 latest',
        'package.unpublish moved@1.1.0',
      ])
    })

    it('is answered again although it is gone here, and brought back within the grace', async () => {
      await publishAll('lost', '1.0.0')
      const wish = { package: 'lost', version: '1.0.0', mode: 'move' }
      await promote(wish)
      await site.npm.expect({ path: site.npm.at('/lost') }, 404)
      assert.equal((await promote({ ...wish, tags: ['late'] }, 200)).created, false)
      assert.deepEqual(await tagsThere('lost'), { late: '1.0.0', latest: '1.0.0' })
      await promote({ ...wish, mode: 'copy' }, 404)
      const restore = { path: '/api/v1/repositories/releases/npm/versions/restore' }
      await expect({ ...restore, json: { package: 'lost', version: '1.0.0' } })
      assert.equal((await promote(wish, 200)).created, false)
      await site.npm.expect({ path: site.npm.at('/lost') }, 404)
    })

    it('is refused while a tag is at it that does not go along', async () => {
      await publishAll('kept', '1.0.0')
      const { npm } = site
      await npm.expect({ method: 'PUT', path: npm.at('/-/package/kept/dist-tags/stable'), json: '1.0.0' }, 200)
      const wish = { package: 'kept', version: '1.0.0', mode: 'move' }
      const { detail } = await promote(wish, 409, 'source_not_deletable')
      assert.match(detail, /the tags stable/)
      await promoting.there.expect({ path: promoting.there.at('/kept') }, 404)
      await promote({ ...wish, tags: ['stable'] })
      assert.deepEqual(await tagsThere('kept'), { latest: '1.0.0', stable: '1.0.0' })
    })
  })

  it('a promotion is refused, with what is wrong, and leaves nothing', async () => {
    const { service, reader } = site
    await publishAll('refused', '1.0.0')
    const wish = { package: 'refused', version: '1.0.0' }
    await promote({ ...wish, version: '9.9.9' }, 404)
    await promote({ ...wish, target: 'nowhere' }, 404)
    await promote({ ...wish, target: 'hidden' }, 404)
    for (const [more, pointer] of [
      [{ target: 'releases' }, '/target'],
      [{ tags: ['1.x'] }, '/tags/0'],
      [{ tags: ['ok', 'a b'] }, '/tags/1'],
    ] as const)
      assert.equal((await promote({ ...wish, ...more }, 400)).details[0].pointer, pointer)
    const json = { ...wish, target: 'second' }
    const path = '/api/v1/repositories/releases/npm/promote'
    await expectAnswer(service, { path, json, credential: reader.token }, 404)
    const inspection = await openInspection(service)
    await setQuota(inspection, 'second', 1, 'operator')
    await promote(wish, 507, 'storage_quota')
    await setQuota(inspection, 'second', null, 'operator')
    await inspection.close()
    await promoting.there.expect({ path: promoting.there.at('/refused') }, 404)
  })

  it('many who promote and publish at once have one version, and every one of theirs', async () => {
    await publishAll('raced', '1.0.0', '1.1.0')
    const own = [1, 2, 3].map((patch) => promoting.there.publish({ name: 'raced', version: `2.0.${patch}` }))
    const promoted = ['1.0.0', '1.1.0', '1.0.0'].map((version) =>
      site.service.ask({
        path: '/api/v1/repositories/releases/npm/promote',
        credential: site.owner.token,
        json: { package: 'raced', version, target: 'second' },
      }),
    )
    await Promise.all(own)
    const statuses = (await Promise.all(promoted)).map(({ status }) => status)
    assert.deepEqual(statuses.toSorted(), [200, 201, 201])
    const { versions, _rev } = (await promoting.there.document('raced')).json
    assert.deepEqual(Object.keys(versions).toSorted(), ['1.0.0', '1.1.0', '2.0.1', '2.0.2', '2.0.3'])
    assert.match(_rev, /^5-/)
  })

  it('the doctor has nothing to say of all that, also when what was deleted is given up', async () => {
    const inspection = await openInspection(site.service)
    await inspection.inOrder()
    site.service.clock.advance(400 * 24 * 3_600_000)
    await inspection.upkeep()
    await inspection.inOrder()
    await inspection.close()
  })
})
