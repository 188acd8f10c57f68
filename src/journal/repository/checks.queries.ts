import { sql } from 'kysely'
import type { Queries } from '../../database/database.ts'

/**
 * Journals whose lines are not those from their first to the head, each once, but for what a restore passed over: of
 * the repository that has the id now. All of one moment.
 */
export const brokenJournals = async (q: Queries, limit: number) =>
  q
    .selectFrom((eb) =>
      eb
        .selectFrom('repositories')
        .innerJoin('journal', (join) =>
          join
            .onRef('journal.repository', '=', 'repositories.id')
            .onRef('journal.sequence', '>', 'repositories.journal_base'),
        )
        .select((each) => [
          'repositories.id',
          'repositories.journal_head as head',
          each.fn.min('journal.sequence').as('first'),
          each.fn.max('journal.sequence').as('last'),
          each.fn.countAll<number>().as('lines'),
        ])
        .groupBy(['repositories.id', 'repositories.journal_head'])
        .as('kept'),
    )
    .selectAll()
    .where((eb) =>
      eb.or([
        eb('last', '>', eb.ref('head')),
        eb(
          'lines',
          '!=',
          sql<number>`${eb.ref('head')} - ${eb.ref('first')} + 1 - (select coalesce(sum("through" - "beyond"), 0)
            from journal_gaps where repository = kept.id and "beyond" >= kept.first)`,
        ),
      ]),
    )
    .limit(limit)
    .execute()

/** Lines that have sequences which a restore passed over. */
export const linesInGaps = (q: Queries, limit: number) =>
  q
    .selectFrom('journal_gaps')
    .innerJoin('journal', (join) =>
      join
        .onRef('journal.repository', '=', 'journal_gaps.repository')
        .onRef('journal.sequence', '>', 'journal_gaps.beyond')
        .onRef('journal.sequence', '<=', 'journal_gaps.through'),
    )
    .select(['journal_gaps.repository', 'journal.sequence'])
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
