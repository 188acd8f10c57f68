import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { pieceTexts } from '../../src/protocols/npm/rendering.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { packed, publishDocument } from '../harness/npm-documents.ts'
import { npmSite } from '../harness/npm-packages.ts'
import { createPerson } from '../harness/people.ts'
import { queriesOf } from '../harness/query-plans.ts'
import { inDatabase } from '../harness/rows.ts'

after(closeConnections)

const short = { accept: 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*' }

forEachEngine((engine) => {
  const site = npmSite(engine)
  const get = (path: string, headers: Record<string, string> = {}, credential: string | null = site.owner.token) =>
    site.service.ask({ path: `/npm/releases${path}`, headers, credential })

  it('is there at its address, with a slash and without', async () => {
    for (const path of ['', '/']) {
      const told = await get(path)
      assert.deepEqual([told.status, told.json], [200, {}])
    }
  })

  describe('what is not there', () => {
    it('is told as one sentence, in JSON, in both forms', async () => {
      for (const accept of ['application/json', short.accept])
        for (const path of ['/nothing', '/@scope%2fnothing', '/nothing/1.0.0', '/nothing/-/nothing-1.0.0.tgz']) {
          const told = await get(path, { accept })
          assert.equal(told.status, 404, path)
          assert.equal(told.headers['content-type'], 'application/json')
          assert.equal(typeof told.json.error, 'string')
        }
    })

    it('is called by its whole name, however a client writes the slash of a scope', async () => {
      for (const name of ['@s%2fn', '@s%2Fn', '%40s%2fn', '@s/n', '%40s/n']) {
        const told = await get(`/${name}`)
        assert.equal(told.status, 404, name)
        assert.match(told.json.error, /"@s\/n"/)
      }
    })

    it('is no page, whatever is asked for: of other registries, of organisations, by any method', async () => {
      const places = [
        '/-/no/such',
        '/-/all',
        '/-/npm/v1/hooks',
        '/-/org/acme/team',
        '/-/team/acme/developers/user',
        '/-/stage/x',
        '/-/v1/nothing',
        '/a/b/c/d',
      ]
      for (const path of places)
        for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH']) {
          const asked = { method, path: site.npm.at(path), credential: site.owner.token }
          const told = await site.service.ask(method === 'GET' || method === 'HEAD' ? asked : { ...asked, json: {} })
          assert.ok(told.status === 404 || told.status === 405, `${method} ${path}: ${told.status}`)
          assert.equal(told.headers['content-type'], 'application/json', `${method} ${path}`)
          if (method !== 'HEAD') assert.equal(typeof told.json.error, 'string')
        }
    })
  })

  it('asks who does not say who they are, in words for people and in one for clients', async () => {
    for (const path of ['/', '/nothing']) {
      const told = await get(path, {}, null)
      assert.equal(told.status, 401)
      assert.match(String(told.headers['www-authenticate']), /^Bearer realm=/)
      assert.match(told.json.error, /_authToken/)
    }
  })

  it('takes a credential as the password of Basic, whoever is named', async () => {
    const basic = Buffer.from(`somebody:${site.owner.token}`).toString('base64')
    const told = await get('/', { authorization: `Basic ${basic}` }, null)
    assert.equal(told.status, 200)
  })

  it('does not exist for whoever may not see the repository', async () => {
    const stranger = await createPerson(site.service, 'stranger')
    assert.equal((await get('/', {}, stranger.token)).status, 404)
    assert.equal((await get('/', {}, site.reader.token)).status, 200)
  })

  describe('a document', () => {
    it('is the full one unless the short one is asked for, and for whoever is about to change it', async () => {
      const { npm } = site
      await npm.publish({ name: 'forms', version: '1.0.0', scripts: { test: 'true' } })
      for (const headers of [
        {},
        { accept: '*/*' },
        { accept: 'text/html, */*;q=0.1' },
        { accept: 'application/json' },
      ]) {
        const told = await npm.document('forms', headers)
        assert.equal(told.headers['content-type'], 'application/json', JSON.stringify(headers))
        assert.deepEqual(told.json.versions['1.0.0'].scripts, { test: 'true' })
      }
      const brief = await npm.document('forms', short)
      assert.equal(brief.headers['content-type'], 'application/vnd.npm.install-v1+json')
      const changing = await npm.expect({ path: npm.at('/forms?write=true'), headers: short }, 200)
      assert.equal(changing.headers['content-type'], 'application/json')
      assert.match(changing.json._rev, /^1-/)
      assert.match(String(changing.headers['cache-control']), /no-cache/)
      await npm.publish({ name: 'forms', version: '1.1.0' })
      const again = await npm.expect({ path: npm.at('/forms?write=true'), headers: short }, 200)
      assert.match(again.json._rev, /^2-/)
    })

    it('has the same head where only that is asked for', async () => {
      const { npm } = site
      await npm.publish({ name: 'headed', version: '1.0.0', readme: 'x'.repeat(5000) })
      for (const headers of [{}, short, { 'accept-encoding': 'gzip' }] as Record<string, string>[]) {
        const path = npm.at('/headed')
        const whole = await npm.expect({ path, headers }, 200)
        const head = await npm.expect({ method: 'HEAD', path, headers }, 200)
        assert.equal(head.bytes.byteLength, 0)
        for (const name of ['etag', 'vary', 'content-type', 'content-length', 'content-encoding', 'last-modified'])
          assert.equal(head.headers[name], whole.headers[name], name)
        assert.equal(whole.headers['content-length'], String(whole.bytes.byteLength))
      }
    })

    it('tells what installing needs in its short form, all of it and nothing else', async () => {
      const { npm } = site
      const needed = {
        dependencies: { a: '1' },
        optionalDependencies: { b: '1' },
        devDependencies: { c: '1' },
        peerDependencies: { d: '1' },
        peerDependenciesMeta: { d: { optional: true } },
        acceptDependencies: { a: '2' },
        bundleDependencies: ['a'],
        bin: { run: 'run.js' },
        directories: { lib: 'lib' },
        engines: { node: '>=18' },
        funding: { url: 'https://example.org' },
        ...{ cpu: ['x64'], os: ['linux'], libc: ['glibc'] },
      }
      const manifest = { name: 'needs', version: '1.0.0', ...needed, scripts: { install: 'true' }, description: 'x' }
      const tarball = await packed(manifest, [{ name: 'package/npm-shrinkwrap.json', content: '{}' }])
      await npm.publish(manifest, { tarball })
      const brief = (await npm.document('needs', short)).json
      assert.deepEqual(Object.keys(brief).toSorted(), ['dist-tags', 'modified', 'name', 'time', 'versions'])
      const { dist, ...told } = brief.versions['1.0.0']
      const flags = { _hasShrinkwrap: true, hasInstallScript: true }
      assert.deepEqual(told, { name: 'needs', version: '1.0.0', ...needed, ...flags })
      assert.equal(typeof dist.integrity, 'string')
    })

    it('of 5,000 versions costs as few questions as that of one, and comes within a second', async () => {
      const { npm, service } = site
      await npm.publish({ name: 'one', version: '1.0.0' })
      await npm.publish({ name: 'many', version: '1.0.0', dependencies: { a: '^1.0.0', b: '^2.0.0' } })
      await inDatabase(service, async (q) => {
        const row = await q.selectFrom('npm_versions').selectAll().where('name', '=', 'many').executeTakeFirstOrThrow()
        const versions = Array.from({ length: 4_999 }, (_, index) => ({ ...row, version: `1.${index + 1}.0` }))
        for (let number = 2; versions.length > 0; number += 1)
          await q
            .insertInto('npm_pieces')
            .values({ package_id: row.package_id, number, ...pieceTexts(versions.splice(0, 50)) })
            .execute()
      })
      const headers = { ...short, 'accept-encoding': 'gzip' }
      const began = performance.now()
      const told = await npm.document('many', headers)
      const took = performance.now() - began
      assert.ok(took < 1_000, `${took} ms`)
      assert.equal(told.headers['content-encoding'], 'gzip')
      assert.equal(told.headers['vary'], 'Accept, Accept-Encoding')
      const { versions, time } = JSON.parse(gunzipSync(told.bytes).toString())
      assert.equal(Object.keys(versions).length, 5_000)
      assert.equal(Object.keys(time).length, 5_002)
      await npm.document('one', headers)
      const asked = async (name: string): Promise<string[]> =>
        (await queriesOf(() => npm.document(name, headers))).map(({ sql }) => sql).filter((sql) => /"npm_/.test(sql))
      const ofMany = await asked('many')
      assert.equal(ofMany.length, 1)
      assert.deepEqual(ofMany, await asked('one'))
    })
  })

  it('tags have an ETag of their own, by which a client sees that they are as they were', async () => {
    const { npm } = site
    await npm.publish({ name: 'tagged', version: '1.0.0' })
    const path = npm.at('/-/package/tagged/dist-tags')
    const told = await npm.expect({ path }, 200)
    const etag = String(told.headers['etag'])
    assert.notEqual(etag, (await npm.document('tagged')).headers['etag'])
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const same = await npm.expect({ path, headers: { 'if-none-match': known } }, 304)
      assert.deepEqual([same.text, same.headers['etag']], ['', etag])
    }
    await npm.expect({ method: 'PUT', path: `${path}/stable`, json: '1.0.0' }, 200)
    assert.notEqual((await npm.expect({ path, headers: { 'if-none-match': etag } }, 200)).headers['etag'], etag)
  })

  it('a tarball comes as it was sent, whole or a range of it, never in another coding, and for good', async () => {
    const { npm } = site
    const manifest = { name: 'sent', version: '1.0.0' }
    const tarball = await packed(manifest, [{ name: 'package/data', content: randomBytes(10_000) }])
    await npm.put('sent', (await publishDocument(manifest, { tarball })).document)
    const path = npm.at('/sent/-/sent-1.0.0.tgz')
    const whole = await npm.expect({ path, headers: { 'accept-encoding': 'gzip, br, zstd' } }, 200)
    assert.ok(whole.bytes.equals(tarball))
    assert.equal(whole.headers['content-encoding'], undefined)
    assert.equal(whole.headers['content-length'], String(tarball.byteLength))
    assert.match(String(whole.headers['cache-control']), /immutable/)
    assert.match(String(whole.headers['vary']), /Authorization/)
    const part = await npm.expect({ path, headers: { range: 'bytes=100-199' } }, 206)
    assert.ok(part.bytes.equals(tarball.subarray(100, 200)))
    assert.equal(part.headers['content-range'], `bytes 100-199/${tarball.byteLength}`)
    const head = await npm.expect({ method: 'HEAD', path }, 200)
    assert.equal(head.headers['content-length'], String(tarball.byteLength))
    await npm.expect({ path, headers: { 'if-none-match': String(whole.headers['etag']) } }, 304)
  })
})
