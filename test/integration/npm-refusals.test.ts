import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Agent } from 'node:http'
import { after, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { npmDocumentPartsMax, npmJsonPartsMax, npmTagsMax } from '../../src/kernel/limits/npm.ts'
import { MiB } from '../../src/kernel/units.ts'
import { ask, closeConnections } from '../harness/client.ts'
import { examineService } from '../harness/doctor.ts'
import { forEachEngine } from '../harness/engines.ts'
import { attestationOf, packed, publishDocument, type TarEntry, tarballOf } from '../harness/npm-documents.ts'
import { npmSite } from '../harness/npm-packages.ts'
import { inDatabase } from '../harness/rows.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = npmSite(engine)
  const wanted = { name: 'refused', version: '1.0.0' }

  /** Nothing is there, and nothing is reserved for it. */
  const leavesNothing = async (): Promise<void> => {
    const { npm, service } = site
    await npm.expect({ path: npm.at('/refused') }, 404)
    const { json } = await service.ask({ path: '/api/v1/repositories/releases', credential: site.owner.token })
    assert.equal(json.storage?.pendingBytes ?? '0', '0')
  }
  const refused = async (document: unknown, words: RegExp, status = 400, name = 'refused'): Promise<void> => {
    const told = await site.npm.put(name, document, status)
    assert.match(told.json.error, words)
    await leavesNothing()
  }
  const withVersion = async (change: Record<string, unknown>): Promise<Record<string, unknown>> => {
    const { document } = await publishDocument(wanted)
    const versions: Record<string, Record<string, unknown>> = JSON.parse(JSON.stringify(document['versions']))
    return { ...document, versions: { '1.0.0': { ...versions['1.0.0'], ...change } } }
  }
  const ofTarball = async (tarball: Buffer): Promise<unknown> => (await publishDocument(wanted, { tarball })).document
  const withEntries = async (...more: TarEntry[]): Promise<unknown> => ofTarball(await packed(wanted, more))

  describe('a document is refused, with what is wrong', () => {
    it('that is of another package than its address, or says two things of one', async () => {
      await refused((await publishDocument({ name: 'other', version: '1.0.0' })).document, /"other".*refused/)
      await refused(await withVersion({ name: 'other' }), /"other", not of refused/)
      await refused(await withVersion({ version: '1.0.1' }), /1\.0\.0 says of itself/)
    })

    it('with a name, a version or a tag that is none', async () => {
      for (const name of ['Upper', '.dot', '_under', 'a'.repeat(215), 'node_modules', 'sp ace'])
        await refused(
          (await publishDocument({ name, version: '1.0.0' })).document,
          /name/,
          400,
          encodeURIComponent(name),
        )
      for (const version of ['1.0', '01.2.3', 'latest', '', 'constructor', '__proto__'])
        await refused(await withVersionCalled(version), /no version/)
      for (const tag of ['1.x', '^1', '>=2', '1.0.0']) {
        const { document } = await publishDocument(wanted, { tag })
        await refused(document, /SemVer range/)
      }
      const tags = Object.fromEntries(Array.from({ length: npmTagsMax + 1 }, (_, index) => [`t${index}`, '2.0.0']))
      await refused({ ...(await publishDocument(wanted)).document, 'dist-tags': tags }, /at most 1000 tags/)
    })

    it('of a package that is private', async () => {
      await refused(await withVersion({ private: true }), /private/)
    })

    it('whose tarball has another length, other hashes, or is not Base64', async () => {
      const { document } = await publishDocument(wanted)
      const file = 'refused-1.0.0.tgz'
      const attachments: Record<string, object> = JSON.parse(JSON.stringify(document['_attachments']))
      const changed = (more: object) => ({ ...document, _attachments: { [file]: { ...attachments[file], ...more } } })
      await refused(changed({ length: 1 }), /the document says 1/)
      await refused(changed({ data: 'ä'.repeat(40) }), /Base64/)
      await refused(changed({ data: `${'A'.repeat(39)}!` }), /Base64/)
      await refused(await withVersion({ dist: { shasum: '0'.repeat(40) } }), /SHA-1/)
      await refused(await withVersion({ dist: { integrity: `sha512-${'A'.repeat(86)}==` } }), /integrity/)
    })

    it('whose tarball is another package, or none', async () => {
      await refused(await ofTarball(await packed({ name: 'inner', version: '1.0.0' })), /"inner", not refused/)
      const needing = { ...wanted, dependencies: { 'left-out': '1.0.0' } }
      await refused(await ofTarball(await packed(needing)), /"left-out" is nothing by the document/)
      const running = { ...wanted, scripts: { postinstall: 'node run.js' } }
      await refused(await ofTarball(await packed(running)), /In scripts, "postinstall"/)
      await refused(await ofTarball(await packed({ name: 'refused', version: '9.9.9' })), /"9\.9\.9", not 1\.0\.0/)
      await refused(await ofTarball(Buffer.from('no archive')), /gzipped tar/)
      await refused(await ofTarball(gzipSync('no tar either')), /gzipped tar|package\.json/)
      await refused(await ofTarball((await packed(wanted)).subarray(0, -20)), /gzipped tar/)
      await refused(await ofTarball(await tarballOf([{ name: 'package/index.js', content: '' }])), /no package\.json/)
      await refused(await withEntries({ name: 'other/package.json', content: '{}' }), /more than one package\.json/)
    })

    it('whose tarball leads out of the folder of who unpacks it', async () => {
      for (const name of ['../evil', 'package/../../evil', '/etc/evil', 'C:/evil', 'package\\..\\..\\evil'])
        await refused(await withEntries({ name, content: 'x' }), /leads out/)
      for (const linkname of ['../../evil', '/etc/passwd'])
        await refused(await withEntries({ name: 'package/link', type: 'symlink', linkname }), /leads out/)
    })

    it('whose tarball says of its files what is not so, or has what no package has', async () => {
      for (const size of ['1099511627776', '-1', 'many'])
        await refused(await withEntries({ name: 'package/lie', content: 'x', pax: { size } }), /gzipped tar/)
      await refused(await withEntries({ name: 'package/x', pax: { path: '../../evil' } }), /leads out/)
      const long = { comment: 'x'.repeat(5_000_000) }
      await refused(await withEntries({ name: 'package/x', pax: long }), /gzipped tar/)
      await refused(await withEntries({ name: 'package/tty', type: 'character-device' }), /a package has files/)
      const manifest = { name: 'package/package.json', content: `{"x":"${'x'.repeat(2_000_000)}"}` }
      await refused(await ofTarball(await tarballOf([manifest])), /more than 1 MiB/)
      for (const content of ['', '[]', '{', '{"name":"refused","version":"1.0.0","__proto__":{}}'])
        await refused(await ofTarball(await tarballOf([{ name: 'package/package.json', content }])), /package\.json/)
    })

    it('whose tarball unpacks to far more than came', async () => {
      await refused(
        await withEntries({ name: 'package/zeros', content: Buffer.alloc(80_000_000) }),
        /unpacks to far more/,
      )
    })

    it('that has several tarballs, or nothing to do', async () => {
      const { document } = await publishDocument(wanted)
      const attachments: Record<string, object> = JSON.parse(JSON.stringify(document['_attachments']))
      const twice = { ...attachments, 'refused-1.0.1.tgz': attachments['refused-1.0.0.tgz'] }
      await refused({ ...document, _attachments: twice }, /one tarball/)
      await refused({ ...document, _attachments: {} }, /no package/, 404)
      await refused({ _id: 'refused' }, /nothing in it to do/)
    })

    it('with an attestation of something else', async () => {
      const { document, tarball } = await publishDocument(wanted)
      const attachments: unknown = document['_attachments']
      for (const bundle of [
        attestationOf({ name: 'other', version: '1.0.0' }, tarball),
        attestationOf(wanted, Buffer.from('other bytes')),
        {},
      ]) {
        const data = JSON.stringify(bundle)
        const sent = Object.assign({}, attachments, { 'refused-1.0.0.sigstore': { data, length: data.length } })
        await refused({ ...document, _attachments: sent }, /attestation/)
      }
    })
  })

  const withVersionCalled = async (version: string): Promise<unknown> => {
    const { document } = await publishDocument(wanted)
    const versions: Record<string, object> = JSON.parse(JSON.stringify(document['versions']))
    return { ...document, 'dist-tags': { latest: version }, versions: { [version]: { ...versions['1.0.0'], version } } }
  }

  it('is 400 for what is no document, wherever it ends', async () => {
    const { npm } = site
    const whole = JSON.stringify((await publishDocument(wanted)).document)
    for (const body of [
      '',
      '[]',
      '"text"',
      'null',
      '{',
      whole.slice(0, -1),
      whole.slice(0, 300),
      `${whole}x`,
      `{"__proto__":1}`,
    ])
      await npm.expect({ method: 'PUT', path: npm.at('/refused'), body }, 400)
    await leavesNothing()
  })

  it('is 413 for what is too large beside its tarball, and for too much of it', async () => {
    const { npm } = site
    const { document } = await publishDocument(wanted)
    const tooLarge = async (json: unknown, words: RegExp): Promise<void> => {
      const told = await npm.put('refused', json, 413)
      assert.match(told.json.error, words)
      assert.equal(told.headers['content-type'], 'application/json')
      await leavesNothing()
    }
    await tooLarge({ ...document, readme: 'x'.repeat(5 * MiB) }, /4194304 bytes, its readme included/)
    await tooLarge(await withVersion({ readme: 'x'.repeat(3 * MiB) }), /2097152 bytes, its readme included/)
    const many = Object.fromEntries(Array.from({ length: 20_001 }, (_, index) => [`1.0.${index}`, {}]))
    await tooLarge({ ...document, versions: many }, /at most 20000 versions/)
    const data = 'x'.repeat(2 * MiB)
    await tooLarge({ ...document, _attachments: { 'refused-1.0.0.sigstore': { data } } }, /more than 1048576 bytes/)
  })

  it('survives what is nested, long or said twice without end', async () => {
    const { npm } = site
    const put = (body: string, status: number) => npm.expect({ method: 'PUT', path: npm.at('/refused'), body }, status)
    for (const deep of ['['.repeat(MiB), '{"a":'.repeat(MiB / 4), `{"versions":{"1.0.0":${'{"a":'.repeat(MiB / 4)}`])
      await put(deep, 400)
    const nested = `${'['.repeat(MiB / 2)}${']'.repeat(MiB / 2)}`
    for (const body of [`{"x":${nested}}`, `{"versions":{"1.0.0":{"x":${nested}}}}`])
      assert.match((await put(body, 400)).json.error, /nested deeper than 100 levels/)
    // Names cost more than the bytes that they are written in: they are counted before anything is parsed.
    const names = (count: number) => Array.from({ length: count }, (_, index) => `"t${index}":"1"`).join()
    for (const [body, words] of [
      [`{"dist-tags":{${names(npmDocumentPartsMax / 2 + 1)}},"users":{}}`, /The document .* more than 123200 parts/],
      [`{"versions":{"1.0.0":{${names(npmJsonPartsMax / 2 + 1)}}}}`, /The version 1.0.0 .* more than 20000 parts/],
    ] as const)
      assert.match((await put(body, 400)).json.error, words)
    // Of whatever is repeated to people it is a beginning.
    const inner = await packed({ ...wanted, name: 'n'.repeat(300_000) })
    const told = await npm.put('refused', (await publishDocument(wanted, { tarball: inner })).document, 400)
    assert.ok(told.text.length < 1_000, String(told.text.length))
    await put(`{"${'n'.repeat(3 * MiB)}":1}`, 400)
    await put(`{"_attachments":{"a.tgz":{"data":"${'\\\\'.repeat(MiB)}"}}}`, 400)
    const { document } = await publishDocument(wanted)
    const whole = JSON.stringify(document)
    await put(`${whole.slice(0, -1)},${whole.slice(1)}`, 400)
    await leavesNothing()
  })

  it('names nothing by what reaches for prototypes', async () => {
    const { npm } = site
    const { document } = await publishDocument(wanted)
    const text = JSON.stringify(document).replace('"_id":"refused@1.0.0"', '"dependencies":{"__proto__":"1.0.0"}')
    const told = await npm.expect({ method: 'PUT', path: npm.at('/refused'), body: text }, 400)
    assert.match(told.json.error, /not JSON that can be taken/)
    await leavesNothing()
  })

  it('is told at once, and what was sent with it is not in the way of what comes next', async () => {
    const { npm, service, owner } = site
    const version = { name: 'again', version: '1.0.0' }
    const tarball = await packed(version, [{ name: 'package/data', content: randomBytes(100_000) }])
    await npm.publish(version, { tarball })
    const { document: json } = await publishDocument(version, { tarball })
    // One connection for all of them.
    const through = new Agent({ keepAlive: true, maxSockets: 1 })
    try {
      for (let times = 0; times < 5; times++) {
        const put = { method: 'PUT', path: npm.at('/again'), credential: owner.token, json }
        assert.equal((await ask(service.url, put, through)).status, 409)
      }
      assert.equal((await ask(service.url, { path: npm.at('/again'), credential: owner.token }, through)).status, 200)
    } finally {
      through.destroy()
    }
  })

  it('counts what is said of a version as well, and has room for that or leaves nothing', async () => {
    const { service, npm } = site
    const held = (): Promise<number> =>
      inDatabase(service, async (q) => {
        const rows = await q.selectFrom('repositories').select('published_bytes').where('id', '=', 'releases').execute()
        return rows[0]?.published_bytes ?? 0
      })
    const limit = (quota_bytes: number | null) =>
      inDatabase(service, (q) =>
        q.updateTable('repositories').set({ quota_bytes }).where('id', '=', 'releases').execute(),
      )
    const before = await held()
    await limit(before + 400_000)
    const text = 'x'.repeat(500_000)
    await refused(await withVersion({ description: text }), /quota/, 413)
    await refused(await withVersion({ readme: text }), /quota/, 413)
    const large = await packed(wanted, [{ name: 'package/data', content: randomBytes(200_000) }])
    const { document } = await publishDocument({ ...wanted, description: text }, { tarball: large })
    await refused(document, /quota/, 413)
    const said = { name: 'said', version: '1.0.0' }
    await npm.publish({ ...said, description: 'x'.repeat(100_000) })
    const after = await held()
    assert.ok(after - before > 100_000 && after - before < 110_000, String(after - before))
    await limit(null)
    await npm.expect({ method: 'DELETE', path: npm.at('/said/-/said-1.0.0.tgz/-rev/0'), credential: site.keeper }, 200)
    assert.equal(await held(), before)
    assert.deepEqual((await examineService(service)).damage, [])
  })

  it('is 403 in words for who may only read, and 401 for nobody', async () => {
    const { service, reader, npm } = site
    const { document } = await publishDocument(wanted)
    const put = { method: 'PUT', path: npm.at('/refused'), json: document }
    const told = await service.ask({ ...put, credential: reader.token })
    assert.equal(told.status, 403)
    assert.match(told.json.error, /asset\.write/)
    assert.equal((await service.ask(put)).status, 401)
    await leavesNothing()
  })
})
