import type { Queries } from '../../../database/database.ts'
import { stringsOf } from '../../../features/catalog/artifacts/views.ts'
import { isStoredTime } from '../../../kernel/names.ts'
import { opaqueCursor, positionOfCursor } from '../../../kernel/opaque-cursor.ts'
import type { Page } from '../../../kernel/page.ts'
import { stagesAmong } from '../staged.queries.ts'
import type { ImageName } from '../tags.ts'
import { isTag } from '../vocabulary.ts'
import type { AskedPage } from './listing.ts'
import { type TagRow, tagAhead, tagAheadByTime, tagsByName, tagsByTime } from './tags.queries.ts'
import { momentOf, type Position, type Walk, walked } from './walking.ts'

/** A tag, where it is, and what it leads to. */
export interface Tag {
  readonly tag: string
  readonly digest: string
  readonly mediaType: string
  readonly artifactType: string | null
  readonly platforms: string[]
  /** Of config and layers; of an index, of all that it lists. */
  readonly contentSize: string
  readonly stages: string[]
  readonly movedAt: string
  readonly actor: string
}

const toTag = (row: TagRow, stages: readonly string[]): Tag => ({
  tag: row.tag,
  digest: row.algorithm === 'sha512' ? (row.digest512 ?? row.digest) : row.digest,
  mediaType: row.media_type,
  artifactType: row.artifact_type,
  platforms: stringsOf(row.platforms ?? '[]'),
  contentSize: String(row.content_bytes),
  stages: [...stages],
  movedAt: row.moved_at,
  actor: row.actor,
})

/** Rows as tags, with the stages of what they lead to. */
export const toTags = async (q: Queries, rows: readonly TagRow[]): Promise<Tag[]> => {
  const stages = await stagesAmong(q, [...new Set(rows.map(({ manifest_id }) => manifest_id))])
  return rows.map((row) => toTag(row, stages.get(row.manifest_id) ?? []))
}

type TagOrder = 'name' | 'newest'

const byName = (q: Queries, image: ImageName, part: string): Walk<TagRow> => {
  const tagAt = (position: Position | null): string => position?.[0] ?? ''
  return {
    ahead: async (from, entries) => {
      const tag = part === '' ? undefined : await tagAhead(q, image, tagAt(from), entries)
      return tag === undefined ? null : [tag]
    },
    between: (from, to, most) =>
      tagsByName(q, image, { last: tagAt(from), upTo: to === null ? null : tagAt(to), part }, most),
    positionOf: ({ tag }) => [tag],
  }
}

const byTime = (q: Queries, image: ImageName, part: string): Walk<TagRow> => ({
  ahead: async (from, entries) => {
    const row = part === '' ? undefined : await tagAheadByTime(q, image, momentOf(from), entries)
    return row === undefined ? null : [row.moved_at, row.tag]
  },
  between: (from, to, most) => tagsByTime(q, image, { last: momentOf(from), upTo: momentOf(to), part }, most),
  positionOf: (row) => [row.moved_at, row.tag],
})

/** Tags of an image by name, or the one that was moved last first; a page as {@link walked} says. */
export const tagsOfImage = async (
  q: Queries,
  image: ImageName,
  { order, part, after, limit }: AskedPage & { readonly order: TagOrder },
): Promise<Page<Tag>> => {
  const listing = ['tags', image.repository, image.name, order, part]
  const grammar = order === 'name' ? [isTag] : [isStoredTime, isTag]
  const start = after === undefined ? null : positionOfCursor(listing, after, grammar)
  const walk = order === 'name' ? byName(q, image, part) : byTime(q, image, part)
  const { rows, next } = await walked(walk, start, limit)
  return { items: await toTags(q, rows), next: next === null ? null : opaqueCursor(listing, next) }
}
