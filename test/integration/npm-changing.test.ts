import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { noFaults } from '../../src/kernel/fault-points.ts'
import { npmVersionsMax, npmVersionsPerRemoval } from '../../src/kernel/limits/npm.ts'
import { KiB, MiB } from '../../src/kernel/units.ts'
import { unpublish } from '../../src/protocols/npm/unpublishing.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { openInspection } from '../harness/inspection.ts'
import { publishDocument } from '../harness/npm-documents.ts'
import { npmSite, publishAttested } from '../harness/npm-packages.ts'
import { inDatabase } from '../harness/rows.ts'
import { type SlowClient, startSlowly } from '../harness/slow-client.ts'

after(closeConnections)

const short = { accept: 'application/vnd.npm.install-v1+json' }

forEachEngine((engine) => {
  const site = npmSite(engine)
  const documentOf = async (name: string) => (await site.npm.document(name)).json
  const asKeeper = (method: string, path: string, status: number, json?: unknown) => {
    const { service, keeper, npm } = site
    return expectAnswer(
      service,
      { method, path: npm.at(path), credential: keeper, ...(json === undefined ? {} : { json }) },
      status,
    )
  }

  describe('a tag', () => {
    it('is listed, moved and taken away', async () => {
      const { npm } = site
      await npm.publish({ name: '@acme/tags', version: '1.0.0' })
      await npm.publish({ name: '@acme/tags', version: '1.1.0' })
      const tags = npm.at('/-/package/@acme%2ftags/dist-tags')
      await npm.expect({ method: 'PUT', path: `${tags}/stable`, json: '1.0.0' }, 200)
      await npm.expect({ method: 'PUT', path: `${tags}/odd%2Fone%25`, json: '1.0.0' }, 200)
      assert.deepEqual((await npm.expect({ path: tags }, 200)).json, {
        latest: '1.1.0',
        'odd/one%': '1.0.0',
        stable: '1.0.0',
      })
      assert.equal((await npm.document('@acme/tags', short)).json['dist-tags'].stable, '1.0.0')
      await npm.expect({ method: 'DELETE', path: `${tags}/odd%2Fone%25` }, 200)
      await npm.expect({ method: 'DELETE', path: `${tags}/stable` }, 200)
      assert.deepEqual((await documentOf('@acme/tags'))['dist-tags'], { latest: '1.1.0' })
    })

    it('is refused at a version that is not there, as a range, and as the last way to install', async () => {
      const { npm } = site
      await npm.publish({ name: 'tagless', version: '1.0.0' })
      const tags = npm.at('/-/package/tagless/dist-tags')
      await npm.expect({ method: 'PUT', path: `${tags}/beta`, json: '9.9.9' }, 404)
      await npm.expect({ method: 'PUT', path: `${tags}/beta`, json: { version: '1.0.0' } }, 400)
      await npm.expect({ method: 'PUT', path: `${tags}/1.x`, json: '1.0.0' }, 400)
      await npm.expect({ method: 'DELETE', path: `${tags}/latest` }, 400)
      await npm.expect({ method: 'DELETE', path: `${tags}/beta` }, 404)
      await npm.expect({ path: npm.at('/-/package/nothing/dist-tags') }, 404)
    })
  })

  describe('a deprecation', () => {
    it('stands in both forms, and is taken back by an empty one; nothing else changes', async () => {
      const { npm } = site
      await npm.publish({ name: 'old', version: '1.0.0', dependencies: { a: '1' } })
      const before = await documentOf('old')
      const changed = structuredClone(before)
      Object.assign(changed.versions['1.0.0'], { deprecated: 'too old', dependencies: {}, dist: {} })
      await npm.expect({ method: 'PUT', path: npm.at('/old'), json: changed }, 200)
      const after = await documentOf('old')
      assert.equal(after.versions['1.0.0'].deprecated, 'too old')
      assert.deepEqual(after.versions['1.0.0'].dependencies, { a: '1' })
      assert.deepEqual(after.versions['1.0.0'].dist, before.versions['1.0.0'].dist)
      assert.equal(after.time['1.0.0'], before.time['1.0.0'])
      assert.notEqual(after._rev, before._rev)
      assert.equal((await npm.document('old', short)).json.versions['1.0.0'].deprecated, 'too old')
      changed.versions['1.0.0'].deprecated = ''
      await npm.expect({ method: 'PUT', path: npm.at('/old'), json: changed }, 200)
      for (const headers of [{}, short] as Record<string, string>[])
        assert.equal((await npm.document('old', headers)).json.versions['1.0.0'].deprecated, undefined)
    })

    it('of a version that was never there is refused: its tarball is missing', async () => {
      const { npm } = site
      await npm.publish({ name: 'halfway', version: '1.0.0' })
      const { document } = await publishDocument({ name: 'halfway', version: '1.1.0' })
      const told = await npm.put('halfway', { ...document, _attachments: {} }, 400)
      assert.match(told.json.error, /halfway has no version 1\.1\.0, and its tarball was not sent/)
      assert.match((await documentOf('halfway'))._rev, /^1-/)
    })

    it('loses no version that was published meanwhile', async () => {
      const { npm } = site
      await npm.publish({ name: 'stale', version: '1.0.0' })
      const read = await documentOf('stale')
      await npm.publish({ name: 'stale', version: '1.1.0' })
      read.versions['1.0.0'].deprecated = 'use 1.1.0'
      await npm.expect({ method: 'PUT', path: npm.at('/stale'), json: read }, 200)
      const { versions } = await documentOf('stale')
      assert.deepEqual(Object.keys(versions), ['1.0.0', '1.1.0'])
      assert.equal(versions['1.0.0'].deprecated, 'use 1.1.0')
    })
  })

  it('a star is of who gives it, and owners are those who were named last', async () => {
    const { npm } = site
    await npm.publish({ name: 'liked', version: '1.0.0' })
    await npm.expect(
      { method: 'PUT', path: npm.at('/liked'), json: { _id: 'liked', users: { owner: true, other: true } } },
      200,
    )
    const starred = await documentOf('liked')
    assert.deepEqual(starred.users, { owner: true })
    const maintainers = [
      { name: 'owner', email: '' },
      { name: 'bob', email: 'bob@example.com' },
    ]
    const path = npm.at(`/liked/-rev/${starred._rev}`)
    await npm.expect({ method: 'PUT', path, json: { _id: 'liked', maintainers } }, 200)
    assert.deepEqual((await documentOf('liked')).maintainers, maintainers)
    await npm.expect({ method: 'PUT', path, json: { _id: 'liked', maintainers } }, 409)
    assert.deepEqual(Object.keys((await documentOf('liked')).versions), ['1.0.0'])
  })

  describe('a version that is taken away', () => {
    it('goes with its tarball and its tags, and latest goes to the newest that is left', async () => {
      const { npm } = site
      for (const version of ['1.0.0', '1.2.0', '1.10.0', '2.0.0-rc.1', '2.0.0'])
        await npm.publish({ name: 'short', version })
      const read = await documentOf('short')
      delete read.versions['2.0.0']
      await asKeeper('PUT', `/short/-rev/${read._rev}`, 200, read)
      const left = await documentOf('short')
      assert.deepEqual(left['dist-tags'], { latest: '1.10.0' })
      assert.deepEqual(Object.keys(left.versions), ['1.0.0', '1.2.0', '1.10.0', '2.0.0-rc.1'])
      assert.equal(left.time['2.0.0'], undefined)
      await npm.expect({ path: npm.at('/short/-/short-2.0.0.tgz') }, 404)
      await npm.expect({ path: npm.at('/short/2.0.0') }, 404)
      // As clients go on.
      await asKeeper('DELETE', `/short/-/short-2.0.0.tgz/-rev/${left._rev}`, 200)
      await npm.publish({ name: 'short', version: '2.0.0' }, {}, 409)
    })

    it('is not, at a state that the package is not in any more', async () => {
      const { npm } = site
      for (const version of ['1.0.0', '1.1.0']) await npm.publish({ name: 'moving', version })
      const read = await documentOf('moving')
      delete read.versions['1.0.0']
      await npm.publish({ name: 'moving', version: '1.2.0' })
      await asKeeper('PUT', `/moving/-rev/${read._rev}`, 409, read)
      await asKeeper('DELETE', `/moving/-rev/${read._rev}`, 409)
      assert.equal(Object.keys((await documentOf('moving')).versions).length, 3)
    })

    it('is not, by a document that leaves none, whatever owners stand in it', async () => {
      const { npm } = site
      await npm.publish({ name: 'emptied', version: '1.0.0' })
      const read = await documentOf('emptied')
      const told = await asKeeper('PUT', `/emptied/-rev/${read._rev}`, 403, { ...read, versions: {} })
      assert.match(told.json.error, /asset\.write/)
      const path = npm.at(`/emptied/-rev/${read._rev}`)
      const json = { ...read, versions: {}, maintainers: [{ name: 'mallory' }] }
      assert.match((await npm.expect({ method: 'PUT', path, json }, 400)).json.error, /leaves no version/)
      assert.deepEqual(await documentOf('emptied'), read)
    })

    it('is refused with 403 to who may not, whatever the way', async () => {
      const { npm } = site
      await npm.publish({ name: 'kept', version: '1.0.0' })
      const read = await documentOf('kept')
      const less = { ...read, versions: { '9.9.9': {} } }
      for (const [method, path, json] of [
        ['PUT', `/kept/-rev/${read._rev}`, less],
        ['DELETE', `/kept/-rev/${read._rev}`, undefined],
        ['DELETE', `/kept/-/kept-1.0.0.tgz/-rev/${read._rev}`, undefined],
      ] as const) {
        const told = await npm.expect({ method, path: npm.at(path), ...(json === undefined ? {} : { json }) }, 403)
        assert.match(told.json.error, /artifact\.delete/)
      }
    })
  })

  it('a package that is taken away is not found, and comes back with other versions alone', async () => {
    const { npm } = site
    for (const version of ['1.0.0', '1.1.0']) await npm.publish({ name: 'removed', version })
    await asKeeper('DELETE', `/removed/-rev/${(await documentOf('removed'))._rev}`, 200)
    for (const path of ['/removed', '/removed/1.0.0', '/removed/-/removed-1.0.0.tgz', '/-/package/removed/dist-tags'])
      await npm.expect({ path: npm.at(path) }, 404)
    await npm.publish({ name: 'removed', version: '1.0.0' }, {}, 409)
    await npm.publish({ name: 'removed', version: '2.0.0' })
    assert.deepEqual(Object.keys((await documentOf('removed')).versions), ['2.0.0'])
  })

  it('a search finds by name, description and keywords what the caller may read', async () => {
    const { npm } = site
    await npm.publish({ name: 'findable', version: '1.0.0', description: 'Something Special', keywords: ['needle'] })
    const found = async (query: string) => (await npm.expect({ path: npm.at(`/-/v1/search${query}`) }, 200)).json
    for (const text of ['findab', 'special', 'NEEDLE', 'needle%20special']) {
      const { objects, total } = await found(`?text=${text}`)
      assert.equal(total, 1, text)
      assert.equal(objects[0].package.name, 'findable')
      assert.deepEqual(objects[0].package.maintainers, [{ username: 'owner', email: '' }])
      assert.equal(new Date(objects[0].package.date).toISOString(), objects[0].package.date)
    }
    // More words than these are not looked at, and those that stand there twice count once.
    const eight = 'find%20'.repeat(20) + ['fi', 'in', 'nd', 'da', 'ab', 'bl', 'le'].join('%20')
    assert.deepEqual([(await found(`?text=${eight}%20zz`)).total, (await found('?text=fi%20zz')).total], [1, 0])
    assert.deepEqual((await found('?text=100%25')).objects, [])
    assert.deepEqual((await found('?size=250&from=1000')).objects, [])
    assert.equal((await found('?size=1')).objects.length, 1)
    await npm.expect({ path: '/npm/hidden/-/v1/search' }, 404)
  })

  it('a search and a list tell of a package briefly, whatever it says of itself', async () => {
    const { npm, service, owner } = site
    const long = 'x'.repeat(200_000)
    const keywords = Array.from({ length: 1_000 }, () => long.slice(0, 500))
    await npm.publish({ name: 'talkative', version: '1.0.0', description: `y${long}`, keywords, license: long })
    const told = await npm.expect({ path: npm.at('/-/v1/search?text=talkative') }, 200)
    assert.equal(told.json.objects[0].package.description.length, 1_000)
    assert.ok(told.text.length < 10_000, String(told.text.length))
    const path = '/api/v1/repositories/releases/npm/packages?contains=talkative'
    const listed = await expectAnswer(service, { path, credential: owner.token }, 200)
    assert.ok(listed.text.length < 10_000, String(listed.text.length))
    const { _rev } = await documentOf('talkative')
    const asOwner = { method: 'PUT', path: npm.at(`/talkative/-rev/${_rev}`), json: { maintainers: [{ name: long }] } }
    assert.match((await npm.expect(asOwner, 400)).json.error, /at most 254 characters/)
    const versions = { '1.0.0': { deprecated: long } }
    const deprecating = { method: 'PUT', path: npm.at('/talkative'), json: { versions } }
    assert.match((await npm.expect(deprecating, 400)).json.error, /at most 1024 characters/)
  })

  it('a package says no more than its document can hold', async () => {
    const { npm, service } = site
    await npm.publish({ name: 'crowded', version: '1.0.0' })
    await inDatabase(service, async (q) => {
      const { id } = await q
        .selectFrom('npm_packages')
        .select('id')
        .where('name', '=', 'crowded')
        .executeTakeFirstOrThrow()
      const text = 'x'.repeat(4 * MiB)
      for (let number = 2; number < 10; number++)
        await q
          .insertInto('npm_pieces')
          .values({ package_id: id, number, versions: text, abbreviated: '', times: '' })
          .execute()
    })
    const { document } = await publishDocument({ name: 'crowded', version: '1.1.0' })
    assert.match((await npm.put('crowded', document, 413)).json.error, /crowded take more than 32 MiB/)
    await npm.expect({ path: npm.at('/crowded/-/crowded-1.1.0.tgz') }, 404)
  })

  it('a package has no more versions than a client can send back', async () => {
    const { npm, service } = site
    await npm.publish({ name: 'numerous', version: '1.0.0' })
    const said = (versions: number) =>
      inDatabase(service, (q) =>
        q.updateTable('npm_packages').set({ versions }).where('name', '=', 'numerous').execute(),
      )
    await said(npmVersionsMax)
    const { document } = await publishDocument({ name: 'numerous', version: '1.1.0' })
    assert.match((await npm.put('numerous', document, 413)).json.error, /numerous has 20000 versions/)
    await said(1)
    await npm.put('numerous', document, 201)
  })

  it('a large document is in memory once for all who read it; who has more of them made is sent less of them', async () => {
    const { service, reader, owner, npm } = site
    const read = (credential: string, host: string) =>
      startSlowly(service.url, { path: npm.at('/crowded'), credential, headers: { host } })
    const whole = (await npm.expect({ path: npm.at('/crowded') }, 200)).bytes.byteLength
    const sharing: SlowClient[] = []
    for (let count = 0; count < 5; count++) sharing.push(await read(owner.token, 'localhost:1000'))
    const many: SlowClient[] = []
    for (let count = 0; count < 4; count++) many.push(await read(reader.token, `localhost:${2000 + count}`))
    for (const { head } of [...sharing, ...many]) assert.match(head, /^HTTP\/1\.1 200 /)
    const taken = async (client: SlowClient | undefined): Promise<number> => (await client?.finish())?.byteLength ?? 0
    assert.ok((await taken(many[0])) < whole)
    for (const client of [sharing[0], many[3]]) assert.ok(Math.abs((await taken(client)) - whole) < KiB)
    for (const client of [...sharing, ...many]) client.vanish()
  })

  it('a package of very many versions goes as it was seen: what is published meanwhile stays', async () => {
    const { npm, service } = site
    const count = npmVersionsPerRemoval + 2
    await npm.publish({ name: 'vast', version: '1.0.0' })
    for (let from = 1; from < count; from += 50)
      await Promise.all(
        Array.from({ length: Math.min(50, count - from) }, (_, index) =>
          npm.publish({ name: 'vast', version: `1.${from + index}.0` }),
        ),
      )
    const inspection = await openInspection(service)
    const { database, clock } = inspection
    let transactions = 0
    const watched: typeof database = Object.create(database, {
      transaction: {
        value: async (...asked: Parameters<typeof database.transaction>) => {
          transactions += 1
          if (transactions === 2) await npm.publish({ name: 'vast', version: '2.0.0' })
          return database.transaction(...asked)
        },
      },
    })
    const { _rev } = await documentOf('vast')
    const changer = { repository: 'releases', name: 'vast', owner: 'service-account:x' }
    await unpublish({ database: watched, clock, reach: noFaults }, changer, () => true, _rev)
    assert.equal(transactions, 2)
    assert.deepEqual(Object.keys((await documentOf('vast')).versions), ['2.0.0'])
    await inspection.inOrder()
    await inspection.close()
  })

  it('an attestation is served as it came', async () => {
    const { npm } = site
    await publishAttested(npm, { name: '@acme/attested', version: '1.0.0' }, 'stable')
    const { attestations } = (await documentOf('@acme/attested')).versions['1.0.0'].dist
    assert.equal(attestations.provenance.predicateType, 'https://slsa.dev/provenance/v1')
    const { pathname } = new URL(attestations.url)
    const { json } = await npm.expect({ path: pathname }, 200)
    assert.equal(json.attestations[0].predicateType, 'https://slsa.dev/provenance/v1')
    await npm.publish({ name: 'bare', version: '1.0.0' })
    await npm.expect({ path: npm.at('/-/npm/v1/attestations/bare@1.0.0') }, 404)
  })

  it('a document has an ETag for each state, form and coding, and is not sent to who has it', async () => {
    const { npm } = site
    await npm.publish({ name: 'tagged', version: '1.0.0', readme: 'x'.repeat(5000) })
    const full = await npm.document('tagged')
    const brief = await npm.document('tagged', short)
    const packed = await npm.document('tagged', { 'accept-encoding': 'gzip' })
    assert.equal(packed.headers['content-encoding'], 'gzip')
    for (const told of [full, brief, packed])
      assert.equal(told.headers.vary?.startsWith('Accept, Accept-Encoding'), true)
    const tags = [full, brief, packed].map(({ headers }) => String(headers.etag))
    assert.equal(new Set(tags).size, 3)
    const path = npm.at('/tagged')
    const since = String(full.headers['last-modified'])
    for (const headers of [
      { 'if-none-match': tags[0] ?? '' },
      { 'if-none-match': `"x", W/${tags[0]}` },
      { 'if-none-match': tags[2] ?? '' },
      { 'if-modified-since': since },
    ])
      assert.equal((await npm.expect({ path, headers }, 304)).text, '')
    await npm.expect({ path, headers: { 'if-none-match': tags[1] ?? '', 'if-modified-since': since } }, 200)
    const change = async (): Promise<void> => {
      const document = (await npm.document('tagged')).json
      document.versions['1.0.0'].deprecated = 'x'
      await npm.expect({ method: 'PUT', path, json: document }, 200)
    }
    const { document } = await publishDocument({ name: 'tagged', version: '1.1.0' })
    for (const work of [
      () => npm.put('tagged', document),
      () => npm.expect({ method: 'PUT', path: npm.at('/-/package/tagged/dist-tags/beta'), json: '1.0.0' }, 200),
      change,
    ]) {
      const before = String((await npm.document('tagged')).headers.etag)
      await work()
      await npm.expect({ path, headers: { 'if-none-match': before } }, 200)
    }
    const head = await npm.expect({ method: 'HEAD', path }, 200)
    assert.equal(head.headers['content-length'], String((await npm.document('tagged')).bytes.byteLength))
  })
})
