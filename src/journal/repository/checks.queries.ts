import type { Queries } from '../../database/database.ts'

/**
 * Journals whose lines are not those from their first to the head, each once: of the repository that has the id now.
 * All of one moment.
 */
export const brokenJournals = async (q: Queries, limit: number) =>
  q
    .selectFrom('repositories')
    .innerJoin('journal', (join) =>
      join
        .onRef('journal.repository', '=', 'repositories.id')
        .onRef('journal.sequence', '>', 'repositories.journal_base'),
    )
    .select((eb) => [
      'repositories.id',
      'repositories.journal_head as head',
      eb.fn.min('journal.sequence').as('first'),
      eb.fn.max('journal.sequence').as('last'),
      eb.fn.countAll<number>().as('lines'),
    ])
    .groupBy(['repositories.id', 'repositories.journal_head'])
    .having((eb) =>
      eb.or([
        eb(eb.fn.max('journal.sequence'), '!=', eb.ref('repositories.journal_head')),
        eb(
          eb.fn.countAll(),
          '!=',
          eb(eb(eb.fn.max('journal.sequence'), '-', eb.fn.min('journal.sequence')), '+', eb.lit(1)),
        ),
      ]),
    )
    .limit(limit)
    .execute()

/** Cursors beyond the head of their journal. */
export const cursorsBeyondHead = (q: Queries, limit: number) =>
  q
    .selectFrom('journal_cursors')
    .innerJoin('repositories', 'repositories.id', 'journal_cursors.repository')
    .select(['journal_cursors.repository', 'journal_cursors.name', 'journal_cursors.sequence', 'journal_head as head'])
    .whereRef('journal_cursors.sequence', '>', 'repositories.journal_head')
    .limit(limit)
    .execute()

/** Storage events that go beyond the counter of their repository, or end before it while they are kept. */
export const eventsBesideHead = (q: Queries, limit: number) =>
  q
    .selectFrom('repositories')
    .innerJoin('storage_events', (join) =>
      join
        .onRef('storage_events.repository', '=', 'repositories.id')
        .onRef('storage_events.sequence', '>', 'repositories.storage_event_base'),
    )
    .select((eb) => [
      'repositories.id',
      'repositories.storage_event_head as head',
      eb.fn.max('storage_events.sequence').as('last'),
    ])
    .groupBy(['repositories.id', 'repositories.storage_event_head'])
    .having((eb) => eb(eb.fn.max('storage_events.sequence'), '!=', eb.ref('repositories.storage_event_head')))
    .limit(limit)
    .execute()

/** How far the security audit goes, and how far its counter says. All of one moment. */
export const securityHead = async (q: Queries) => {
  const row = await q
    .selectFrom('security_audit')
    .select((eb) => [
      eb.fn.coalesce(eb.fn.min('sequence'), eb.lit(0)).as('first'),
      eb.fn.coalesce(eb.fn.max('sequence'), eb.lit(0)).as('last'),
      eb.fn.countAll().as('lines'),
      eb.selectFrom('counters').select('value').where('name', '=', 'security_audit').as('head'),
    ])
    .executeTakeFirstOrThrow()
  return { first: Number(row.first), last: Number(row.last), lines: Number(row.lines), head: Number(row.head ?? 0) }
}
