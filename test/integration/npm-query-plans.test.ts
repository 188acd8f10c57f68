import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { newId } from '../../src/kernel/ids.ts'
import { opaqueCursor } from '../../src/kernel/opaque-cursor.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { openInspection } from '../harness/inspection.ts'
import { publishAttested } from '../harness/npm-packages.ts'
import { npmPromotionSite } from '../harness/npm-promotions.ts'
import { analyze, planReader } from '../harness/query-plans.ts'
import { inDatabase } from '../harness/rows.ts'

after(closeConnections)

/** Rows of each big table; what is asked for is a small part of them. */
const rowCount = 6_000
const smallRows = 1_000
/** Of repositories there are as many as people made; an index of what is open has nothing else. */
const readWhole = /^(?:SCAN|Seq Scan) (?:repositories|claims USING COVERING INDEX claims_pending) /

forEachEngine((engine) => {
  const { site } = npmPromotionSite(engine)
  before(async () => {
    await publishAttested(site.npm, { name: 'app', version: '1.0.0' }, 'stable')
    await inDatabase(site.service, async (q) => {
      const one = await q.selectFrom('npm_packages').selectAll().executeTakeFirstOrThrow()
      const version = await q.selectFrom('npm_versions').selectAll().executeTakeFirstOrThrow()
      const claim = await q.selectFrom('claims').selectAll().where('id', '=', version.id).executeTakeFirstOrThrow()
      const document = await q.selectFrom('npm_documents').selectAll().executeTakeFirstOrThrow()
      const piece = await q.selectFrom('npm_pieces').selectAll().executeTakeFirstOrThrow()
      for (let start = 1; start <= rowCount; start += 500) {
        const numbers = Array.from({ length: 500 }, (_, index) => start + index)
        const named = (number: number): string => `p${number}`
        const ids = new Map(numbers.map((number) => [number, newId(Date.now() + number)]))
        const id = (number: number): string => ids.get(number) ?? ''
        await q
          .insertInto('npm_packages')
          .values(
            numbers.map((number) => ({
              ...{ ...one, id: id(number), name: named(number), versions: number % 9 === 0 ? 0 : 1 },
              ...{ found_by: named(number), summary: JSON.stringify({ name: named(number) }) },
            })),
          )
          .execute()
        await q
          .insertInto('npm_documents')
          .values(numbers.map((number) => ({ ...document, package_id: id(number) })))
          .execute()
        await q
          .insertInto('npm_pieces')
          .values(numbers.map((number) => ({ ...piece, package_id: id(number) })))
          .execute()
        // Every twelfth is of one package.
        const versions = numbers.map((number) => ({
          ...{ ...version, id: newId(Date.now() + number), number: number + 1 },
          ...(number % 12 !== 0 ? { package_id: id(number), name: named(number) } : {}),
          version: `1.0.${number}`,
          ...(number % 5 === 0 ? { deleted_at: version.published_at, piece: null } : { piece: 2 + (number % 300) }),
        }))
        await q
          .insertInto('claims')
          .values(
            versions.map((row) => ({
              ...{ ...claim, id: row.id, state: row.deleted_at === null ? ('live' as const) : ('retired' as const) },
              retired_at: row.deleted_at,
            })),
          )
          .execute()
        await q.insertInto('npm_versions').values(versions).execute()
        const live = versions.filter(({ deleted_at }) => deleted_at === null)
        await q
          .insertInto('npm_tags')
          .values(
            live
              .filter(({ name, number }) => name !== 'app' || number % 3 === 1)
              .map((row) => ({
                ...{ package_id: row.package_id, tag: `t${row.number}`, version_id: row.id },
                ...{ moved_at: row.published_at, actor: row.actor },
              })),
          )
          .execute()
        await q
          .insertInto('npm_stages')
          .values(
            live.map((row) => ({
              ...{ version_id: row.id, stage: `s${row.number % 4}`, repository: 'releases', name: row.name },
              ...{ version: row.version, promoted_at: row.published_at, actor: row.actor, comment: null },
            })),
          )
          .execute()
        await q
          .insertInto('npm_promotions')
          .values(
            live.map((row) => ({
              ...{ copy_id: row.id, source_repository: 'hidden', mode: 'copy' as const, promoted_at: row.published_at },
            })),
          )
          .execute()
        await q
          .insertInto('npm_taken_versions')
          .values(
            numbers.map((number) => ({
              ...{ repository: 'releases', name: number % 2 === 0 ? 'app' : named(number) },
              ...{ version: `0.0.${number}`, released_at: version.published_at },
            })),
          )
          .execute()
      }
      await q
        .insertInto('npm_pieces')
        .values(Array.from({ length: 300 }, (_, at) => ({ ...piece, package_id: one.id, number: at + 2 })))
        .execute()
    })
    await analyze(site.service.databaseUrl)
  })

  const faultsOf = planReader(
    () => site.service,
    smallRows,
    (fault) => readWhole.test(fault),
  )

  it('what is read of packages goes by an index, in its order', async () => {
    const { npm } = site
    const listed = '/api/v1/repositories/releases/npm'
    const of = 'package=app'
    const after = (listing: readonly string[], position: string): string => `after=${opaqueCursor(listing, [position])}`
    const asked: Record<string, string> = {
      'a document': npm.at('/app'),
      'a manifest': npm.at('/app/1.0.12'),
      'a manifest by tag': npm.at('/app/stable'),
      'a tarball': npm.at('/app/-/app-1.0.0.tgz'),
      tags: npm.at('/-/package/app/dist-tags'),
      attestations: npm.at('/-/npm/v1/attestations/app@1.0.0'),
      visibility: npm.at('/-/package/app/visibility'),
      'a search': npm.at('/-/v1/search?text=p77&size=20'),
      'packages by name': `${listed}/packages?limit=20`,
      'packages in the middle': `${listed}/packages?limit=20&${after(['npm packages', 'releases', ''], 'p3000')}`,
      'packages by a part of their name': `${listed}/packages?contains=99`,
      versions: `${listed}/versions?${of}&limit=20`,
      'versions in the middle': `${listed}/versions?${of}&limit=20&${after(['npm versions', 'releases', 'app'], '3000')}`,
      'deleted versions': `${listed}/versions/deleted?${of}&limit=20`,
      'an opened version': `${listed}/version?${of}&version=1.0.0`,
      'the card of the repository': '/api/v1/repositories/releases',
      stages: `${listed}/stages?limit=20`,
      'stages of a package': `${listed}/stages?limit=20&package=app`,
      'one stage': `${listed}/stages?limit=20&stage=s2`,
      'one stage of a package': `${listed}/stages?limit=20&stage=s1&package=app`,
      'stages of a version': `${listed}/stages?package=app&version=1.0.12`,
      'promotions of a version': `${listed}/promotions?package=app&version=1.0.12`,
    }
    const faults: string[] = []
    for (const [what, path] of Object.entries(asked))
      faults.push(...(await faultsOf(what, () => npm.expect({ path }, 200))))
    for (const query of ['', '&package=app', '&stage=s2', '&stage=s1&package=app']) {
      const path = `${listed}/stages?limit=20${query}`
      const { next } = (await npm.expect({ path }, 200)).json
      const work = () => npm.expect({ path: `${path}&after=${next}` }, 200)
      faults.push(...(await faultsOf(`the next stages ${query}`, work)))
    }
    assert.deepEqual(faults, [])
  })

  it('a search goes through all packages, some at a time, and shows the page that is asked for', async () => {
    const { npm } = site
    const { total, objects } = (await npm.expect({ path: npm.at('/-/v1/search?text=p77&size=3&from=4') }, 200)).json
    const names = objects.map(({ package: found }: { package: { name: string } }) => found.name)
    assert.deepEqual([total, names], [10, ['p773', 'p775', 'p776']])
    const beyond = (await npm.expect({ path: npm.at('/-/v1/search?text=p77&from=10') }, 200)).json
    assert.deepEqual([beyond.total, beyond.objects], [10, []])
    const listed = '/api/v1/repositories/releases/npm/packages?contains=77&limit=4'
    const first = (await npm.expect({ path: listed }, 200)).json
    const second = (await npm.expect({ path: `${listed}&after=${first.next}` }, 200)).json
    const called = [first, second].map(({ items }) => items.map(({ name }: { name: string }) => name))
    assert.deepEqual(called, [
      ['p1077', 'p1177', 'p1277', 'p1477'],
      ['p1577', 'p1677', 'p177', 'p1770'],
    ])
  })

  it('so do changes of packages', async () => {
    const { npm, service, keeper } = site
    const expect = (method: string, path: string, json?: unknown, status = 200) => {
      const request = { method, path: npm.at(path), credential: keeper, ...(json === undefined ? {} : { json }) }
      return expectAnswer(service, request, status)
    }
    const put = (path: string, json: unknown) => npm.expect({ method: 'PUT', path: npm.at(path), json }, 200)
    const document = async (name: string) => (await npm.document(name)).json
    const stages = '/api/v1/repositories/releases/npm/stages'
    const fresh = { package: 'fresh', version: '1.0.0' }
    const promote = (wish: object, status: number) =>
      npm.expect({ path: '/api/v1/repositories/releases/npm/promote', json: { target: 'second', ...wish } }, status)
    const restore = { path: '/api/v1/repositories/releases/npm/versions/restore' }
    const done: Record<string, () => Promise<unknown>> = {
      'a new package': () => npm.publish({ name: 'fresh', version: '1.0.0' }),
      'a new version': () => npm.publish({ name: 'fresh', version: '1.0.1' }),
      'a version of a large package': () => npm.publish({ name: 'app', version: '9.0.0' }),
      'a tag': () => put('/-/package/fresh/dist-tags/stable', '1.0.0'),
      'a tag that goes': () => npm.expect({ method: 'DELETE', path: npm.at('/-/package/fresh/dist-tags/stable') }, 200),
      'a deprecation': () => put('/fresh', { _id: 'fresh', versions: { '1.0.0': { deprecated: 'old' } } }),
      'a deprecation in a large package': () =>
        put('/app', { _id: 'app', versions: { '1.0.12': { deprecated: 'old' } } }),
      'a star': () => put('/fresh', { _id: 'fresh', users: { owner: true } }),
      owners: async () =>
        put(`/fresh/-rev/${(await document('fresh'))._rev}`, { _id: 'fresh', maintainers: [{ name: 'x' }] }),
      'a version that goes': () => expect('DELETE', '/fresh/-/fresh-1.0.0.tgz/-rev/0'),
      'a version of a large package that goes': () => expect('DELETE', '/app/-/app-9.0.0.tgz/-rev/0'),
      'a version that comes back': () => npm.expect({ ...restore, json: { package: 'fresh', version: '1.0.0' } }, 200),
      'a stage': () => npm.expect({ method: 'PUT', path: `${stages}/tested`, json: fresh }, 200),
      'a stage that goes': () =>
        npm.expect({ method: 'DELETE', path: `${stages}/tested?package=fresh&version=1.0.0` }, 204),
      'a promotion': () => promote({ ...fresh, stages: ['tested'] }, 201),
      'one again': () => promote(fresh, 200),
      'a move': () => promote({ ...fresh, mode: 'move' }, 200),
      'a move again': () => promote({ ...fresh, mode: 'move' }, 200),
      'a package that goes': async () => expect('DELETE', `/fresh/-rev/${(await document('fresh'))._rev}`),
    }
    const faults: string[] = []
    for (const [what, work] of Object.entries(done)) faults.push(...(await faultsOf(what, work)))
    assert.deepEqual(faults, [])
  })

  it('so does giving up what was deleted', async () => {
    site.service.clock.advance(48 * 3_600_000)
    const inspection = await openInspection(site.service)
    const faults = await faultsOf('giving up', () => inspection.upkeep())
    await inspection.close()
    assert.deepEqual(
      faults.filter((fault) => /npm_/.test(fault)),
      [],
    )
  })
})
