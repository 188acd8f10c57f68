import type { Queries } from '../../../database/database.ts'
import type { ImageName } from '../tags.ts'
import { hasPart } from './names.queries.ts'
import type { Moment } from './walking.ts'

/** Tags with what they lead to. */
const tags = (q: Queries, { repository, name }: ImageName) =>
  q
    .selectFrom('oci_tags as t')
    .innerJoin('oci_manifests as m', 'm.id', 't.manifest_id')
    .select(['t.tag', 't.algorithm', 't.moved_at', 't.actor', 't.manifest_id'])
    .select(['m.digest', 'm.digest512', 'm.media_type', 'm.artifact_type', 'm.content_bytes', 'm.platforms'])
    .where('t.repository', '=', repository)
    .where('t.name', '=', name)

export type TagRow = Awaited<ReturnType<ReturnType<typeof tags>['execute']>>[number]

/** The tag, or none. */
export const tagRows = (q: Queries, image: ImageName, tag: string): Promise<TagRow[]> =>
  tags(q, image).where('t.tag', '=', tag).execute()

interface Named {
  /** '' for any. */
  readonly part: string
}

/** Tags that have a part, behind one of them, in the order of their bytes, up to another one where that is given. */
export const tagsByName = (
  q: Queries,
  image: ImageName,
  { last, upTo, part }: Named & { readonly last: string; readonly upTo: string | null },
  limit: number,
): Promise<TagRow[]> => {
  const rows = tags(q, image).where('t.tag', '>', last).orderBy('t.tag').limit(limit)
  const within = upTo === null ? rows : rows.where('t.tag', '<=', upTo)
  return (part === '' ? within : within.where(hasPart(q, 't.tag', part))).execute()
}

/** The tag that is so many behind one. */
export const tagAhead = async (
  q: Queries,
  { repository, name }: ImageName,
  last: string,
  entries: number,
): Promise<string | undefined> => {
  const row = await q
    .selectFrom('oci_tags')
    .select('tag')
    .where('repository', '=', repository)
    .where('name', '=', name)
    .where('tag', '>', last)
    .orderBy('tag')
    .limit(1)
    .offset(entries - 1)
    .executeTakeFirst()
  return row?.tag
}

interface Times {
  readonly last: Moment | null
  readonly upTo: Moment | null
}

/** Tags that have a part, the one that was moved last first, behind one of them, up to another one. */
export const tagsByTime = (
  q: Queries,
  image: ImageName,
  { last, upTo, part }: Named & Times,
  limit: number,
): Promise<TagRow[]> => {
  let rows = tags(q, image).orderBy('t.moved_at', 'desc').orderBy('t.tag', 'desc').limit(limit)
  if (last !== null) rows = rows.where((eb) => eb(eb.refTuple('t.moved_at', 't.tag'), '<', eb.tuple(last.at, last.tag)))
  if (upTo !== null)
    rows = rows.where((eb) => eb(eb.refTuple('t.moved_at', 't.tag'), '>=', eb.tuple(upTo.at, upTo.tag)))
  return (part === '' ? rows : rows.where(hasPart(q, 't.tag', part))).execute()
}

/** The tag that is so many behind one, in that order. */
export const tagAheadByTime = (
  q: Queries,
  { repository, name }: ImageName,
  last: Moment | null,
  entries: number,
): Promise<{ moved_at: string; tag: string } | undefined> => {
  const rows = q
    .selectFrom('oci_tags')
    .select(['moved_at', 'tag'])
    .where('repository', '=', repository)
    .where('name', '=', name)
    .orderBy('moved_at', 'desc')
    .orderBy('tag', 'desc')
    .limit(1)
    .offset(entries - 1)
  return (
    last === null ? rows : rows.where((eb) => eb(eb.refTuple('moved_at', 'tag'), '<', eb.tuple(last.at, last.tag)))
  ).executeTakeFirst()
}
