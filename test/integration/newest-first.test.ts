import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { appendJournal } from '../../src/journal/repository/journal.ts'
import { appendStorageEvent } from '../../src/journal/storage-events/storage-events.ts'
import { auditLinesLookedAt } from '../../src/kernel/limits/catalog.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { publishedLine } from '../harness/journal-line.ts'
import { newFile, openUpload } from '../harness/publishing.ts'
import { inDatabase } from '../harness/rows.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

/** More than a page of what has pages of a hundred. */
const many = 105

after(closeConnections)

interface Listing {
  readonly path: string
  readonly credential: string
  /** Oldest first has no next; whoever follows goes on after the last sequence. */
  readonly follows?: true
}

forEachEngine((engine) => {
  let catalog: Catalog
  let listings: Readonly<Record<string, Listing>>
  before(async () => {
    catalog = await Catalog.open(engine)
    const { service, base, keeper, writer } = catalog
    for (let n = 0; n < many; n++)
      await catalog.expect({ method: 'PUT', path: `/raw/files/${n}.file`, body: `file ${n}` }, 201)
    const staged = await catalog.published()
    for (let n = 0; n < 12; n++)
      await catalog.expect({ method: 'PUT', path: `/artifacts/${staged}/stages/stage-${n}`, json: {} }, 200)
    for (let n = 0; n < 12; n++)
      await openUpload(service, writer.token, catalog.repository, newFile('x', `${n}`).descriptor)
    const account = await createServiceAccount(service, [])
    const { database } = catalog.inspection
    const occurredAt = new Date(service.clock.now()).toISOString()
    for (let n = 0; n < many; n++)
      await database.transaction((tx) =>
        appendStorageEvent(tx, {
          ...{ repository: catalog.repository, level: 'info', code: 'run.finished', details: { n }, occurredAt },
        }),
      )
    await inDatabase(service, (q) =>
      q
        .insertInto('security_audit')
        .values(
          Array.from({ length: many }, (_, n) => ({
            ...{ sequence: 10_000 + n, occurred_at: occurredAt, actor: 'key:one', action: 'service-account.update' },
            ...{ subject: 'account:one', client_address: '127.0.0.1', service_account_id: account.id },
          })),
        )
        .execute(),
    )
    const { recoveryKey } = service
    listings = {
      artifacts: { path: `${base}/artifacts?limit=20`, credential: writer.token },
      search: { path: `${base}/search?q=file`, credential: writer.token },
      'search by path': { path: `${base}/search?path=files`, credential: writer.token },
      audit: { path: `${base}/audit?`, credential: writer.token, follows: true },
      promotions: { path: `${base}/promotions?limit=5`, credential: writer.token },
      'promotions of a file': { path: `${base}/artifacts/${staged}/promotions?limit=5`, credential: writer.token },
      'storage events': { path: `${base}/storage/events?`, credential: keeper, follows: true },
      'storage events of a level': { path: `${base}/storage/events?level=info`, credential: keeper, follows: true },
      'open uploads': { path: '/api/v1/uploads?limit=5', credential: recoveryKey },
      'the security audit': { path: '/api/v1/security-audit?', credential: recoveryKey },
      'the audit of a service account': {
        path: `/api/v1/service-accounts/${account.id}/audit?`,
        credential: recoveryKey,
      },
    }
  })
  after(() => catalog.close())

  const ask = ({ path, credential }: Listing, query: string, status = 200): Promise<Told> =>
    expectAnswer(
      catalog.service,
      { path: `${path}&${query}`, credential },
      status,
      status === 400 ? 'invalid_request' : undefined,
    )

  /** All of a list, page by page, each of which the other order refuses to go on from. */
  const all = async (listing: Listing, order: 'asc' | 'desc'): Promise<string[]> => {
    const found: string[] = []
    for (let cursor = '', pages = 1; ; pages++) {
      const { items, next } = (await ask(listing, `order=${order}${cursor}`)).json
      const marks = items.map(({ sequence, id }: { sequence?: string; id: string }) => sequence ?? id)
      found.push(...marks)
      const follows = listing.follows === true && order === 'asc'
      const goOn = follows ? (marks.at(-1) ?? null) : next
      if (goOn === null) {
        assert.ok(pages > 1, 'one page tells nothing of cursors')
        return found
      }
      cursor = `&after=${goOn}`
      await ask(listing, `order=${order === 'asc' ? 'desc' : 'asc'}${cursor}`, 400)
      if (order === 'desc') await ask(listing, cursor.slice(1), 400)
    }
  }

  it('every list in the order of time can begin with the newest, and is then the same backwards', async () => {
    for (const [what, listing] of Object.entries(listings)) {
      const oldestFirst = await all(listing, 'asc')
      assert.deepEqual(await all(listing, 'desc'), oldestFirst.toReversed(), what)
    }
  })

  it('an order that there is not, and a cursor that is none, are refused', async () => {
    for (const listing of Object.values(listings))
      for (const query of ['order=newest', 'order=DESC', 'order=', 'order=desc&after=desc.', 'order=desc&after=desc.x'])
        await ask(listing, query, 400)
  })

  it('an audit that is filtered tells what is wanted, page by page, and no more', async () => {
    const { json } = await catalog.expect({ path: '/audit?order=desc' }, 200)
    const pages = async (path: string, credential: string): Promise<Told['json'][]> => {
      const found: Told['json'][] = []
      for (let next: string | null = ''; next !== null; ) {
        const after = next === '' ? '' : `&after=${next}`
        const page: Told = await expectAnswer(catalog.service, { path: `${path}${after}`, credential }, 200)
        found.push(...page.json.items)
        next = page.json.next
      }
      return found
    }
    const of = (filter: string) => pages(`${catalog.base}/audit?order=desc&${filter}`, catalog.writer.token)
    const [one] = json.items.filter(({ action }: Told['json']) => action === 'stage.added')
    assert.equal(one.artifactName !== null && one.detail.startsWith('stage-'), true)
    assert.deepEqual(
      (await of('action=stage.added')).map(({ detail }) => detail),
      Array.from({ length: 12 }, (_, n) => `stage-${11 - n}`),
    )
    assert.equal((await of('action=asset.replace')).length, many)
    assert.deepEqual(
      (await of(`subject=${encodeURIComponent('files/7.file')}`)).map(({ action, detail }) => [action, detail]),
      [['asset.replace', 'files/7.file']],
    )
    assert.deepEqual(
      (await of(`subject=${one.artifactId}&action=stage.added`)).length,
      (await of(`actor=${catalog.writer.name}&action=stage.added`)).length,
    )
    assert.deepEqual(await of('actor=nobody'), [])
    const bindings = [binding(catalog.repository, 'audit.read')]
    const { id } = await createServiceAccount(catalog.service, bindings)
    const auditor = (await activeKey(catalog.service, id, { bindings })).secret
    const toAuditor = (filter: string) => pages(`${catalog.base}/audit?order=desc&${filter}`, auditor)
    assert.deepEqual(await toAuditor(`subject=${encodeURIComponent('files/7.file')}`), [])
    assert.deepEqual(await toAuditor('subject=stage-3'), [])
    const told = await toAuditor(`subject=${one.artifactId}&actor=${catalog.writer.name}`)
    assert.equal(told.length, (await of(`subject=${one.artifactId}`)).length)
    for (const { actorName, artifactName, detail } of told)
      assert.deepEqual([actorName, artifactName, detail], [catalog.writer.name, null, null])
    assert.deepEqual(await of('to=2001-01-01T00:00:00Z'), [])
    const whole = await of('from=2001-01-01T00:00:00%2B02:00')
    assert.deepEqual(
      whole.map(({ sequence }) => Number(sequence)),
      whole.map((_, n) => Number(whole[0].sequence) - n),
    )
    assert.equal(whole.at(-1).sequence, '1')
    for (const wrong of ['from=yesterday', 'from=2026-02-30T00:00:00Z', 'action=nothing', 'subject='])
      await catalog.expect({ path: `/audit?${wrong}` }, 400)
    const security = (filter: string) => pages(`/api/v1/security-audit?${filter}`, catalog.service.recoveryKey)
    assert.equal((await security('subject=account:one')).length, many)
    assert.equal((await security('actor=one&action=service-account.update&order=desc')).length, many)
    for (const none of ['subject=account:on', 'subject=account%3A%25', 'actor=two', 'to=2001-01-01T00:00:00Z'])
      assert.deepEqual(await security(none), [], none)
  })

  it('a filter looks at so many lines for a page, and goes on behind them', async () => {
    const { database } = catalog.inspection
    const [last] = await inDatabase(catalog.service, (q) =>
      q.selectFrom('repositories').select('journal_head').where('id', '=', catalog.repository).execute(),
    )
    const line = { ...publishedLine(catalog.repository), actor: 'key:rare' }
    await database.transaction((tx) => appendJournal(tx, line))
    await database.transaction(async (tx) => {
      for (let n = 0; n < auditLinesLookedAt; n++) await appendJournal(tx, publishedLine(catalog.repository))
    })
    const first = (await catalog.expect({ path: '/audit?order=desc&actor=rare' }, 200)).json
    assert.deepEqual([first.items, typeof first.next], [[], 'string'])
    const second = (await catalog.expect({ path: `/audit?order=desc&actor=rare&after=${first.next}` }, 200)).json
    assert.deepEqual(
      second.items.map(({ sequence }: Told['json']) => Number(sequence)),
      [Number(last?.journal_head) + 1],
    )
  })

  it('what is oldest first is told as it always was', async () => {
    const { json } = await catalog.expect({ path: '/audit' }, 200)
    assert.deepEqual(Object.keys(json), ['items'])
    assert.equal(json.items[0].sequence, '1')
    const newest = await catalog.expect({ path: '/audit?order=desc' }, 200)
    assert.match(newest.json.next, /^desc\.[0-9]+$/)
  })
})
