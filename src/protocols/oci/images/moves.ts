import { revisionMax } from '../../../kernel/limits/catalog.ts'
import { isStoredTime } from '../../../kernel/names.ts'
import { opaqueCursor, positionOfCursor } from '../../../kernel/opaque-cursor.ts'
import { type Page, pageOf } from '../../../kernel/page.ts'
import type { ImageName } from '../tags.ts'
import { isTag } from '../vocabulary.ts'
import { type KeepingDeps, keptUntil } from './kept-until.ts'
import type { AskedPage } from './listing.ts'
import { type MoveRow, movesOf, removalAhead, removedRows } from './moves.queries.ts'
import { momentOf, walked } from './walking.ts'

/** One time that a tag was moved, or taken away. */
export interface TagMove {
  readonly revision: number
  /** Where it was moved to, or was when it was taken away. */
  readonly digest: string
  readonly removed: boolean
  readonly movedAt: string
  readonly actor: string
  readonly keptUntil: string | null
}

/** A tag that is not there any more and can be put back. */
export interface RemovedTag {
  readonly tag: string
  readonly digest: string
  readonly mediaType: string
  readonly removedAt: string
  readonly actor: string
  readonly keptUntil: string | null
}

/** Moves of a tag below a revision, the newest first. */
export const tagMoves = async (
  deps: KeepingDeps,
  image: ImageName,
  { tag, before, limit }: { readonly tag: string; readonly before: number | undefined; readonly limit: number },
): Promise<Page<TagMove, number>> => {
  const rows = await movesOf(deps.database.reader, image, tag, before ?? revisionMax + 1, limit + 1)
  const until = await keptUntil(deps, image.repository)
  const show = ({ revision, digest, removed, moved_at: movedAt, actor, unused_since }: MoveRow): TagMove => ({
    ...{ revision, digest, removed: removed === 1, movedAt, actor },
    keptUntil: until(unused_since),
  })
  return pageOf(rows, limit, show, ({ revision }) => revision)
}

/** Tags of an image that were taken away, the last one first; a page as {@link walked} says. */
export const removedTags = async (
  deps: KeepingDeps,
  image: ImageName,
  { after, limit }: Omit<AskedPage, 'part'>,
): Promise<Page<RemovedTag>> => {
  const q = deps.database.reader
  const listing = ['removed tags', image.repository, image.name]
  const start = after === undefined ? null : positionOfCursor(listing, after, [isStoredTime, isTag])
  const { rows, next } = await walked<MoveRow>(
    {
      ahead: async (from, entries) => {
        const row = await removalAhead(q, image, momentOf(from), entries)
        return row === undefined ? null : [row.moved_at, row.tag]
      },
      between: (from, to, most) => removedRows(q, image, { last: momentOf(from), upTo: momentOf(to) }, most),
      positionOf: (row) => [row.moved_at, row.tag],
    },
    start,
    limit,
  )
  const until = await keptUntil(deps, image.repository)
  const items = rows.map(({ tag, digest, media_type: mediaType, moved_at: removedAt, actor, unused_since }) => ({
    ...{ tag, digest, mediaType, removedAt, actor },
    keptUntil: until(unused_since),
  }))
  return { items, next: next === null ? null : opaqueCursor(listing, next) }
}
