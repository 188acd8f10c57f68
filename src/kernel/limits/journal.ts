import { day, hour } from '../units.ts'

/** Bounds of the journals: how long lines are kept, and how many. */

/** Journals and the security audit. Two and five years, for those who never think of it. */
export const journalRetentionDaysDefault = 730
export const securityAuditRetentionDaysDefault = 1_825
/** A day at least, so that a follower that is down over lunch loses nothing. */
export const retentionDaysMin = 1
export const retentionDaysMax = 36_500
/**
 * What a consumer inside the service, such as a webhook, has not come to is kept so much longer, and not for ever: one
 * whose receiver is gone for good would fill the disk.
 */
export const journalLinesHeldMs = 30 * day
/** Lines forgotten in one transaction: some ten milliseconds under the locks of rows that nobody writes any more. */
export const retentionBatch = 500
export const retentionEveryMs = hour

/** Storage events that are kept. */
export const storageEventsPerRepositoryMax = 1_000 // spec
export const storageEventsMax = 20_000 // spec
export const storageEventsPage = 100 // spec
export const storageEventCodeMaxCharacters = 96 // spec
export const storageEventDetailsMax = 16 // spec
/** Repositories that are told in their events that bytes in them have rotted, for each such content. */
export const rotToldRepositoriesMax = 100
