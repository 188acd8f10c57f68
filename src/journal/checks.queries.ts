import type { Queries } from '../database/database.ts'

/** Journals whose lines are not those from their first to the head, each once: of the repository that has the id now. All of one moment. */
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
