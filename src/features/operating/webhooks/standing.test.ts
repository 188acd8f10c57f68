import assert from 'node:assert/strict'
import { it } from 'node:test'
import { forEachEngine } from '../../../../test/harness/engines.ts'
import { publishedLine } from '../../../../test/harness/journal-line.ts'
import { stillClock } from '../../../../test/harness/service.ts'
import { until } from '../../../../test/harness/until.ts'
import type { Database } from '../../../database/database.ts'
import { openDatabase } from '../../../database/open.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import { watchJournal } from '../../../journal/repository/watch.ts'
import { hour, minute, second } from '../../../kernel/units.ts'
import { Followers } from './followers.ts'
import type { Told } from './following.ts'
import { Noting } from './noting.ts'
import { Reading } from './reading.ts'
import { webhooksStand } from './shown.ts'
import {
  giveUpSubscription,
  giveUpUnnamed,
  type Note,
  type Noted,
  noteSubscriptions,
  type Standing,
  type StandingDeps,
  takeSubscription,
} from './standing.ts'
import type { Subscription } from './subscription.ts'

const start = Date.UTC(2026, 0, 1)
const builds: Subscription = { id: 'builds', repository: 'releases', url: 'https://example.org/', actions: null }

const isTaken = (taken: Awaited<ReturnType<typeof takeSubscription>>): taken is Standing =>
  taken !== 'missing' && 'position' in taken

forEachEngine((engine) => {
  /** A clock that is set by hand, and the database. */
  const open = async (): Promise<StandingDeps & { readonly set: (ms: number) => void }> => {
    const report = (message: string, error: unknown): void => assert.fail(`${message}: ${error}`)
    const database = engine.use(await openDatabase({ url: await engine.readyDatabaseUrl(), report }))
    const clock = stillClock()
    const set = (ms: number): void => clock.advance(ms - clock.now())
    set(start)
    return { database, clock, set }
  }
  const append = (database: Database): Promise<void> =>
    database.transaction((tx) => appendJournal(tx, publishedLine('releases', start)))

  const note = async (deps: StandingDeps, holder: string, some: Partial<Note>): Promise<Noted | null | undefined> => {
    const whole = { position: 0, lastSuccessAt: null, to: {}, ...some }
    return (await noteSubscriptions(deps, holder, [{ subscription: builds, note: whole }]))[0]
  }

  it('one of many who come at once has it, and the others know for how long', async () => {
    const deps = await open()
    const workers = Array.from({ length: 8 }, (_, n) => `worker-${n}`)
    const taken = await Promise.all(workers.map((worker) => takeSubscription(deps, builds, worker)))
    assert.equal(taken.filter(isTaken).length, 1)
    assert.equal(taken.filter((each) => each !== 'missing' && 'heldForMs' in each).length, 7)
    const again = await takeSubscription(deps, builds, 'somebody')
    assert.deepEqual(again, { heldForMs: 30 * second })
    const winner = workers[taken.findIndex(isTaken)] ?? ''
    assert.ok((await note(deps, winner, { position: 0 })) !== null)
  })

  it('a lease ends, also one that was written before the clock was set back', async () => {
    const deps = await open()
    await takeSubscription(deps, builds, 'dead')
    deps.set(start + 29 * second)
    assert.deepEqual(await takeSubscription(deps, builds, 'next'), { heldForMs: second })
    deps.set(start + 30 * second)
    assert.ok(isTaken(await takeSubscription(deps, builds, 'next')))
    assert.equal(await note(deps, 'dead', { position: 1 }), null)
    deps.set(start + 20 * second)
    assert.deepEqual(await takeSubscription(deps, builds, 'third'), { heldForMs: 40 * second }, 'clocks that differ')
    deps.set(start - hour)
    assert.ok(isTaken(await takeSubscription(deps, builds, 'third')))
  })

  it('what nobody names is given up, and not if somebody has come to name it', async () => {
    const deps = await open()
    await takeSubscription(deps, builds, 'worker')
    const seen = new Map<string, { readonly namedAt: string; readonly sinceMs: number }>()
    const look = (): Promise<string[]> => giveUpUnnamed(deps, new Set(), seen)
    assert.deepEqual(await look(), [])
    deps.set(start + 9 * minute)
    assert.deepEqual(await look(), [])
    const [namedAt = ''] = [...seen.values()].map((each) => each.namedAt)
    await takeSubscription(deps, builds, 'other')
    assert.equal(await giveUpSubscription(deps, 'builds', namedAt), false)
    deps.set(start + 11 * minute)
    assert.deepEqual(await look(), [])
    deps.set(start + 22 * minute)
    assert.deepEqual(await look(), ['builds'])
    assert.deepEqual(await webhooksStand(deps), [])
  })

  it('one that waits for its repository begins with the first event there, and others with the next', async () => {
    const deps = await open()
    const { database } = deps
    await append(database)
    const setDeleted = (at: string | null): Promise<unknown> =>
      database.transaction((tx) => tx.updateTable('repositories').set({ deleted_at: at }).execute())
    await setDeleted(new Date(start).toISOString())
    const state = async () => (await webhooksStand(deps)).map((each) => [each.id, each.state, each.position])
    assert.equal(await takeSubscription(deps, builds, 'worker'), 'missing')
    assert.deepEqual(await state(), [['builds', 'no_repository', '1']])
    await database.transaction((tx) =>
      tx.updateTable('repositories').set({ journal_head: 2, journal_base: 2 }).execute(),
    )
    await setDeleted(null)
    await append(database)
    const early = await takeSubscription(deps, builds, 'worker')
    assert.ok(isTaken(early))
    assert.equal(early.position, 2)
    const late = await takeSubscription(deps, { ...builds, id: 'late' }, 'worker')
    assert.ok(isTaken(late))
    assert.equal(late.position, 3)
    deps.set(start + hour)
    assert.deepEqual(await state(), [
      ['builds', 'no_worker', '2'],
      ['late', 'no_worker', '3'],
    ])
    const elsewhere = { ...builds, repository: 'nowhere' }
    assert.equal(await takeSubscription(deps, elsewhere, 'worker'), 'missing')
    assert.deepEqual((await state())[0], ['builds', 'no_repository', '0'])
  })

  it('what was forgotten before it was sent is counted before anybody goes on from there', async () => {
    const deps = await open()
    const { database } = deps
    await takeSubscription(deps, builds, 'worker')
    for (let n = 0; n < 5; n++) await append(database)
    const lost = async () => (await webhooksStand(deps)).map(({ lostEvents }) => lostEvents)
    await note(deps, 'worker', { position: 1, lost: 10 })
    assert.deepEqual(await lost(), [10])
    await database.transaction((tx) => tx.deleteFrom('journal').where('sequence', '<=', 3).execute())
    assert.deepEqual(await lost(), [12])
    await database.transaction((tx) => tx.deleteFrom('journal').execute())
    assert.deepEqual(await lost(), [14])
    await note(deps, 'worker', { position: 5, lost: 4 })
    assert.deepEqual(await lost(), [14])
  })

  it('what several have to note at a time is noted at once, but for what another worker has', async () => {
    const deps = await open()
    const all = ['a', 'b', 'c', 'd'].map((id) => ({ ...builds, id }))
    for (const each of all) await takeSubscription(deps, each, each.id === 'c' ? 'other' : 'worker')
    for (let n = 0; n < 3; n++) await append(deps.database)
    deps.set(start + minute / 4)
    let transactions = 0
    const transaction: Database['transaction'] = (work, options) => {
      transactions += 1
      return deps.database.transaction(work, options)
    }
    // Of a class, whose getters are not its own.
    const counted = Object.setPrototypeOf({ transaction }, deps.database)
    const noting = new Noting({ clock: deps.clock, database: counted }, 'worker')
    const lastSuccessAt = new Date(start).toISOString()
    const failing = { failing_since: lastSuccessAt, failures: 1, error_code: 'tls', next_try_at: lastSuccessAt }
    const noted = await Promise.all(
      all.map((each, at) =>
        noting.note(each, {
          position: at,
          lastSuccessAt: at === 0 ? null : lastSuccessAt,
          to: at === 1 ? failing : {},
          lost: at === 3 ? 2 : 0,
        }),
      ),
    )
    assert.equal(transactions, 1)
    assert.deepEqual(noted, [{ nextTryAt: null }, { nextTryAt: lastSuccessAt }, null, { nextTryAt: null }])
    const stand = async () =>
      (await webhooksStand(deps)).map((each) => [
        each.id,
        each.position,
        each.lastSuccessAt,
        each.errorCode,
        each.lostEvents,
        each.state,
      ])
    assert.deepEqual(await stand(), [
      ['a', '0', null, null, 0, 'delivering'],
      ['b', '1', lastSuccessAt, 'tls', 0, 'failing'],
      ['c', '0', null, null, 0, 'delivering'],
      ['d', '3', lastSuccessAt, null, 2, 'delivering'],
    ])
    await Promise.all(all.map((each) => noting.note(each, { position: 1, lastSuccessAt: null, to: {} })))
    assert.equal(transactions, 2)
    assert.deepEqual((await stand()).at(-1), ['d', '3', lastSuccessAt, null, 2, 'delivering'])
    deps.set(start + minute / 2)
    const states = async () => (await webhooksStand(deps)).map(({ state }) => state)
    assert.deepEqual(await states(), ['delivering', 'failing', 'no_worker', 'delivering'], 'leases are kept')
    await deps.database[Symbol.asyncDispose]()
    const late = all.map((each) => noting.note(each, { position: 2, lastSuccessAt: null, to: {} }))
    for (const each of late) await assert.rejects(each)
  })

  it('a failure to give up what nobody names is told', async () => {
    const deps = await open()
    const told: Told[] = []
    const followers = new Followers({
      ...deps,
      carrier: { carry: () => assert.fail('nothing is sent'), leave: () => {} },
      reading: new Reading(deps.database),
      noting: new Noting(deps, 'worker'),
      watch: watchJournal({ database: deps.database, everyMs: hour, waitingMax: 1, waitingPerCallerMax: 1 }),
      holder: 'worker',
      tell: (each) => told.push(each),
      known: () => 'the database is closed',
    })
    await followers.prune()
    assert.deepEqual(told, [])
    await deps.database[Symbol.asyncDispose]()
    await followers.prune()
    assert.deepEqual(told, [{ event: 'webhook.prune_failed', webhook: '', facts: { why: 'the database is closed' } }])
  })

  it('a bug that comes back is told once, and how often it came when it is over', async () => {
    const deps = await open()
    await append(deps.database)
    await takeSubscription(deps, builds, 'worker')
    await append(deps.database)
    const told: Told[] = []
    let bugs = 0
    let carried = 0
    const carry = async () => {
      if (bugs < 4) {
        bugs += 1
        throw new Error('a bug')
      }
      carried += 1
      return { taken: 1, fault: null }
    }
    const watch = watchJournal({ database: deps.database, everyMs: 20, waitingMax: 1, waitingPerCallerMax: 1 })
    const followers = new Followers({
      ...deps,
      carrier: { carry, leave: () => {} },
      reading: new Reading(deps.database),
      noting: new Noting(deps, 'worker'),
      watch,
      holder: 'worker',
      tell: (each) => told.push(each),
      known: () => null,
      ownFaults: { pauseMs: 10, overAfterMs: 500 },
    })
    await followers.follow([
      { subscription: builds, secretFiles: () => ({ secretFile: '/secret', nextSecretFile: null }) },
    ])
    await until('it was delivered, and that was told', () => carried === 1 && told.length >= 4)
    await followers.stop()
    watch.end()
    const facts = { repository: 'releases', host: 'example.org' }
    assert.deepEqual(
      told.map(({ event, facts: { why, faults, errorCode } }) => [event, why ?? faults ?? null, errorCode ?? null]),
      [
        ['webhook.started', null, null],
        ['webhook.stopped', null, null],
        ['webhook.step_failed', 'Error: a bug', 'internal'],
        ['webhook.started', 4, null],
        ['webhook.stopped', null, null],
      ],
    )
    assert.deepEqual(told[3]?.facts, { ...facts, position: 2, faults: 4 })
  })
})
