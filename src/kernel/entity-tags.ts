/** An entity tag as a client sends it (RFC 9110, section 8.8.3). */
export interface EntityTag {
  readonly weak: boolean
  /** With its quotes. */
  readonly opaque: string
}

/** One element of the list, which may be empty, and the comma or the end behind it. */
const element = /[ \t]*(?:(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(,|$)/y

/**
 * What `If-Match` and `If-None-Match` name: `*`, or a list of tags, in which empty elements count for nothing (RFC
 * 9110, sections
 * 5.6.1 and 13.1). Null for anything else, of which nothing is picked out. Takes time as long as the text is.
 */
export const parseEntityTags = (text: string): '*' | readonly EntityTag[] | null => {
  if (text.trim() === '*') return '*'
  const tags: EntityTag[] = []
  element.lastIndex = 0
  for (;;) {
    const [, weak, opaque, end] = element.exec(text) ?? []
    if (end === undefined) return null
    if (opaque !== undefined) tags.push({ weak: weak !== undefined, opaque })
    if (end === '') return tags.length === 0 ? null : tags
  }
}

/** What to say of anything else. */
export const entityTagsWanted = 'must be * or a list of ETags in quotes, such as "sha256:<digest>"'
