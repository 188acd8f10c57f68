import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { newId } from '../../src/kernel/ids.ts'
import { npmDocumentPartsMax, npmJsonPartsMax } from '../../src/kernel/limits/npm.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { examineService } from '../harness/doctor.ts'
import { forEachEngine } from '../harness/engines.ts'
import { endless, type HostileRegistry, startHostileRegistry } from '../harness/hostile-registry.ts'
import { packed, type TestPackage, tarballOf } from '../harness/npm-documents.ts'
import { lookThrough, npmClient } from '../harness/npm-upstreams.ts'
import { createOwner, type Person } from '../harness/people.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

forEachEngine((engine) => {
  describe('an upstream that is not in order', () => {
    let registry: HostileRegistry
    let service: TestService
    let owner: Person
    let client: ReturnType<typeof npmClient>
    before(async () => {
      registry = await startHostileRegistry()
      service = await startService(engine, {
        settings: {
          SVC_MAX_OBJECT_BYTES: '4MiB',
          SVC_NPM_UPSTREAM_ANSWER_SECONDS: '1',
        },
      })
      owner = await createOwner(service)
      client = npmClient(service, owner.token)
      await lookThrough(service, 'releases', { url: registry.url, freshSeconds: 0 })
    })
    after(async () => {
      await service.stop()
      await registry.leave()
    })

    /** A refusal in the form of npm, in words. */
    const refused = (told: Told, status: number, words: RegExp): void => {
      assert.equal(told.status, status, told.text)
      assert.equal(told.headers['content-type'], 'application/json')
      assert.match(told.json.error, words)
    }
    /** Nothing of a tarball is kept: neither a row, nor room. */
    const nothingKept = async (name: string): Promise<void> => {
      const { rows, usage } = await inDatabase(service, async (q) => ({
        rows: await q.selectFrom('npm_cached_versions').select('id').where('name', '=', name).execute(),
        usage: await q
          .selectFrom('claims')
          .select('id')
          .where('holder', '=', 'npm-cached')
          .where((eb) =>
            eb.not(
              eb.exists(
                eb
                  .selectFrom('npm_cached_versions')
                  .select('npm_cached_versions.id')
                  .whereRef('npm_cached_versions.id', '=', 'claims.id'),
              ),
            ),
          )
          .execute(),
      }))
      assert.deepEqual([rows, usage], [[], []])
      assert.deepEqual(await examineService(service), { damage: [], waiting: [] })
    }

    describe('with documents', () => {
      const documentOf = (name: string, text: string | Buffer) =>
        registry.at(`/${name}`, (_request, response) => response.end(text))

      it('of another package', async () => {
        await registry.publish({ name: 'one', version: '1.0.0' }, { document: { name: 'another' } })
        refused(await client.document('one'), 424, /its document is of "another", and "one" was asked for/)
      })

      it('that are none: no JSON, no object, cut off, empty', async () => {
        for (const [index, text] of ['<html></html>', '[]', '"x"', '{"name":"bad', '', '{}', 'null'].entries()) {
          documentOf(`bad-${index}`, text)
          refused(await client.document(`bad-${index}`), 424, /the upstream registry does not give it: .*\(malformed\)/)
        }
      })

      it('of 100 MB, and that have no end', async () => {
        const version = JSON.stringify({ name: 'huge', version: '1.0.0', dist: {}, x: 'x'.repeat(1_000_000) })
        registry.at('/huge', (_request, response) => {
          response.write('{"name":"huge","versions":{')
          let count = 0
          const more = (): void => {
            for (;;) {
              if (count === 100) return void response.end('}}')
              count += 1
              if (!response.write(`${count === 1 ? '' : ','}"1.0.${count}":${version}`)) break
            }
            response.once('drain', more)
          }
          more()
        })
        refused(await client.document('huge'), 424, /larger than 67108864 bytes/)
        registry.at('/endless', endless(Buffer.alloc(65_536, 'x'), Buffer.from('{"name":"endless","readme":"')))
        refused(await client.document('endless'), 424, /beside the versions.* has more than/)
        registry.at(
          '/announced',
          (_request, response) => void response.writeHead(200, { 'content-length': '100000000000' }).write('{'),
        )
        refused(await client.document('announced'), 424, /larger than 67108864 bytes/)
        registry.at(
          '/one-version',
          endless(Buffer.alloc(65_536, 'x'), Buffer.from('{"versions":{"1.0.0":{"name":"one-version","x":"')),
        )
        refused(await client.document('one-version'), 424, /one of its versions has more than/)
      })

      it('whose bytes come one by one', async () => {
        const text = JSON.stringify({
          name: 'trickle',
          versions: {
            '1.0.0': {
              ...{ name: 'trickle', version: '1.0.0', padding: 'x'.repeat(20_000) },
              dist: { tarball: `${registry.url}/t.tgz`, shasum: '0'.repeat(40) },
            },
          },
        })
        registry.at('/trickle', (_request, response) => {
          const more = (from: number): void => {
            for (let at = from; at < text.length; at++)
              if (!response.write(text[at])) return void response.once('drain', () => more(at + 1))
            response.end()
          }
          more(0)
        })
        const told = await client.document('trickle')
        assert.equal(told.status, 200, told.text)
      })

      it('with versions that cannot be taken: these are left out, and counted', async () => {
        const dist = { tarball: `${registry.url}/x.tgz`, shasum: 'a'.repeat(40) }
        const good = { name: 'some', version: '1.0.0', dist }
        const versions = [
          ['1.0.0', JSON.stringify(good)],
          ['1.0', JSON.stringify({ ...good, version: '1.0' })],
          ['v1.0.2', JSON.stringify({ ...good, version: 'v1.0.2' })],
          ['1.0.3', JSON.stringify({ ...good, version: '1.0.4' })],
          ['1.0.5', JSON.stringify({ ...good, version: '1.0.5', name: 'other' })],
          ['1.0.6', JSON.stringify({ ...good, version: '1.0.6', dist: { tarball: dist.tarball } })],
          ['1.0.7', JSON.stringify({ ...good, version: '1.0.7', dist: null })],
          ['1.0.8', `{"name":"some","version":"1.0.8","__proto__":{"x":1},"dist":${JSON.stringify(dist)}}`],
          ['constructor', JSON.stringify(good)],
        ].map(([key, text]) => `${JSON.stringify(key)}:${text}`)
        const tags = { latest: '1.0.0', next: '1.0.6', '^1': '1.0.0', 'with space': '1.0.0' }
        documentOf('some', `{"name":"some","dist-tags":${JSON.stringify(tags)},"versions":{${versions}}}`)
        const told = await client.document('some')
        assert.equal(told.status, 200, told.text)
        assert.deepEqual(Object.keys(told.json.versions), ['1.0.0'])
        assert.deepEqual(told.json['dist-tags'], { latest: '1.0.0', '^1': '1.0.0' })
        const kept = (await client.kept()).find(({ name }) => name === 'some')
        assert.deepEqual([kept.versions, kept.leftOut], [1, 8])
        documentOf('proto', `{"name":"proto","versions":{"1.0.0":${JSON.stringify(good)},"__proto__":{}}}`)
        refused(await client.document('proto'), 424, /\(malformed\)/)
      })

      it('that tell of one version twice, or of none', async () => {
        const version = JSON.stringify({
          name: 'twice',
          version: '1.0.0',
          dist: { tarball: 'x', shasum: 'a'.repeat(40) },
        })
        documentOf('twice', `{"name":"twice","versions":{"1.0.0":${version},"1.0.0":${version}}}`)
        refused(await client.document('twice'), 424, /one version twice/)
        documentOf('unpublished', '{"name":"unpublished","time":{"unpublished":{}}}')
        refused(await client.document('unpublished'), 404, /no package "unpublished"/)
      })

      it('that are made of too many names, beside their versions or in one: the first are refused, the others left out', async () => {
        const names = (count: number): string =>
          JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, 1])))
        const tarball = { tarball: `${registry.url}/x.tgz`, shasum: 'a'.repeat(40) }
        const version = (number: string, more = ''): string =>
          `"${number}":${JSON.stringify({ name: 'names', version: number, dist: tarball }).slice(0, -1)}${more}}`
        documentOf('names', `{"name":"names","versions":{${version('1.0.0')}},"times":${names(npmDocumentPartsMax)}}`)
        refused(await client.document('names'), 424, /\(malformed\)/)
        const large = version('1.0.1', `,"x":${names(npmJsonPartsMax)}`)
        documentOf('names', `{"name":"names","versions":{${version('1.0.0')},${large}}}`)
        const told = await client.document('names')
        assert.deepEqual(Object.keys(told.json.versions), ['1.0.0'], told.text.slice(0, 500))
      })

      it('that would have our pages changed: addresses and marks of theirs are none of ours', async () => {
        await registry.publish(
          { name: 'marked', version: '1.0.0', homepage: '\u0001/evil', description: 'a\u0001b' },
          { document: { readme: '\u0001' } },
        )
        const told = await client.document('marked')
        assert.equal(told.json.versions['1.0.0'].homepage, '\u0001/evil')
        assert.equal(told.json.readme, '\u0001')
        assert.equal(told.json.versions['1.0.0'].dist.tarball, `${service.url}/npm/releases/marked/-/marked-1.0.0.tgz`)
      })
    })

    it('whose versions are nested without end: those are left out, and the rest is served', async () => {
      await registry.publish({ name: 'nested', version: '1.0.0' }, { version: { deep: {} } })
      const before = await client.document('nested')
      assert.equal(before.status, 200)
      const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
      registry.at('/nested', (_request, response) => {
        response.end(before.text.replace('"deep":{}', `"deep":${deep}`))
      })
      assert.equal((await client.document('nested')).status, 404)
      registry.at('/nested', (_request, response) => {
        response.end(`${before.text.slice(0, -1)},"bugs":${deep}}`)
      })
      refused(await client.document('nested'), 424, /\(malformed\)/)
    })

    it('whose tarballs take long keeps no document from who asks', async () => {
      const names = Array.from({ length: 20 }, (_, index) => `slow-${index}`)
      const ends: (() => void)[] = []
      for (const name of names) {
        await registry.publish({ name, version: '1.0.0' })
        registry.at(`/${name}/-/${name}-1.0.0.tgz`, (_request, response) => {
          response.writeHead(200)
          response.write(gzipSync('x').subarray(0, 4))
          ends.push(() => response.destroy())
        })
      }
      const waiting = Promise.all(names.map((name) => client.tarball(name, '1.0.0')))
      await until('tarballs are under way', () => (ends.length >= 8 ? true : undefined))
      await registry.publish({ name: 'quick', version: '1.0.0' })
      assert.equal((await client.document('quick')).status, 200)
      for (const name of names)
        registry.at(`/${name}/-/${name}-1.0.0.tgz`, (_request, response) => response.writeHead(404).end())
      for (const end of ends.splice(0)) end()
      await waiting
    })

    it('that is asked by other registries, or by who says so, is asked for everybody else as before', async () => {
      await registry.publish({ name: 'chained', version: '1.0.0' })
      assert.equal((await client.document('chained')).status, 200)
      // Far away somebody does not ask because of where the question came from.
      const good = registry.asked.length
      registry.at('/chained', (request, response) => {
        assert.ok((request.headers.via ?? '').length < 400)
        response.writeHead(404).end()
      })
      const token = `1.1 svc-${'0'.repeat(24)}`
      const forged = await client.document('chained', { via: `${token}, 1.1 ${'x'.repeat(800)}` })
      assert.equal(forged.status, 200)
      assert.ok(registry.asked.length > good)
      assert.ok((await client.kept()).some(({ name }) => name === 'chained'))
      const tooLong = await client.document('chained', { via: new Array(9).fill(token).join(', ') })
      assert.equal(tooLong.status, 200)
    })

    it('of which a lease says more than any lease has is asked all the same', async () => {
      await registry.publish({ name: 'leased', version: '1.0.0' })
      await inDatabase(service, async (q) => {
        const lease = { repository: 'releases', name: 'leased', version: '', holder: newId(0) }
        await q
          .insertInto('npm_fetches')
          .values({ ...lease, leased_until: '2999-01-01T00:00:00.000Z' })
          .execute()
      })
      assert.equal((await client.document('leased')).status, 200)
    })

    describe('with tarballs', () => {
      const refusedTarball = async (manifest: TestPackage, status: number, words: RegExp): Promise<void> => {
        refused(await client.tarball(manifest.name, manifest.version), status, words)
        await nothingKept(manifest.name)
      }

      it('that are not what the document says', async () => {
        const other = { name: 'liar', version: '1.0.0' }
        await registry.publish(other, { dist: { integrity: `sha512-${hash('sha512', 'x', 'base64')}` } })
        await refusedTarball(other, 424, /has the integrity sha512-.*another one \(mismatch\)/)
        const weak = { name: 'liar-sha1', version: '1.0.0' }
        await registry.publish(weak, { dist: { integrity: undefined, shasum: '0'.repeat(40) } })
        await refusedTarball(weak, 424, /\(mismatch\)/)
        const both = { name: 'liar-both', version: '1.0.0' }
        await registry.publish(both, { dist: { shasum: '0'.repeat(40) } })
        await refusedTarball(both, 424, /\(mismatch\)/)
      })

      it('of another package, of another version, and that are none', async () => {
        const manifest = { name: 'inside', version: '1.0.0' }
        for (const [tarball, words] of [
          [await packed({ ...manifest, name: 'outside' }), /says that it is "outside", not inside/],
          [await packed({ ...manifest, version: '1.0.1' }), /is of version "1.0.1", not 1.0.0/],
          [Buffer.from('no archive'), /is no gzipped tar archive/],
          [gzipSync('no archive'), /no gzipped tar archive \(Unexpected end of data\)/],
          [Buffer.alloc(0), /cannot be taken/],
          [await tarballOf([{ name: '../../etc/passwd', content: 'x' }]), /leads out of the package/],
          [gzipSync(Buffer.alloc(90_000_000)), /unpacks to far more/],
        ] as const) {
          await registry.publish(manifest, { tarball })
          await refusedTarball(manifest, 424, words)
        }
      })

      it('that are cut off, longer or shorter than is said, too large, or have no end', async () => {
        const manifest = { name: 'sizes', version: '1.0.0' }
        const tarball = await registry.publish(manifest, {
          tarball: await packed(manifest, [
            { name: 'package/x', content: Buffer.from(hash('sha512', 'x').repeat(300)) },
          ]),
        })
        const path = '/sizes/-/sizes-1.0.0.tgz'
        registry.at(path, (_request, response) => {
          response.writeHead(200, { 'content-length': tarball.byteLength + 10 })
          response.write(tarball, () => response.destroy())
        })
        await refusedTarball(manifest, 503, /\(network\)/)
        registry.at(path, (_request, response) => {
          response.writeHead(200, { 'content-length': tarball.byteLength - 10 })
          response.end(tarball.subarray(0, -10))
        })
        await refusedTarball(manifest, 424, /\(mismatch\)/)
        registry.at(path, (_request, response) => {
          response.writeHead(200)
          response.end(Buffer.concat([tarball, Buffer.from('more')]))
        })
        await refusedTarball(manifest, 424, /\(mismatch\)/)
        registry.at(path, (_request, response) => void response.writeHead(200, { 'content-length': 5e12 }).write('x'))
        await refusedTarball(manifest, 424, /larger than 4194304 bytes/)
        registry.at(path, endless(Buffer.alloc(65_536, 'x')))
        await refusedTarball(manifest, 424, /is no gzipped tar archive/)
        // Blocks that are stored and not compressed, of an entry that goes on and on.
        const stored = gzipSync(Buffer.alloc(60_000, 'x'), { level: 0 })
        registry.at(path, endless(stored))
        await refusedTarball(manifest, 424, /./)
      })

      it('that are elsewhere, or redirect inward, or away from HTTPS', async (t) => {
        const manifest = { name: 'elsewhere', version: '1.0.0' }
        const other = await startHostileRegistry()
        t.after(() => other.leave())
        for (const [tarball, words] of [
          [`${other.url}/x.tgz`, /says that the tarball is at http:\/\/127\.0\.0\.1:\d+, and not at its own host/],
          ['https://registry.example.org/x.tgz', /is at https:\/\/registry\.example\.org/],
          ['file:///etc/passwd', /an address of the tarball that is none/],
          ['ftp://127.0.0.1/x', /an address of the tarball that is none/],
          [`http://user:secret@${new URL(registry.url).host}/x.tgz`, /not at its own host/],
        ] as const) {
          await registry.publish(manifest, { dist: { tarball } })
          await refusedTarball(manifest, 424, words)
        }
        assert.deepEqual(other.asked, [])
        await registry.publish(manifest)
        for (const location of ['http://169.254.169.254/latest/meta-data', 'http://10.0.0.1/', 'http://[::1]:1/x']) {
          registry.at('/elsewhere/-/elsewhere-1.0.0.tgz', (_request, response) =>
            response.writeHead(302, { location }).end(),
          )
          await refusedTarball(manifest, 424, /it leads to an address that may not be asked \(blocked\)/)
        }
        registry.at('/elsewhere/-/elsewhere-1.0.0.tgz', (request, response) =>
          response.writeHead(302, { location: request.url }).end(),
        )
        await refusedTarball(manifest, 424, /\(redirect\)/)
      })

      it('that it does not have, refuses, or fails to give', async () => {
        const manifest = { name: 'absent', version: '1.0.0' }
        await registry.publish(manifest)
        for (const [status, told, words] of [
          [404, 404, /There is no file/],
          [401, 424, /it refuses with 401 .*SVC_NPM_UPSTREAM_CREDENTIALS_FILE/],
          [403, 424, /it refuses with 403/],
          [500, 503, /it answers 500/],
          [429, 503, /it answers 429/],
          [206, 424, /it answers 206/],
          [204, 424, /it answers 204/],
        ] as const) {
          registry.at('/absent/-/absent-1.0.0.tgz', (_request, response) => response.writeHead(status).end())
          await refusedTarball(manifest, told, words)
        }
      })
    })

    it('that changes a version: what was fetched before is served on, and told by its own hashes', async () => {
      const manifest = { name: 'rewritten', version: '1.0.0' }
      const first = await registry.publish(manifest)
      assert.ok((await client.tarball('rewritten', '1.0.0')).bytes.equals(first))
      await registry.publish({ ...manifest, scripts: { install: 'evil' } })
      const told = await client.document('rewritten')
      assert.equal(told.json.versions['1.0.0'].dist.integrity, `sha512-${hash('sha512', first, 'base64')}`)
      assert.ok((await client.tarball('rewritten', '1.0.0')).bytes.equals(first))
    })

    it('that is silent, or away: what is here is served, all else is told so', async () => {
      const kept = { name: 'kept', version: '1.0.0' }
      const tarball = await registry.publish(kept)
      const before = await client.document('kept')
      await client.tarball('kept', '1.0.0')
      registry.at('/silent', () => undefined)
      refused(await client.document('silent'), 503, /\(timeout\)\. Try again later\.$/)
      service.clock.advance(60_000)
      await registry.leave()
      refused(await client.document('unseen'), 503, /\(network\)\. Try again later\.$/)
      const stale = await client.document('kept')
      assert.deepEqual([stale.status, stale.text], [200, before.text])
      assert.ok((await client.tarball('kept', '1.0.0')).bytes.equals(tarball))
      const listed = (await client.kept()).find(({ name }) => name === 'kept')
      assert.equal(listed.tarballs, 1)
      assert.equal(listed.tarballBytes, String(tarball.byteLength))
    })
  })
})
