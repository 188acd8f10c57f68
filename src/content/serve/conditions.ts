import { entityTagsWanted, parseEntityTags } from '../../kernel/entity-tags.ts'
import { invalid } from '../../kernel/failure.ts'
import { isLater, isNotLater } from '../../kernel/http-dates.ts'

/** What a client makes its request depend on (RFC 9110, section 13.1): If-Range of a range, the others of all of it. */
export interface Conditions {
  readonly ifRange: string | undefined
  readonly ifMatch: string | undefined
  readonly ifNoneMatch: string | undefined
  readonly ifModifiedSince: string | undefined
  readonly ifUnmodifiedSince: string | undefined
}

/** If-Match compares strongly, If-None-Match weakly (RFC 9110, section 13.1). Throws 400 for one that is none. */
const matches = (header: 'if-match' | 'if-none-match', value: string, etag: string): boolean => {
  const tags = parseEntityTags(value)
  if (tags === null) throw invalid(`/headers/${header}`, entityTagsWanted)
  return tags === '*' || tags.some(({ weak, opaque }) => opaque === etag && (header === 'if-none-match' || !weak))
}

/** A date counts only where there is no tag (RFC 9110, section 13.2.2), and where it is known since when. */
export const isAsWanted = ({ ifMatch, ifUnmodifiedSince }: Conditions, etag: string, modifiedAt?: string): boolean => {
  if (ifMatch !== undefined) return matches('if-match', ifMatch, etag)
  return ifUnmodifiedSince === undefined || modifiedAt === undefined || !isLater(modifiedAt, ifUnmodifiedSince)
}

/** Whether the client has the file already. Dates as above. */
export const isKnown = ({ ifNoneMatch, ifModifiedSince }: Conditions, etag: string, modifiedAt?: string): boolean => {
  if (ifNoneMatch !== undefined) return matches('if-none-match', ifNoneMatch, etag)
  return ifModifiedSince !== undefined && modifiedAt !== undefined && isNotLater(modifiedAt, ifModifiedSince)
}
