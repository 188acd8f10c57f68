import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { compare, major, maxSatisfying, minor, satisfies, validRange } from 'semver'
import { someRange, someVersion } from '../../src/features/catalog/packages/semver.suite.ts'
import { deriveStages } from '../../src/features/catalog/packages/stages.queries.ts'
import { parseVersion, versionKey } from '../../src/features/catalog/packages/version-order.ts'
import { newId } from '../../src/kernel/ids.ts'
import { promotedVersionsReadMax } from '../../src/kernel/limits/engines.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { type Inspection, openInspection } from '../harness/inspection.ts'
import { addPackage, fillPackages, publishPackage, register } from '../harness/packages.ts'
import { createOwner, createRepository, grant, type Person } from '../harness/people.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { freshName } from '../harness/service-keys.ts'

const repository = 'one'
const base = `/api/v1/repositories/${repository}/packages`

after(closeConnections)

const rowOf = (name: string, version: string) => {
  const parsed = parseVersion(version)
  assert.ok(parsed !== null, version)
  const prerelease: 0 | 1 = parsed.prerelease.length > 0 ? 1 : 0
  return { id: newId(Date.now()), name, version, version_key: versionKey(parsed), prerelease }
}

/** Each version once, also where two differ only in build metadata. */
const unlike = (versions: readonly string[]): string[] => [
  ...new Map(versions.map((version) => [rowOf('x', version).version_key, version])).values(),
]

forEachEngine((engine) => {
  let service: TestService
  let inspection: Inspection
  let writer: Person
  let like: string
  before(async () => {
    service = await startService(engine, { roles: { gateway: 'api', worker: false } })
    inspection = await openInspection(service)
    writer = await createOwner(service)
    await createRepository(service, repository)
    await grant(service, writer, repository, 'write')
    like = await addPackage(service, writer.token, repository, { name: 'like', version: '1.0.0' })
  })
  after(async () => {
    await inspection.close()
    await service.stop()
  })

  /** What is damaged, apart from search, past which thousands of versions were put here. */
  const damage = async (): Promise<string[]> =>
    (await inspection.findings()).damage.filter((each) => !each.includes('search does not know'))
  afterEach(async () => assert.deepEqual(await damage(), []))

  const resolve = (query: Record<string, string>, status = 200): Promise<Told> =>
    expectAnswer(
      service,
      { path: `${base}/resolve?${new URLSearchParams(query)}`, credential: writer.token },
      status,
      status === 200 ? undefined : status === 404 ? 'not_found' : 'invalid_request',
    )
  const chosen = async (query: Record<string, string>): Promise<string | null> => {
    const told = await service.ask({ path: `${base}/resolve?${new URLSearchParams(query)}`, credential: writer.token })
    assert.ok(told.status === 200 || told.status === 404, `${JSON.stringify(query)}: ${told.text}`)
    return told.status === 200 ? told.json.version : null
  }
  const fill = async (versions: readonly string[], name = freshName('many')): Promise<Map<string, string>> => {
    const rows = versions.map((version) => rowOf(name, version))
    await fillPackages(service, like, rows)
    return new Map(rows.map(({ version, id }) => [version, id]))
  }
  const put = (id: string, stage: string, promotedAt: string): Promise<void> =>
    inDatabase(service, async (q) => {
      const row = { repository, artifact_id: id, stage, promoted_at: promotedAt, actor: 'somebody', comment: null }
      await q.insertInto('artifact_stages').values(row).execute()
    })
  const derive = (id: string): Promise<void> => inspection.database.transaction((tx) => deriveStages(tx, id))
  const staged = async (id: string, stage: string, promotedAt: string): Promise<void> => {
    await put(id, stage, promotedAt)
    await derive(id)
  }

  describe('resolving', () => {
    it('chooses by any range what node-semver would choose', async () => {
      const name = freshName('ranged')
      const versions = unlike(fc.sample(someVersion, { seed: 7, numRuns: 4_000 }))
      assert.ok(versions.length > 1_000, `${versions.length} versions`)
      await fill(versions, name)
      const ranges = fc.sample(fc.tuple(someRange, fc.boolean()), { seed: 8, numRuns: 1_500 })
      let found = 0
      for (const [range, includePrerelease] of ranges) {
        if (validRange(range, { includePrerelease }) === null) continue
        const expected = maxSatisfying(versions, range, { includePrerelease })
        const prerelease = String(includePrerelease)
        assert.equal(await chosen({ name, range, prerelease }), expected, `${range}, pre-releases ${prerelease}`)
        if (expected !== null) found++
      }
      assert.ok(found > 800, `${found} found`)
    })

    it('chooses the same among few versions, in which ranges have gaps', async () => {
      const few = fc.array(someVersion, { minLength: 1, maxLength: 6 })
      for (const [index, sample] of fc.sample(few, { seed: 9, numRuns: 25 }).entries()) {
        const name = freshName('few')
        const versions = unlike(sample)
        await fill(versions, name)
        for (const [range, includePrerelease] of fc.sample(fc.tuple(someRange, fc.boolean()), {
          seed: index,
          numRuns: 25,
        })) {
          if (validRange(range, { includePrerelease }) === null) continue
          const expected = maxSatisfying(versions, range, { includePrerelease })
          const query = { name, range, prerelease: String(includePrerelease) }
          assert.equal(await chosen(query), expected, `${range} of ${versions.join(' ')}`)
        }
      }
    })

    it('without a range chooses the highest release, or the highest of all where pre-releases are asked for', async () => {
      const name = freshName('highest')
      const versions = ['1.0.0', '1.10.0', '1.9.0', '2.0.0-rc.1', '2.0.0-rc.2']
      const ids = await fill(versions, name)
      const told = await resolve({ name })
      assert.deepEqual(told.json, {
        group: '',
        name,
        version: '1.10.0',
        artifactId: ids.get('1.10.0'),
        sha256: told.json.sha256,
        size: told.json.size,
        publishedAt: told.json.publishedAt,
        stagedAt: null,
        stages: [],
      })
      assert.equal(await chosen({ name, prerelease: 'true' }), '2.0.0-rc.2')
      assert.equal(await chosen({ name, prerelease: 'false' }), '1.10.0')
      assert.equal(await chosen({ name: name.toUpperCase(), group: '' }), '1.10.0')
      assert.equal(await chosen({ name, group: 'other' }), null)
      const early = freshName('early')
      await fill(['0.1.0-a', '0.1.0-b'], early)
      assert.equal(await chosen({ name: early }), null)
      assert.equal(await chosen({ name: early, range: '*' }), null)
    })

    it('finds an exact version, whatever its build metadata, and needs no flag for a pre-release', async () => {
      const name = freshName('exact')
      await fill(['1.0.0+built.1', '1.0.0-rc.1', '2.0.0-rc.1'], name)
      assert.equal(await chosen({ name, version: '1.0.0' }), '1.0.0+built.1')
      assert.equal(await chosen({ name, version: '1.0.0+another' }), '1.0.0+built.1')
      assert.equal(await chosen({ name, version: '1.0.0-rc.1' }), '1.0.0-rc.1')
      assert.equal(await chosen({ name, range: '1.0.0-rc.1' }), '1.0.0-rc.1')
      assert.equal(await chosen({ name, range: '^2.0.0-rc.0' }), '2.0.0-rc.1')
      assert.equal(await chosen({ name, range: '^2.0.0-rc.0', prerelease: 'false' }), '2.0.0-rc.1')
      assert.equal(await chosen({ name, version: '1.0.1' }), null)
    })

    it('knows groups apart', async () => {
      const name = freshName('grouped')
      for (const [group, version] of [
        ['', '1.0.0'],
        ['A/b', '2.0.0'],
        ['a', '3.0.0'],
      ] as const)
        await addPackage(service, writer.token, repository, { group, name, version })
      assert.equal(await chosen({ name }), '1.0.0')
      assert.equal(await chosen({ name, group: 'a/B' }), '2.0.0')
      assert.equal(await chosen({ name, group: 'A' }), '3.0.0')
    })

    it('refuses what cannot be meant', async () => {
      const name = 'like'
      for (const query of [
        {},
        { name: '' },
        { name: 'n'.repeat(129) },
        { name: 'nul\0' },
        { name, group: 'g'.repeat(129) },
        { name, version: '1.0' },
        { name, version: 'v1.0.0' },
        { name, version: '^1.0.0' },
        { name, version: '' },
        { name, version: '1.0.0', range: '1.x' },
        { name, range: 'latest' },
        { name, range: '^1.0.0 foo' },
        { name, range: `>=1.0.0 ${' '.repeat(256)}` },
        { name, prerelease: 'yes' },
        { name, prerelease: '' },
        { name, order: 'promoted' },
        { name, order: 'newest', stage: 'a' },
        { name, stage: 'Not A Stage' },
        { name, stage: 's'.repeat(33) },
        { name, tag: 'x' },
      ])
        await resolve(query as Record<string, string>, 400)
      for (const query of [{ name: 'unknown' }, { name, range: '>5' }, { name, stage: 'gold' }])
        await resolve(query as Record<string, string>, 404)
      assert.equal(await chosen({ name, range: '' }), '1.0.0')
      assert.equal(await chosen({ name, range: '||'.repeat(128) }), '1.0.0')
    })
  })

  describe('resolving by a stage', () => {
    it('chooses among the versions that have reached it, by version or by when they did', async () => {
      const name = freshName('staged')
      const ids = await fill(['1.0.0', '1.1.0', '1.2.0', '2.0.0-rc.1', '3.0.0'], name)
      const idOf = (version: string): string => ids.get(version) ?? assert.fail(version)
      const day = (n: number): string => new Date(Date.UTC(2026, 0, n)).toISOString()
      await staged(idOf('1.1.0'), 'tested', day(2))
      await staged(idOf('1.2.0'), 'tested', day(1))
      await staged(idOf('2.0.0-rc.1'), 'tested', day(3))
      await staged(idOf('1.0.0'), 'live', day(4))
      await staged(idOf('1.0.0'), 'tested', day(5))
      const told = (await resolve({ name, stage: 'tested' })).json
      assert.deepEqual([told.version, told.stagedAt, told.stages], ['1.2.0', day(1), ['tested']])
      const promoted = (await resolve({ name, stage: 'tested', order: 'promoted' })).json
      assert.deepEqual([promoted.version, promoted.stagedAt, promoted.stages], ['1.0.0', day(5), ['live', 'tested']])
      const query = { name, stage: 'tested' }
      assert.equal(await chosen({ ...query, order: 'version' }), '1.2.0')
      assert.equal(await chosen({ ...query, prerelease: 'true' }), '2.0.0-rc.1')
      assert.equal(await chosen({ ...query, range: '>1.0.0', order: 'promoted' }), '1.1.0')
      assert.equal(await chosen({ ...query, range: '>1.0.0', order: 'promoted', prerelease: 'true' }), '2.0.0-rc.1')
      assert.equal(await chosen({ ...query, range: '^2.0.0-0', order: 'promoted' }), '2.0.0-rc.1')
      assert.equal(await chosen({ ...query, range: '1.2.x || 1.1.x', order: 'promoted' }), '1.1.0')
      assert.equal(await chosen({ ...query, version: '1.1.0' }), '1.1.0')
      assert.equal(await chosen({ ...query, version: '3.0.0' }), null)
      assert.equal(await chosen({ name, stage: 'live' }), '1.0.0')
      const all = (await resolve({ name, version: '1.0.0' })).json
      assert.deepEqual([all.stagedAt, all.stages], [null, ['live', 'tested']])
      await inDatabase(service, (q) =>
        q.deleteFrom('artifact_stages').where('artifact_id', '=', idOf('1.0.0')).execute(),
      )
      await derive(idOf('1.0.0'))
      assert.equal(await chosen({ ...query, order: 'promoted' }), '1.1.0')
    })

    it('knows the stages that a file had reached before it was registered', async () => {
      const name = freshName('late')
      const id = await publishPackage(service, writer.token, repository, { name, version: '1.0.0' })
      await put(id, 'tested', new Date().toISOString())
      assert.equal(await chosen({ name, stage: 'tested' }), null)
      await register(service, writer.token, repository, id)
      assert.equal(await chosen({ name, stage: 'tested' }), '1.0.0')
    })

    it('agrees with node-semver on the versions of the stage', async () => {
      const name = freshName('both')
      const versions = unlike(fc.sample(someVersion, { seed: 11, numRuns: 120 }))
      const ids = await fill(versions, name)
      const some = versions.filter((_, index) => index % 3 === 0)
      for (const version of some) await staged(ids.get(version) ?? '', 'some', new Date().toISOString())
      for (const [range, includePrerelease] of fc.sample(fc.tuple(someRange, fc.boolean()), {
        seed: 12,
        numRuns: 150,
      })) {
        if (validRange(range, { includePrerelease }) === null) continue
        const query = { name, range, prerelease: String(includePrerelease), stage: 'some' }
        assert.equal(await chosen(query), maxSatisfying(some, range, { includePrerelease }), range)
      }
    })

    it('knows which version of a range came last, among many that came later, and the highest of those that came at once', async () => {
      const name = freshName('lately')
      const versions = unlike(fc.sample(someVersion, { seed: 13, numRuns: 1_500 }))
      assert.ok(versions.length > 2 * promotedVersionsReadMax, `${versions.length} versions`)
      const ids = await fill(versions, name)
      // The higher major numbers came first; some of each at once.
      const cameAt = (version: string): string =>
        new Date(Date.UTC(2026, 0, 1, 12 - major(version), minor(version))).toISOString()
      await inspection.database.transaction(async (tx) => {
        const rows = versions.map((version) => ({
          ...{ repository, artifact_id: ids.get(version) ?? '', stage: 'some', promoted_at: cameAt(version) },
          ...{ actor: 'somebody', comment: null },
        }))
        await tx.insertInto('artifact_stages').values(rows).execute()
        for (const { artifact_id } of rows) await deriveStages(tx, artifact_id)
      })
      const lastOf = (some: readonly string[]): string | null =>
        some.toSorted((a, b) => (cameAt(a) === cameAt(b) ? compare(b, a) : cameAt(a) < cameAt(b) ? 1 : -1))[0] ?? null
      const ranges = fc.sample(fc.tuple(someRange, fc.boolean()), { seed: 14, numRuns: 300 })
      let [few, many] = [0, 0]
      for (const [range, includePrerelease] of [...ranges, ['>=3', true] as const, ['*', true] as const]) {
        if (validRange(range, { includePrerelease }) === null) continue
        const matching = versions.filter((version) => satisfies(version, range, { includePrerelease }))
        const expected = lastOf(matching)
        const query = { name, range, prerelease: String(includePrerelease), stage: 'some', order: 'promoted' }
        assert.equal(await chosen(query), expected, `${range}, pre-releases ${includePrerelease}`)
        if (matching.length > promotedVersionsReadMax) many++
        else if (expected !== null) few++
      }
      assert.ok(few > 20 && many > 20, `${few} chosen of few, ${many} of many`)
    })

    it('is put right by the doctor where it was forgotten', async () => {
      const name = freshName('mended')
      const id = await addPackage(service, writer.token, repository, { name, version: '1.0.0' })
      await put(id, 'tested', new Date().toISOString())
      const [stale] = await damage()
      assert.match(stale ?? '', new RegExp(`package ${id} is not found by the stages`))
      await inspection.mend()
      assert.equal(await chosen({ name, stage: 'tested' }), '1.0.0')
      await inDatabase(service, (q) => q.deleteFrom('artifact_stages').where('artifact_id', '=', id).execute())
      assert.equal((await damage()).length, 1)
      await inspection.mend()
      assert.equal(await chosen({ name, stage: 'tested' }), null)
      assert.deepEqual(await damage(), [])
    })
  })

  it('lists ten thousand versions in the order of precedence, page by page', async () => {
    const name = freshName('thousands')
    const versions = Array.from({ length: 10_000 }, (_, n) => `${n % 7}.${n % 11}.${n}${n % 3 === 0 ? `-rc.${n}` : ''}`)
    await fill(versions, name)
    const found: string[] = []
    let after = ''
    do {
      const path = `${base}?name=${name}&sort=version&direction=desc&limit=100${after}`
      const page = (await expectAnswer(service, { path, credential: writer.token }, 200)).json
      found.push(...page.items.map(({ version }: { version: string }) => version))
      after = page.next === null ? '' : `&after=${page.next}`
    } while (after !== '')
    assert.deepEqual(
      found,
      versions.toSorted((a, b) => compare(b, a)),
    )
    assert.equal(await chosen({ name, range: '0.x' }), maxSatisfying(versions, '0.x'))
  })
})
