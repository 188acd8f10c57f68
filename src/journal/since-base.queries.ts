import { type Expression, sql } from 'kysely'

/**
 * The sequence beyond which lines are shown to whoever read up to `after`: never before the journal of the repository
 * that has the id now begins. Lines of those that had it before are told to nobody.
 */
export const beyond = (repository: Expression<string>, after: Expression<number>) =>
  sql<number>`(select case when journal_base > ${after} then journal_base else ${after} end
    from repositories where id = ${repository})`

/** The same of storage events. */
export const beyondEvents = (repository: Expression<string>, after: Expression<number>) =>
  sql<number>`(select case when storage_event_base > ${after} then storage_event_base else ${after} end
    from repositories where id = ${repository})`
