import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { examineService } from '../harness/doctor.ts'
import { forEachEngine } from '../harness/engines.ts'
import { upstreamSite } from '../harness/npm-upstreams.ts'

after(closeConnections)

forEachEngine((engine) => {
  describe('a repository that looks through to another registry', () => {
    const site = upstreamSite(engine)

    it('shows its packages in both forms, with addresses of its own', async () => {
      await site.there.publish({ name: 'lodash', version: '1.0.0', readme: '# it', dependencies: { a: '^1.0.0' } })
      const bytes = await site.there.publish(
        { name: 'lodash', version: '1.1.0', scripts: { install: 'x' } },
        { tag: 'latest' },
      )
      const full = await site.client.document('lodash')
      assert.equal(full.status, 200, full.text)
      assert.equal(full.json.name, 'lodash')
      assert.deepEqual(full.json['dist-tags'], { latest: '1.1.0' })
      assert.deepEqual(Object.keys(full.json.versions), ['1.0.0', '1.1.0'])
      const { dist } = full.json.versions['1.1.0']
      assert.equal(dist.tarball, `${site.service.url}/npm/releases/lodash/-/lodash-1.1.0.tgz`)
      assert.equal(dist.integrity, `sha512-${hash('sha512', bytes, 'base64')}`)
      assert.equal(dist.shasum, hash('sha1', bytes))
      assert.ok(full.json.time['1.0.0'])
      assert.ok(full.json._rev)
      const short = await site.client.document('lodash', { accept: 'application/vnd.npm.install-v1+json' })
      assert.equal(short.headers['content-type'], 'application/vnd.npm.install-v1+json')
      assert.deepEqual(short.json.versions['1.0.0'].dependencies, { a: '^1.0.0' })
      assert.equal(short.json.versions['1.1.0'].hasInstallScript, true)
      assert.equal(short.json.readme, undefined)
      assert.notEqual(short.headers['etag'], full.headers['etag'])
      const known = await site.client.document('lodash', { 'if-none-match': String(full.headers['etag']) })
      assert.equal(known.status, 304)
      const manifest = await site.client.ask('/lodash/latest')
      assert.deepEqual(manifest.json, full.json.versions['1.1.0'])
      const tags = await site.client.ask('/-/package/lodash/dist-tags')
      assert.deepEqual(tags.json, { latest: '1.1.0' })
    })

    it('fetches a tarball once, verifies it, and serves it from then on, also when the upstream is away', async () => {
      const bytes = await site.there.publish({ name: '@out/side', version: '2.0.0' })
      const [one, other] = await Promise.all([
        site.client.tarball('@out/side', '2.0.0'),
        site.client.tarball('@out/side', '2.0.0'),
      ])
      for (const told of [one, other]) {
        assert.equal(told.status, 200, told.text)
        assert.ok(told.bytes.equals(bytes))
      }
      assert.equal((await site.client.tarball('@out/side', '2.0.1')).status, 404)
      assert.deepEqual(await examineService(site.service), { damage: [], waiting: [] })
    })

    it('sees what is new there, and keeps what is not', async () => {
      await site.there.publish({ name: 'growing', version: '1.0.0' })
      const before = await site.client.document('growing')
      await site.there.publish({ name: 'growing', version: '1.0.1' })
      const after = await site.client.document('growing')
      assert.deepEqual(Object.keys(after.json.versions), ['1.0.0', '1.0.1'])
      assert.notEqual(after.headers['etag'], before.headers['etag'])
      const again = await site.client.document('growing')
      assert.equal(again.headers['etag'], after.headers['etag'])
    })

    it('says what is not there either', async () => {
      for (const told of [await site.client.document('nowhere'), await site.client.tarball('nowhere', '1.0.0')]) {
        assert.equal(told.status, 404)
        assert.equal(typeof told.json.error, 'string')
      }
    })
  })
})
