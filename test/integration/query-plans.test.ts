import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { claimsPastGrace } from '../../src/content/reclaim/grace.ts'
import { versionKey } from '../../src/features/catalog/packages/version-order.ts'
import { settleSessions } from '../../src/features/identity/accounts/jobs.ts'
import { settleLinkKeys } from '../../src/features/identity/links/jobs.ts'
import { watchQuotas } from '../../src/features/lifecycle/policies/quota.ts'
import { settleUploads, sweepUploads } from '../../src/features/transfers/uploads/jobs.ts'
import { forgetJobs } from '../../src/jobs/leases.ts'
import { forgetOldLines } from '../../src/journal/forgetting.ts'
import { newId } from '../../src/kernel/ids.ts'
import { hour } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { openInspection } from '../harness/inspection.ts'
import { createOwner, type Person } from '../harness/people.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { analyze, planFaults, queriesOf } from '../harness/query-plans.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'

/** Rows of each big table; what is asked for is a small part of them. */
const rowCount = 6_000
const smallRows = 1_000
const base = '/api/v1/repositories/releases'

after(closeConnections)

/**
 * Of accounts there are a thousand at most, of uploads in parts ten thousand, of repositories as many as people made,
 * of kinds of upkeep some twenty; an index of what is open has nothing else.
 */
const readWhole =
  /^(?:SCAN|Seq Scan) (?:accounts|service_accounts|assemblies|repositories|upkeep_runs|uploads USING INDEX uploads_open\w*) /

/** Lists must stay as fast in a large store as in a small one: each of their queries goes by an index, in its order. */
forEachEngine((engine) => {
  let service: TestService
  let owner: Person
  let after100 = ''
  let afterDeleted = ''
  let middle = ''
  before(async () => {
    service = await startService(engine, { roles: { gateway: 'api', worker: false } })
    owner = await createOwner(service)
    const file = await publish(service, owner.token, 'releases', newFile('one', 'one'))
    await inDatabase(service, async (q) => {
      const artifact = await q.selectFrom('artifacts').selectAll().where('id', '=', file).executeTakeFirstOrThrow()
      const claim = await q.selectFrom('claims').selectAll().where('id', '=', file).executeTakeFirstOrThrow()
      const repository = await q.selectFrom('repositories').selectAll().executeTakeFirstOrThrow()
      const now = new Date().toISOString()
      const common = { artifact_id: file, actor: 'account:someone' }
      for (let start = 0; start < rowCount; start += 500) {
        const numbers = Array.from({ length: 500 }, (_, index) => start + index)
        const ids = numbers.map((number) => newId(Date.now() + number))
        if (start === rowCount / 2) middle = ids[0] ?? ''
        const name = (number: number): string => `r${String(number).padStart(5, '0')}`
        const inOne = (number: number): string => (number % 3 === 0 ? 'releases' : name(number - (number % 500)))
        const others = numbers.map((number) => ({ ...repository, id: name(number) }))
        await q.insertInto('repositories').values(others).execute()
        await q
          .insertInto('claims')
          .values(numbers.map((number, index) => ({ ...claim, id: ids[index] ?? '', repository: inOne(number) })))
          .execute()
        await q
          .insertInto('uploads')
          .values(
            ids.map((id) => ({
              ...{
                id,
                repository: 'releases',
                kind: 'session' as const,
                owner: 'account:someone',
                name: 'file',
                size: 3,
              },
              ...{
                idempotency_key: id,
                sha256: artifact.sha256,
                labels: '[]',
                metadata: '{}',
                status: 'available' as const,
              },
              ...{ created_at: now, expires_at: now, ended_at: now, turn_holder: null, turn_until: null },
            })),
          )
          .execute()
        await q
          .insertInto('artifacts')
          .values(numbers.map((number, index) => ({ ...artifact, id: ids[index] ?? '', repository: inOne(number) })))
          .execute()
        const versions = numbers.map((number, index) => {
          const version = { major: number, minor: 0, patch: 0, prerelease: number % 5 === 0 ? ['rc', '1'] : [] }
          const [group, package_] = [`g${number % 2}`, `n${number % 4}`]
          return {
            artifact_id: ids[index] ?? '',
            repository: inOne(number),
            ...{ group_name: group, group_key: group, name: package_, name_key: package_ },
            ...{ version: `${number}.0.0`, version_key: versionKey(version) },
            prerelease: number % 5 === 0 ? (1 as const) : (0 as const),
            ...{ registered_at: now, published_at: artifact.published_at, manifest_bytes: 2, manifest: '{}' },
          }
        })
        await q.insertInto('packages').values(versions).execute()
        const staged = versions.filter(({ repository: of }) => of === 'releases')
        await q
          .insertInto('artifact_stages')
          .values(
            staged.map(({ artifact_id }) => ({
              ...{ artifact_id, stage: 'tested', repository: 'releases', promoted_at: now },
              ...{ actor: common.actor, comment: null },
            })),
          )
          .execute()
        await q
          .insertInto('package_stages')
          .values(
            staged.map(({ artifact_id, group_key, name_key, prerelease, version_key }) => ({
              ...{ artifact_id, stage: 'tested', repository: 'releases', promoted_at: now },
              ...{ group_key, name_key, prerelease, version_key },
            })),
          )
          .execute()
        const paths = numbers.map((number) => ({
          repository: inOne(number),
          path: `folder ${number % 40}/file ${number}`,
          revision: 1,
          artifact_id: file,
        }))
        await q.insertInto('assets').values(paths).execute()
        const created = { actor: 'account:someone', created_at: now, source_revision: null }
        await q
          .insertInto('asset_revisions')
          .values(paths.map((path) => ({ ...path, ...created })))
          .execute()
        await q
          .insertInto('journal')
          .values(
            numbers.flatMap((number) =>
              ['releases', 'r00000'].map((of) => ({
                ...common,
                repository: of,
                sequence: 10 + number,
                action: 'artifact.restore' as const,
                detail: null,
                occurred_at: now,
              })),
            ),
          )
          .execute()
        await q
          .insertInto('security_audit')
          .values(
            numbers.map((number) => ({
              sequence: 100 + number,
              occurred_at: now,
              actor: 'key:one',
              action: 'account.create',
              subject: 'account:one',
              client_address: '127.0.0.1',
              service_account_id: null,
            })),
          )
          .execute()
        await q
          .insertInto('jobs')
          .values(
            ids.map((id, index) => ({
              ...{ id, kind: 'completion' as const, subject: id, repository: 'releases', credential_id: null },
              owner: index % 3 === 0 ? `account:${owner.id}` : common.actor,
              ...{ status: 'completed' as const, generation: 0, attempts: 1, error_code: null, lasting: 0 },
              ...{ created_at: now, due_at: null, holder: null, ended_at: now },
            })),
          )
          .execute()
        await q
          .insertInto('deleted_artifacts')
          .values(
            numbers.map((number) => ({
              ...{ ...artifact, id: newId(Date.now() + number), repository: inOne(number) },
              ...{ deleted_at: new Date(number).toISOString(), released_at: number % 2 === 0 ? now : null },
            })),
          )
          .execute()
        await q
          .insertInto('removed_paths')
          .values(
            numbers.map((number) => ({
              ...{ repository: inOne(number), path: `removed ${number}`, revision: 2, oldest: 1, removed_at: now },
            })),
          )
          .execute()
        const many = numbers.map((number) => ({ path: 'much/changed', revision: number + 1, artifact_id: file }))
        await q
          .insertInto('asset_revisions')
          .values(many.map((each) => ({ repository: 'releases', ...each, ...created })))
          .execute()
      }
      await q
        .insertInto('assets')
        .values({ repository: 'releases', path: 'much/changed', revision: rowCount, artifact_id: file })
        .execute()
      await q
        .updateTable('repositories')
        .set({ journal_head: 10 + rowCount - 1 })
        .where('id', '=', 'releases')
        .execute()
    })
    await analyze(service.databaseUrl)
    const first = await service.ask({ path: `${base}/assets/page?limit=100`, credential: owner.token })
    after100 = first.json.next
    const deleted = `${base}/deleted-artifacts?order=desc`
    afterDeleted = (await service.ask({ path: deleted, credential: owner.token })).json.next
  })
  after(() => service.stop())

  const requests = (): Readonly<Record<string, string>> => ({
    'the first artifacts': `${base}/artifacts`,
    'artifacts in the middle': `${base}/artifacts?after=${middle}&limit=100`,
    'the newest artifacts': `${base}/artifacts?order=desc`,
    'artifacts before the middle': `${base}/artifacts?order=desc&after=desc.${middle}`,
    'the newest of the audit': `${base}/audit?order=desc`,
    'the audit before its middle': `${base}/audit?order=desc&after=desc.3000`,
    'the audit of one person': `${base}/audit?order=desc&actor=key:one&from=2020-01-01T00:00:00Z`,
    'the newest promotions': `${base}/promotions?order=desc`,
    'the newest of the security audit': '/api/v1/security-audit?order=desc&after=desc.3000',
    'the newest open uploads': '/api/v1/uploads?order=desc',
    'deleted files': `${base}/deleted-artifacts`,
    'deleted files after a page': `${base}/deleted-artifacts?order=desc&after=${afterDeleted}`,
    'removed paths': `${base}/assets/removed?prefix=removed%203`,
    'own uploads': '/api/v1/uploads/own',
    'own jobs': `/api/v1/jobs?order=desc&after=desc.${middle}`,
    'paths of a prefix': `${base}/assets?prefix=folder%2013/`,
    'the first paths': `${base}/assets/page?limit=100`,
    'the next paths': `${base}/assets/page?limit=100&after=${after100}`,
    'a page of a prefix': `${base}/assets/page?prefix=folder%202`,
    'folders of folders': `${base}/assets/page?delimiter=/`,
    'a folder of files': `${base}/assets/page?delimiter=/&prefix=folder%2013/`,
    'what was said of a file': `${base}/artifacts/${middle}/annotations/history?before=50`,
    'references to a file': `${base}/artifacts/${middle}/references`,
    'paths of a file': `${base}/artifacts/${middle}/paths`,
    'one path': `${base}/asset?path=much/changed`,
    'the newest of a history': `${base}/asset/history?path=much/changed`,
    'the middle of a history': `${base}/asset/history?path=much/changed&before=3000`,
    'one revision': `${base}/asset/revision?path=much/changed&revision=2500`,
    'content by path': `${base}/raw/much/changed`,
    'the middle of the audit': `${base}/audit?after=3000`,
    'changes in the middle': `${base}/changes?after=3000&limit=100`,
    'the last changes': `${base}/changes?after=6009`,
    'changes that are waited for': `${base}/changes?after=6009&wait=1`,
    // On SQLite a full-text table answers, in its own words (src/features/catalog/search/candidates.test.ts).
    ...(engine.name === 'postgres' && {
      'what is found from the middle on': `${base}/search?q=one&after=${middle}`,
      'what was found before the middle': `${base}/search?q=one&order=desc&after=desc.${middle}`,
      'what a path leads to': `${base}/search?path=folder&paths=true`,
      'what is found everywhere': '/api/v1/search?q=one&paths=true',
    }),
    'the security audit': '/api/v1/security-audit?after=3000',
    'every repository': '/api/v1/access/repositories?after=r03000',
    'who may what': '/api/v1/access/who?repository=releases',
    repositories: '/api/v1/repositories',
    'the card of a repository': base,
  })

  /** Every order of packages with every filter, from the beginning and after a page. */
  const packageLists = async (): Promise<Record<string, string>> => {
    const found: Record<string, string> = {}
    for (const sort of ['group', 'name', 'version'])
      for (const direction of ['asc', 'desc'])
        for (const filter of ['', '&group=g0', '&name=n0', '&group=g0&name=n0']) {
          const path = `${base}/packages?limit=20&sort=${sort}&direction=${direction}${filter}`
          const { json } = await service.ask({ path, credential: owner.token })
          found[`packages: ${path}`] = path
          found[`the next packages: ${path}`] = `${path}&after=${json.next}`
        }
    return found
  }

  const resolutions = (): Record<string, string> =>
    Object.fromEntries(
      [
        '',
        '&version=12.0.0',
        '&range=^12.0.0',
        '&range=*&prerelease=true',
        '&range=8.x||24.x||>5000',
        '&stage=tested',
        '&stage=tested&range=<=100.0.0',
        '&stage=tested&order=promoted',
        '&stage=tested&order=promoted&range=<=100.0.0',
      ].map((query) => [`resolving ${query}`, `${base}/packages/resolve?group=g0&name=n0${query}`]),
    )

  /** Bounded by limits of their own, not by what is stored: who calls, and where they are known. */
  const ofTheCaller = /\b(?:group_members|group_grants)\b/
  /** What begins a snapshot in SQLite. */
  const beginning = /\bsqlite_schema\b/

  it('every list and look-up of the catalog goes by an index, in the order of the index', async () => {
    const faults: string[] = []
    for (const [what, path] of Object.entries({ ...requests(), ...(await packageLists()), ...resolutions() })) {
      const queries = await queriesOf(() => expectAnswer(service, { path, credential: owner.token }, 200))
      assert.ok(queries.length > 1, `${what}: the queries of the request were not seen`)
      const ours = queries.filter(({ sql }) => !ofTheCaller.test(sql) && !beginning.test(sql))
      for (const fault of await planFaults(service.databaseUrl, ours, smallRows)) faults.push(`${what}: ${fault}`)
    }
    assert.deepEqual(faults, [])
  })

  it('a card counts up to a thousand of each format, and says that there are more', async () => {
    const { json } = await service.ask({ path: base, credential: owner.token })
    const [files, packages] = json.counts
    assert.deepEqual(files, { format: 'files', count: 1_000, isMore: true })
    assert.equal(packages.format, 'packages')
  })

  it('so does the overview, which looks at all repositories for what they hold', async () => {
    const path = '/health/overview'
    const queries = await queriesOf(() => expectAnswer(service, { path, credential: owner.token }, 200))
    for (const table of ['repositories', 'uploads', 'jobs', 'upkeep_runs'])
      assert.ok(
        queries.some(({ sql }) => sql.includes(table)),
        `${table} was not asked`,
      )
    const ours = queries.filter(({ sql }) => !beginning.test(sql))
    const faults = await planFaults(service.databaseUrl, ours, smallRows)
    assert.deepEqual(
      faults.filter((fault) => !readWhole.test(fault)),
      [],
    )
  })

  it('so does the upkeep of journals', async () => {
    const inspection = await openInspection(service)
    try {
      const year = 365 * 86_400_000
      const clock = { now: () => service.clock.now() + 20 * year }
      const deps = { ...inspection, clock, journalRetentionMs: year, securityAuditRetentionMs: year }
      let batches = 0
      const queries = await queriesOf(() => forgetOldLines(deps, () => ++batches > 10))
      assert.ok(queries.some(({ sql }) => sql.startsWith('delete')))
      assert.deepEqual(await planFaults(service.databaseUrl, queries, smallRows), [])
    } finally {
      await inspection.close()
    }
  })

  it('so does all other upkeep, also beside what is not due yet', async () => {
    const clock = { now: () => Date.now() }
    await inDatabase(service, async (q) => {
      // Most of what waits is in a repository that waits long.
      await q.updateTable('repositories').set({ grace_hours: 8_760 }).where('id', '=', 'releases').execute()
      await q
        .updateTable('claims')
        .set({ state: 'retired', retired_at: new Date(Date.now() - 100 * hour).toISOString() })
        .where('repository', '=', 'releases')
        .execute()
    })
    await analyze(service.databaseUrl)
    const inspection = await openInspection(service)
    try {
      const { database } = inspection
      const faults: string[] = []
      const looks: Record<string, () => Promise<unknown>> = {
        'claims past their grace': () => claimsPastGrace(database.reader, Date.now(), hour, 200),
        uploads: () => settleUploads(inspection),
        staging: () => sweepUploads(inspection),
        sessions: () => settleSessions({ database, clock, report: assert.fail }),
        jobs: () => forgetJobs({ database, clock }),
        quotas: () => watchQuotas({ database, clock, report: assert.fail }),
        'link keys': () => settleLinkKeys({ database, clock }),
      }
      for (const [what, look] of Object.entries(looks)) {
        const queries = await queriesOf(look)
        for (const fault of await planFaults(service.databaseUrl, queries, smallRows))
          if (!readWhole.test(fault)) faults.push(`${what}: ${fault}`)
      }
      assert.deepEqual(faults, [])
      const asked = await queriesOf(looks['claims past their grace'] ?? assert.fail)
      // The only look at the claims themselves goes by the repository, and there was nothing to ask for beyond it.
      // That the service looks now and then whether its database answers is nothing of this.
      const others = asked.filter(({ sql }) => sql !== 'select 1' && !sql.includes('"repositories"'))
      assert.deepEqual(others, [])
    } finally {
      await inspection.close()
    }
  })

  it('and a query that does not is found out', async () => {
    const bad = [
      "select * from journal where actor = 'nobody'",
      "select * from artifacts where repository = 'releases' order by name limit 5",
      "select * from assets where path like '%x'",
    ]
    for (const sql of bad)
      assert.equal(
        (await planFaults(service.databaseUrl, [{ sql, parameters: [], kept: false }], smallRows)).length > 0,
        true,
        sql,
      )
    const good = "select * from journal where repository = 'releases' and sequence > 5 order by sequence limit 5"
    assert.deepEqual(await planFaults(service.databaseUrl, [{ sql: good, parameters: [], kept: false }], smallRows), [])
  })
})
