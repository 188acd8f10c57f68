import type { Queries } from '../../../database/database.ts'
import type { OciImagesTable } from '../../../database/tables/images.ts'
import { opaqueCursor, positionOfCursor } from '../../../kernel/opaque-cursor.ts'
import type { Page } from '../../../kernel/page.ts'
import { isImageName } from '../vocabulary.ts'
import { countImageRows, imageAhead, imageRows } from './listing.queries.ts'
import { type Position, walked } from './walking.ts'

export interface Image {
  /** What stands behind the repository. */
  readonly name: string
  readonly tags: number
  readonly manifests: number
  readonly createdAt: string
  /** When a manifest came last. */
  readonly pushedAt: string
}

/** What a page is asked for. */
export interface AskedPage {
  /** A part of the name, whatever its case; '' for any. */
  readonly part: string
  readonly after: string | undefined
  readonly limit: number
}

const toImage = ({ name, tags, manifests, created_at: createdAt, pushed_at: pushedAt }: OciImagesTable): Image => ({
  ...{ name, tags, manifests, createdAt, pushedAt },
})

/** Images of a repository in the order of their names; a page as {@link walked} says. */
export const imagesOf = async (
  q: Queries,
  repository: string,
  { part, after, limit }: AskedPage,
): Promise<Page<Image>> => {
  const listing = ['images', repository, part]
  const start = after === undefined ? null : positionOfCursor(listing, after, [isImageName])
  const nameAt = (position: Position | null): string => position?.[0] ?? ''
  const { rows, next } = await walked<OciImagesTable>(
    {
      ahead: async (from, entries) => {
        const name = part === '' ? undefined : await imageAhead(q, repository, nameAt(from), entries)
        return name === undefined ? null : [name]
      },
      between: (from, to, most) =>
        imageRows(q, repository, { last: nameAt(from), upTo: to === null ? null : nameAt(to), part }, most),
      positionOf: ({ name }) => [name],
    },
    start,
    limit,
  )
  return { items: rows.map(toImage), next: next === null ? null : opaqueCursor(listing, next) }
}

/** How many images are in the repository, up to so many. */
export const countImages = countImageRows
