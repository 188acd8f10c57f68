import { sql } from 'kysely'
import type { Queries } from '../../../database/database.ts'
import type { ImageName } from '../tags.ts'
import type { Moment } from './walking.ts'

const moves = (q: Queries, { repository, name }: ImageName) =>
  q
    .selectFrom('oci_tag_moves as v')
    .innerJoin('oci_manifests as m', 'm.id', 'v.manifest_id')
    .select(['v.tag', 'v.revision', 'v.removed', 'v.moved_at', 'v.actor', 'm.digest', 'm.media_type', 'm.unused_since'])
    .where('v.repository', '=', repository)
    .where('v.name', '=', name)

export type MoveRow = Awaited<ReturnType<ReturnType<typeof moves>['execute']>>[number]

/** Moves of a tag below a revision, the newest first. */
export const movesOf = (q: Queries, image: ImageName, tag: string, before: number, limit: number): Promise<MoveRow[]> =>
  moves(q, image)
    .where('v.tag', '=', tag)
    .where('v.revision', '<', before)
    .orderBy('v.revision', 'desc')
    .limit(limit)
    .execute()

/** By index: only moves that took a tag away are in it. */
const takenAway = sql.lit(1 as const)

/**
 * Moves that took a tag away and are its last, so that it is gone: the newest first, behind one of them, up to another
 * one.
 */
export const removedRows = (
  q: Queries,
  image: ImageName,
  { last, upTo }: { readonly last: Moment | null; readonly upTo: Moment | null },
  limit: number,
): Promise<MoveRow[]> => {
  let rows = moves(q, image)
    .where('v.removed', '=', takenAway)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('oci_tag_moves as later')
            .select(sql.lit(1).as('one'))
            .whereRef('later.repository', '=', 'v.repository')
            .whereRef('later.name', '=', 'v.name')
            .whereRef('later.tag', '=', 'v.tag')
            .whereRef('later.revision', '>', 'v.revision'),
        ),
      ),
    )
    .orderBy('v.moved_at', 'desc')
    .orderBy('v.tag', 'desc')
    .limit(limit)
  if (last !== null) rows = rows.where((eb) => eb(eb.refTuple('v.moved_at', 'v.tag'), '<', eb.tuple(last.at, last.tag)))
  if (upTo !== null)
    rows = rows.where((eb) => eb(eb.refTuple('v.moved_at', 'v.tag'), '>=', eb.tuple(upTo.at, upTo.tag)))
  return rows.execute()
}

/** The move that is so many behind one, of those that took a tag away. */
export const removalAhead = (
  q: Queries,
  { repository, name }: ImageName,
  last: Moment | null,
  entries: number,
): Promise<{ moved_at: string; tag: string } | undefined> => {
  const rows = q
    .selectFrom('oci_tag_moves')
    .select(['moved_at', 'tag'])
    .where('repository', '=', repository)
    .where('name', '=', name)
    .where('removed', '=', takenAway)
    .orderBy('moved_at', 'desc')
    .orderBy('tag', 'desc')
    .limit(1)
    .offset(entries - 1)
  return (
    last === null ? rows : rows.where((eb) => eb(eb.refTuple('moved_at', 'tag'), '<', eb.tuple(last.at, last.tag)))
  ).executeTakeFirst()
}
