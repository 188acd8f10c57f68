import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { valid } from 'semver'
import { KiB } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { packed, publishDocument } from '../harness/npm-documents.ts'
import { npmSite } from '../harness/npm-packages.ts'
import { queriesOf } from '../harness/query-plans.ts'

after(closeConnections)

const short = 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*'

forEachEngine((engine) => {
  const site = npmSite(engine)

  describe('a package that is published', () => {
    it('is there in both forms, with our address and what the tarball is', async () => {
      const { npm, service, owner } = site
      const manifest = {
        name: 'plain',
        version: '1.0.0',
        description: 'a plain package',
        dependencies: { other: '^1.0.0' },
        scripts: { postinstall: 'true' },
        bin: { plain: 'plain.js' },
        os: ['linux'],
        peerDependenciesMeta: { other: { optional: true } },
        readme: '# plain',
        surprise: { kept: true },
      }
      const tarball = await npm.publish(manifest)
      const told = await npm.document('plain')
      assert.equal(told.headers['content-type'], 'application/json')
      const full = told.json
      assert.match(full._rev, /^1-/)
      assert.deepEqual(full['dist-tags'], { latest: '1.0.0' })
      assert.deepEqual(Object.keys(full.time), ['created', 'modified', '1.0.0'])
      for (const time of Object.values(full.time)) assert.equal(new Date(String(time)).toISOString(), time)
      assert.deepEqual(full.maintainers, [{ name: 'owner', email: '' }])
      assert.deepEqual([full.readme, full.description], ['# plain', 'a plain package'])
      const version = full.versions['1.0.0']
      assert.deepEqual(version.surprise, { kept: true })
      assert.deepEqual(version.dist, {
        integrity: `sha512-${hash('sha512', tarball, 'base64')}`,
        shasum: hash('sha1', tarball),
        fileCount: 1,
        unpackedSize: JSON.stringify(manifest).length,
        tarball: `${service.url}/npm/releases/plain/-/plain-1.0.0.tgz`,
      })
      const abbreviated = await npm.document('plain', { accept: short })
      assert.equal(abbreviated.headers['content-type'], 'application/vnd.npm.install-v1+json')
      const install = abbreviated.json.versions['1.0.0']
      for (const field of ['readme', 'scripts', '_npmUser', 'surprise']) assert.equal(install[field], undefined, field)
      for (const field of ['dependencies', 'bin', 'os', 'peerDependenciesMeta'])
        assert.deepEqual(install[field], version[field])
      assert.equal(install.hasInstallScript, true)
      assert.deepEqual(install.dist, version.dist)
      const got = await service.ask({ path: '/npm/releases/plain/-/plain-1.0.0.tgz', credential: owner.token })
      assert.equal(got.status, 200)
      assert.ok(got.bytes.equals(tarball))
      assert.equal(got.headers['content-type'], 'application/octet-stream')
    })

    it('is taken whole where it is small, so that room is set aside once, for what it is', async () => {
      const manifest = { name: 'small-enough', version: '1.0.0' }
      const tarball = await packed(manifest, [{ name: 'package/file', content: randomBytes(64 * KiB) }])
      const asked = await queriesOf(() => site.npm.publish(manifest, { tarball }))
      const moved = asked.filter(({ sql }) => /^update "repositories" set "published_bytes"/.test(sql))
      // Before it is stored, when it is published, and for what is said of it.
      assert.equal(moved.length, 3, String(moved.length))
      const got = await site.npm.expect({ path: site.npm.at('/small-enough/-/small-enough-1.0.0.tgz') }, 200)
      assert.ok(got.bytes.equals(tarball))
    })

    it('is found by its scope, however the slash is written', async () => {
      const { npm } = site
      const tarball = await npm.publish({ name: '@acme/scoped', version: '1.0.0' })
      const documents = new Set<string>()
      for (const name of ['@acme%2fscoped', '@acme%2Fscoped', '%40acme%2fscoped', '@acme/scoped']) {
        documents.add((await npm.expect({ path: npm.at(`/${name}`) }, 200)).text)
        assert.equal((await npm.expect({ path: npm.at(`/${name}/1.0.0`) }, 200)).json.version, '1.0.0')
        for (const file of ['scoped-1.0.0.tgz', '@acme/scoped-1.0.0.tgz']) {
          const got = await npm.expect({ path: npm.at(`/${name}/-/${file}`) }, 200)
          assert.ok(got.bytes.equals(tarball))
        }
      }
      assert.equal(documents.size, 1)
      await npm.expect({ path: npm.at('/@acme/scoped/-/other-1.0.0.tgz') }, 404)
    })

    it('grows by versions, which stay each at its time', async () => {
      const { npm } = site
      await npm.publish({ name: 'growing', version: '1.0.0' })
      const first = (await npm.document('growing')).json
      await npm.publish({ name: 'growing', version: '2.0.0-beta.1' }, { tag: 'beta' })
      const second = (await npm.document('growing')).json
      assert.deepEqual(Object.keys(second.versions), ['1.0.0', '2.0.0-beta.1'])
      assert.deepEqual(second['dist-tags'], { beta: '2.0.0-beta.1', latest: '1.0.0' })
      assert.equal(second.time['1.0.0'], first.time['1.0.0'])
      for (const called of ['1.0.0', 'v1.0.0', 'latest', 'beta']) {
        const got = await npm.expect({ path: npm.at(`/growing/${called}`) }, 200)
        assert.equal(got.json.version, valid(called) ?? Reflect.get(second['dist-tags'], called))
      }
      assert.match((await npm.expect({ path: npm.at('/growing/3.0.0') }, 404)).json.error, /version not found: 3\.0\.0/)
    })

    it('has the tag latest, whatever tag its first version was given', async () => {
      const { npm } = site
      await npm.publish({ name: 'tagged', version: '1.0.0-rc.1' }, { tag: 'next' })
      assert.deepEqual((await npm.document('tagged')).json['dist-tags'], { latest: '1.0.0-rc.1', next: '1.0.0-rc.1' })
    })

    it('keeps each number for what was published first', async () => {
      const { npm } = site
      const document = async () => (await npm.document('once')).text
      await npm.publish({ name: 'once', version: '1.0.0' })
      const before = await document()
      for (const more of [{}, { other: 'bytes' }]) {
        const { document: sent } = await publishDocument({ name: 'once', version: '1.0.0', ...more })
        const told = await npm.put('once', sent, 409)
        assert.equal(told.json.error, 'You cannot publish over the previously published versions: 1.0.0.')
      }
      assert.equal(await document(), before)
    })

    it('is called by its number alone, also where a client writes a v before it', async () => {
      const { npm } = site
      const tarball = await packed({ name: 'prefixed', version: 'v1.0.0' })
      await npm.publish({ name: 'prefixed', version: 'v1.0.0' }, { tarball })
      const { versions, ...told } = (await npm.document('prefixed')).json
      assert.deepEqual(told['dist-tags'], { latest: '1.0.0' })
      assert.equal(versions['1.0.0'].version, '1.0.0')
      await npm.publish({ name: 'prefixed', version: '1.0.0+build' }, {}, 409)
    })

    it('is taken from an archive of the oldest format, too, as packages of old are', async () => {
      const { npm } = site
      const manifest = { name: 'ancient', version: '0.0.1' }
      const archive = gunzipSync(await packed(manifest))
      // What tells the format, and the owners behind it, which are part of the sum.
      archive.fill(0, 257, 345)
      archive.fill(' ', 148, 156)
      const sum = archive.subarray(0, 512).reduce((all, byte) => all + byte, 0)
      archive.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
      const tarball = await npm.publish(manifest, { tarball: gzipSync(archive) })
      assert.ok((await npm.expect({ path: npm.at('/ancient/-/ancient-0.0.1.tgz') }, 200)).bytes.equals(tarball))
    })

    it('takes a document that repeats all versions and adds one, as clients send it after a conflict', async () => {
      const { npm } = site
      await npm.publish({ name: 'merged', version: '1.0.0' })
      const known = (await npm.document('merged')).json
      const { document } = await publishDocument({ name: 'merged', version: '1.1.0' })
      const versions = { ...known.versions, ...(document['versions'] as object) }
      await npm.put('merged', { ...known, ...document, versions }, 201)
      assert.deepEqual(Object.keys((await npm.document('merged')).json.versions), ['1.0.0', '1.1.0'])
    })

    it('is the same whatever stands first in its document', async () => {
      const { npm } = site
      const { document } = await publishDocument({ name: 'reversed', version: '1.0.0' })
      await npm.put('reversed', Object.fromEntries(Object.entries(document).toReversed()))
      assert.deepEqual(Object.keys((await npm.document('reversed')).json.versions), ['1.0.0'])
    })
  })

  it('has no version twice, and loses none, however many publish at once', async () => {
    const { npm, service, owner } = site
    const versions = Array.from({ length: 12 }, (_, index) => `1.0.${index % 8}`)
    const told = await Promise.all(
      versions.map(async (version, index) => {
        const { document } = await publishDocument({ name: 'raced', version, index })
        return service.ask({ method: 'PUT', path: npm.at('/raced'), credential: owner.token, json: document })
      }),
    )
    assert.deepEqual(told.map(({ status }) => status).toSorted(), [
      ...new Array(8).fill(201),
      ...new Array(4).fill(409),
    ])
    const { json } = await npm.document('raced')
    assert.deepEqual(Object.keys(json.versions).toSorted(), versions.slice(0, 8))
    assert.match(json._rev, /^8-/)
  })
})
