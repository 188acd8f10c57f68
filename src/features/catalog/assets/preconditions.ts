import { entityTagsWanted, parseEntityTags } from '../../../kernel/entity-tags.ts'
import { Failure, invalid } from '../../../kernel/failure.ts'
import { isLater } from '../../../kernel/http-dates.ts'

/** What a request expects of the file that it replaces or removes (RFC 9110, section 13.1). */
export interface Preconditions {
  readonly ifMatch: string | undefined
  readonly ifUnmodifiedSince: string | undefined
}

export const noPreconditions: Preconditions = { ifMatch: undefined, ifUnmodifiedSince: undefined }

interface Current {
  readonly sha256: string
  readonly created_at: string
}

export const failed = (path: string, what: string): Failure =>
  new Failure('precondition_failed', `${JSON.stringify(path)} ${what}. Look at it again, then decide.`)

/**
 * Throws 412 `precondition_failed` unless the path is as expected. Tags are compared strongly; a date is looked at only
 * where no tag is given, and one that is none, or for a path that has nothing, is ignored. Tags that are none are 400.
 */
export const refuseUnlessAsExpected = (
  path: string,
  { ifMatch, ifUnmodifiedSince }: Preconditions,
  current: Current | undefined,
): void => {
  if (ifMatch !== undefined) {
    const tags = parseEntityTags(ifMatch)
    if (tags === null) throw invalid('/headers/if-match', entityTagsWanted)
    if (current === undefined) throw failed(path, 'has no file, and If-Match asks for one')
    const tag = `"sha256:${current.sha256}"`
    if (tags !== '*' && !tags.some(({ weak, opaque }) => !weak && opaque === tag))
      throw failed(path, `has the ETag ${tag}, which If-Match does not name`)
    return
  }
  if (ifUnmodifiedSince !== undefined && current !== undefined && isLater(current.created_at, ifUnmodifiedSince))
    throw failed(path, `was replaced at ${current.created_at}, after the time of If-Unmodified-Since`)
}
