import type { Queries } from '../../database/database.ts'
import { entityTagsWanted, parseEntityTags } from '../../kernel/entity-tags.ts'
import { Failure, invalid } from '../../kernel/failure.ts'
import { findRevisionRow } from './history.queries.ts'

/** What a request expects of the file that it replaces (RFC 9110, section 13.1). */
export interface Preconditions {
  readonly ifMatch: string | undefined
  readonly ifUnmodifiedSince: string | undefined
}

interface Current {
  readonly revision: number
  readonly sha256: string
}

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

export const failed = (path: string, what: string): Failure =>
  new Failure('precondition_failed', `${JSON.stringify(path)} ${what}. Look at it again before you replace it.`)

/**
 * Throws 412 `precondition_failed` unless the path is as expected. Tags are compared strongly; a date is looked at only where
 * no tag is given, and one that is none, or for a path that has nothing, is ignored. Tags that are none are 400.
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
  } else if (ifUnmodifiedSince !== undefined && current !== undefined && httpDate.test(ifUnmodifiedSince)) {
    const row = await findRevisionRow(q, repository, path, current.revision)
    const seconds = (text: string): number => Math.floor(Date.parse(text) / 1000)
    if (row !== undefined && seconds(row.created_at) > seconds(ifUnmodifiedSince))
      throw failed(path, `was replaced at ${row.created_at}, after the time of If-Unmodified-Since`)
  }
}
