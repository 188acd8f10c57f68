import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { forEachEngine } from '../../test/harness/engines.ts'
import type { Database } from '../database/database.ts'
import { migrate } from '../database/migrate.ts'
import { migrations } from '../database/migrations/index.ts'
import { openDatabase } from '../database/open.ts'
import { retentionBatch } from '../kernel/limits/journal.ts'
import { day } from '../kernel/units.ts'
import { forgetOldLines, type NeededLines } from './forgetting.ts'
import { checkJournals } from './repository/checks.ts'
import { type CursorMove, closeCursor, cursorFloor, moveCursors, openCursor } from './repository/cursors.ts'
import { appendJournal } from './repository/journal.ts'
import { appendSecurityAudit, changeAuthority, unasked } from './security-audit/security-audit.ts'

const start = Date.UTC(2026, 0, 1)
const at = (days: number): string => new Date(start + days * day).toISOString()
const webhook = { repository: 'releases', name: 'webhook:builds' }

forEachEngine((engine) => {
  const open = async (): Promise<Database> => {
    const report = (message: string, error: unknown): void => assert.fail(`${message}: ${error}`)
    const database = engine.use(await openDatabase({ url: await engine.readyDatabaseUrl(), report }))
    await migrate(database, migrations)
    return database
  }
  /** A line for each of these days. */
  const append = (database: Database, days: readonly number[], repository = 'releases'): Promise<void> =>
    database.transaction(async (tx) => {
      for (const each of days)
        await appendJournal(tx, {
          repository,
          action: 'artifact.publish',
          artifactId: 'one',
          detail: null,
          actor: 'account:someone',
          occurredAt: at(each),
        })
    })
  const createRepository = (database: Database, id: string, deletedAt: string | null = null): Promise<void> =>
    database.transaction(async (tx) => {
      const none = {
        incarnation: 1,
        journal_base: 0,
        storage_event_base: 0,
        journal_head: 0,
        published_bytes: 0,
        pending_bytes: 0,
        retired_bytes: 0,
        cleanup_revision: 0,
      }
      const unruled = {
        warning_percent: 80,
        critical_percent: 95,
        told_usage: 'unlimited',
        storage_event_head: 0,
      } as const
      await tx
        .insertInto('repositories')
        .values({
          id,
          created_at: at(0),
          deleted_at: deletedAt,
          quota_bytes: null,
          grace_hours: null,
          ...none,
          ...unruled,
        })
        .execute()
    })
  const forget = (
    database: Database,
    today: number,
    late?: () => boolean,
    linesNeeded: (told: NeededLines) => void = () => {},
  ): Promise<void> =>
    forgetOldLines(
      {
        report: assert.fail,
        database,
        clock: { now: () => start + today * day },
        journalRetentionMs: 10 * day,
        securityAuditRetentionMs: 20 * day,
        linesNeeded,
      },
      late,
    )
  const kept = async (database: Database, repository = 'releases'): Promise<number[]> => {
    const query = database.reader.selectFrom('journal').select('sequence').where('repository', '=', repository)
    return (await query.orderBy('sequence').execute()).map(({ sequence }) => sequence)
  }
  const inOrder = async (database: Database): Promise<void> => {
    for await (const { text } of checkJournals(database.reader)) assert.fail(text)
  }

  describe('retention', () => {
    it('forgets what is too old, from the beginning and no further, and goes on counting', async () => {
      const database = await open()
      await append(database, [0, 1, 2, 3, 4, 5])
      await forget(database, 10)
      assert.deepEqual(await kept(database), [1, 2, 3, 4, 5, 6])
      await forget(database, 12.5)
      assert.deepEqual(await kept(database), [4, 5, 6])
      await inOrder(database)
      await forget(database, 100)
      assert.deepEqual(await kept(database), [])
      await append(database, [100])
      assert.deepEqual(await kept(database), [7])
      await inOrder(database)
    })

    it('leaves no gap where the clock went back', async () => {
      const database = await open()
      await append(database, [0, 8, 1, 2, 9])
      await forget(database, 15)
      assert.deepEqual(await kept(database), [2, 3, 4, 5])
      await inOrder(database)
    })

    it('works in batches, may be ended between two, and goes on from there', async () => {
      const database = await open()
      const count = 2 * retentionBatch + 5
      await append(
        database,
        Array.from({ length: count }, () => 0),
      )
      let batches = 0
      await forget(database, 50, () => ++batches > 3)
      const left = await kept(database)
      assert.ok(left.length < count && left.length >= 5, `${left.length} are left`)
      await inOrder(database)
      await forget(database, 50)
      assert.deepEqual(await kept(database), [])
    })

    it('looks after every repository, deleted ones too', async () => {
      const database = await open()
      await createRepository(database, 'gone', at(1))
      await createRepository(database, 'young')
      await append(database, [0, 1], 'gone')
      await append(database, [30], 'young')
      await append(database, [0, 30])
      await forget(database, 31)
      assert.deepEqual(await kept(database, 'gone'), [])
      assert.deepEqual(await kept(database, 'young'), [1])
      assert.deepEqual(await kept(database), [2])
    })

    it('keeps what a consumer has not seen a month longer, until it has or gives up, and says so', async () => {
      const database = await open()
      await append(database, [0, 0])
      assert.equal(await database.transaction((tx) => openCursor(tx, webhook, at(0))), 2)
      await append(database, [0, 0, 0])
      const slow = { ...webhook, name: 'mirror:slow' }
      await database.transaction((tx) => openCursor(tx, slow, at(0)))
      const told: NeededLines[] = []
      const linesNeeded = (each: NeededLines): void => void told.push(each)
      await forget(database, 39, undefined, linesNeeded)
      assert.deepEqual(await kept(database), [3, 4, 5])
      assert.deepEqual(told, [{ repository: 'releases', consumerAt: 2, goneTo: null }])
      assert.equal(await cursorFloor(database.reader, 'releases'), 2)
      await database.transaction((tx) => moveCursors(tx, 'releases', [{ name: webhook.name, sequence: 3 }], at(1)))
      await forget(database, 39)
      assert.deepEqual(await kept(database), [4, 5])
      await append(database, [30])
      await forget(database, 41, undefined, linesNeeded)
      assert.deepEqual(await kept(database), [6])
      assert.deepEqual(told.slice(1), [{ repository: 'releases', consumerAt: 3, goneTo: 5 }])
      await database.transaction((tx) => closeCursor(tx, webhook))
      await forget(database, 69)
      assert.deepEqual(await kept(database), [6], 'the other one has not come to it, and it is young enough for that')
      assert.equal(await cursorFloor(database.reader, 'releases'), 5)
    })

    it('shortens the security audit in the same way, by its own measure', async () => {
      const database = await open()
      const actor = unasked({ actor: 'key:one', clientAddress: '127.0.0.1' })
      await changeAuthority(database, actor, async (tx) => {
        for (const occurredAt of [at(0), at(5), at(10)])
          await appendSecurityAudit(tx, actor, { action: 'account.create', subject: 'account:one', occurredAt })
      })
      await forget(database, 26)
      const rows = await database.reader.selectFrom('security_audit').select('sequence').execute()
      assert.deepEqual(
        rows.map(({ sequence }) => sequence),
        [3],
      )
    })

    it('and many who append at the same time do not get into each other’s way', async () => {
      const database = await open()
      await append(
        database,
        Array.from({ length: 100 }, () => 0),
      )
      const appending = Array.from({ length: 20 }, () => append(database, [100]))
      await Promise.all([...appending, forget(database, 100), forget(database, 100)])
      assert.deepEqual(
        await kept(database),
        Array.from({ length: 20 }, (_, index) => 101 + index),
      )
      await inOrder(database)
    })
  })

  describe('a cursor', () => {
    it('begins at the head, is found again where it was, and only moves forward', async () => {
      const database = await open()
      await append(database, [0, 0, 0])
      const openIt = () => database.transaction((tx) => openCursor(tx, webhook, at(0)))
      const { repository, name } = webhook
      const moveAll = (...moves: readonly CursorMove[]) =>
        database.transaction((tx) => moveCursors(tx, repository, moves, at(0)))
      const move = (sequence: number) => moveAll({ name, sequence })
      assert.equal(await move(3), 0)
      assert.equal(await openIt(), 3)
      await append(database, [0, 0])
      assert.equal(await openIt(), 3)
      assert.equal(await move(5), 1)
      assert.equal(await move(4), 0)
      assert.equal(await move(5), 0)
      assert.equal(await moveAll(), 0)
      assert.equal(await openIt(), 5)
      const other = { repository, name: 'webhook:other' }
      await append(database, [0, 0])
      const openOther = () => database.transaction((tx) => openCursor(tx, other, at(0)))
      assert.equal(await openOther(), 7)
      await append(database, [0, 0])
      const all = [
        { name, sequence: 6 },
        { name: other.name, sequence: 9 },
        { name: 'webhook:nobody', sequence: 9 },
      ]
      assert.equal(await moveAll(...all), 2)
      assert.equal(await openIt(), 6)
      assert.equal(await openOther(), 9)
      assert.equal(await moveAll({ name, sequence: 8 }, { name: other.name, sequence: 8 }), 1)
      assert.equal(await openIt(), 8)
      assert.equal(await openOther(), 9)
      const nowhere = { ...webhook, repository: 'nowhere' }
      assert.equal(await database.transaction((tx) => openCursor(tx, nowhere, at(0))), undefined)
    })

    it('opened by many at once is one', async () => {
      const database = await open()
      const opened = await Promise.all(
        Array.from({ length: 8 }, () => database.transaction((tx) => openCursor(tx, webhook, at(0)))),
      )
      assert.deepEqual(new Set(opened), new Set([0]))
    })
  })

  describe('the check of journals', () => {
    const findings = async (database: Database): Promise<string[]> => {
      const found: string[] = []
      for await (const { kind, text } of checkJournals(database.reader)) found.push(`${kind}: ${text}`)
      return found
    }

    it('finds a gap, lines beyond the counter, and a consumer beyond the last line', async () => {
      const database = await open()
      await append(database, [0, 0, 0, 0])
      assert.deepEqual(await findings(database), [])
      await database.transaction(async (tx) => {
        await tx.deleteFrom('journal').where('sequence', '=', 2).execute()
      })
      assert.deepEqual(await findings(database), [
        'damage: repository releases: the journal has 3 lines from 1 to 4, and its counter stands at 4',
      ])
      await database.transaction(async (tx) => {
        await tx.deleteFrom('journal').where('sequence', '=', 1).execute()
        await openCursor(tx, webhook, at(0))
      })
      assert.deepEqual(await findings(database), [])
      await database.transaction(async (tx) => {
        await tx.updateTable('repositories').set({ journal_head: 3 }).execute()
      })
      assert.deepEqual(await findings(database), [
        'damage: repository releases: the journal has 2 lines from 3 to 4, and its counter stands at 3',
        'damage: repository releases: webhook:builds has come to 4 of a journal that ends with 3',
      ])
    })
  })
})
