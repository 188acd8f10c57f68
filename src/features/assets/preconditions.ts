import type { Queries } from '../../database/database.ts'
import { Failure } from '../../kernel/failure.ts'
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

const strongTag = /(?<![^\s,])"[^"]*"/g
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

export const failed = (path: string, what: string): Failure =>
  new Failure('precondition_failed', `${JSON.stringify(path)} ${what}. Look at it again before you replace it.`)

/**
 * Throws 412 `precondition_failed` unless the path is as expected. Tags are compared strongly; a date is looked at only where
 * no tag is given, and one that is none, or for a path that has nothing, is ignored.
 */
export const refuseUnlessAsExpected = async (
  q: Queries,
  repository: string,
  path: string,
  { ifMatch, ifUnmodifiedSince }: Preconditions,
  current: Current | undefined,
): Promise<void> => {
  if (ifMatch !== undefined) {
    if (current === undefined) throw failed(path, 'has no file, and If-Match asks for one')
    const tag = `"sha256:${current.sha256}"`
    const tags: readonly string[] = ifMatch.match(strongTag) ?? []
    if (ifMatch.trim() !== '*' && !tags.includes(tag))
      throw failed(path, `has the ETag ${tag}, which If-Match does not name`)
  } else if (ifUnmodifiedSince !== undefined && current !== undefined && httpDate.test(ifUnmodifiedSince)) {
    const row = await findRevisionRow(q, repository, path, current.revision)
    const seconds = (text: string): number => Math.floor(Date.parse(text) / 1000)
    if (row !== undefined && seconds(row.created_at) > seconds(ifUnmodifiedSince))
      throw failed(path, `was replaced at ${row.created_at}, after the time of If-Unmodified-Since`)
  }
}
