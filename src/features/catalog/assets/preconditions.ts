import type { Queries } from '../../../database/database.ts'
import { entityTagsWanted, parseEntityTags } from '../../../kernel/entity-tags.ts'
import { Failure, invalid } from '../../../kernel/failure.ts'
import { findRevisionRow } from './history.queries.ts'

/** What a request expects of the file that it replaces or removes (RFC 9110, section 13.1). */
export interface Preconditions {
  readonly ifMatch: string | undefined
  readonly ifUnmodifiedSince: string | undefined
}

export const noPreconditions: Preconditions = { ifMatch: undefined, ifUnmodifiedSince: undefined }

interface Current {
  readonly revision: number
  readonly sha256: string
}

/**
 * The form of dates in HTTP, and two older ones that every recipient takes (RFC 9110, section 5.6.7); all are in UTC.
 */
const httpDates = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
]

const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1000)

/** In seconds; NaN for what is no date. */
const httpDate = (text: string): number =>
  httpDates.some((form) => form.test(text))
    ? seconds(Date.parse(text.endsWith('GMT') ? text : `${text} GMT`))
    : Number.NaN

export const failed = (path: string, what: string): Failure =>
  new Failure('precondition_failed', `${JSON.stringify(path)} ${what}. Look at it again, then decide.`)

/**
 * Throws 412 `precondition_failed` unless the path is as expected. Tags are compared strongly; a date is looked at only
 * where no tag is given, and one that is none, or for a path that has nothing, is ignored. Tags that are none are 400.
 */
export const refuseUnlessAsExpected = async (
  q: Queries,
  repository: string,
  path: string,
  { ifMatch, ifUnmodifiedSince }: Preconditions,
  current: Current | undefined,
): Promise<void> => {
  if (ifMatch !== undefined) {
    const tags = parseEntityTags(ifMatch)
    if (tags === null) throw invalid('/headers/if-match', entityTagsWanted)
    if (current === undefined) throw failed(path, 'has no file, and If-Match asks for one')
    const tag = `"sha256:${current.sha256}"`
    if (tags !== '*' && !tags.some(({ weak, opaque }) => !weak && opaque === tag))
      throw failed(path, `has the ETag ${tag}, which If-Match does not name`)
  } else if (ifUnmodifiedSince !== undefined && current !== undefined) {
    const row = await findRevisionRow(q, repository, path, current.revision)
    if (row !== undefined && seconds(Date.parse(row.created_at)) > httpDate(ifUnmodifiedSince))
      throw failed(path, `was replaced at ${row.created_at}, after the time of If-Unmodified-Since`)
  }
}
