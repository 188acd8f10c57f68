import type { Queries } from '../../../database/database.ts'
import type { Position } from '../../../features/lifecycle/policies/counted.ts'

/** An image by its name; its manifests are counted together. */
export interface Image {
  readonly name: string
}

/** Names of images after one, in order, with the manifests that one look counted of each. */
export const countImages = async (
  q: Queries,
  repository: string,
  after: Image | null,
  limit: number,
): Promise<{ name: string; manifests: number }[]> => {
  const looked = q
    .selectFrom('oci_manifests')
    .select('name')
    .where('repository', '=', repository)
    .where('name', '>', after?.name ?? '')
    .where('tagged_at', 'is not', null)
    .orderBy('name')
    .limit(limit)
  const rows = await q
    .selectFrom(looked.as('looked'))
    .select((eb) => ['name', eb.fn.countAll<number | string>().as('manifests')])
    .groupBy('name')
    .orderBy('name')
    .execute()
  return rows.map((row) => ({ ...row, manifests: Number(row.manifests) }))
}

/** Those of an image, or of all. */
const imagesIn = (q: Queries, repository: string, image: Image | null) => {
  const all = q
    .selectFrom('oci_manifests')
    .select(['tagged_at as at', 'id'])
    .where('repository', '=', repository)
    .where('tagged_at', 'is not', null)
    .$narrowType<{ at: string }>()
  return image === null ? all : all.where('name', '=', image.name)
}

/** The newest, or the newest before a position. */
export const newestImages = (
  q: Queries,
  repository: string,
  image: Image | null,
  before: Position | null,
  limit: number,
): Promise<Position[]> => {
  const rows = imagesIn(q, repository, image).orderBy('tagged_at', 'desc').orderBy('id', 'desc').limit(limit)
  if (before === null) return rows.execute()
  return rows.where((eb) => eb(eb.refTuple('tagged_at', 'id'), '<', eb.tuple(before.at, before.id))).execute()
}

/** The n-th newest, counted from 1. */
export const nthNewestImage = (
  q: Queries,
  repository: string,
  image: Image | null,
  n: number,
): Promise<Position | undefined> =>
  imagesIn(q, repository, image)
    .orderBy('tagged_at', 'desc')
    .orderBy('id', 'desc')
    .offset(n - 1)
    .limit(1)
    .executeTakeFirst()

/** The oldest after a position and before another. */
export const oldestImages = (
  q: Queries,
  repository: string,
  image: Image | null,
  { after, before }: { readonly after: Position | null; readonly before: Position },
  limit: number,
): Promise<Position[]> => {
  const rows = imagesIn(q, repository, image)
    .where((eb) => eb(eb.refTuple('tagged_at', 'id'), '<', eb.tuple(before.at, before.id)))
    .orderBy('tagged_at')
    .orderBy('id')
    .limit(limit)
  if (after === null) return rows.execute()
  return rows.where((eb) => eb(eb.refTuple('tagged_at', 'id'), '>', eb.tuple(after.at, after.id))).execute()
}

/** Those of some manifests that count, by name and then by time. */
export const countedAmong = (q: Queries, repository: string, ids: readonly string[]) =>
  q
    .selectFrom('oci_manifests')
    .select(['id', 'name', 'digest', 'digest512', 'tagged_at'])
    .where('repository', '=', repository)
    .where('id', 'in', ids)
    .where('tagged_at', 'is not', null)
    .$narrowType<{ tagged_at: string }>()
    .orderBy('name')
    .orderBy('tagged_at')
    .orderBy('id')
    .execute()

/** Tags of some manifests. */
export const tagsAmong = (
  q: Queries,
  ids: readonly string[],
  limit: number,
): Promise<{ manifest_id: string; tag: string }[]> =>
  q.selectFrom('oci_tags').select(['manifest_id', 'tag']).where('manifest_id', 'in', ids).limit(limit).execute()

/** Tags of a manifest behind one, in order. */
export const tagsOfAfter = async (q: Queries, manifestId: string, after: string, limit: number): Promise<string[]> =>
  (
    await q
      .selectFrom('oci_tags')
      .select('tag')
      .where('manifest_id', '=', manifestId)
      .where('tag', '>', after)
      .orderBy('tag')
      .limit(limit)
      .execute()
  ).map(({ tag }) => tag)

/** Tags of a manifest, those first that came first. */
export const oldestTagsOf = async (q: Queries, manifestId: string, limit: number): Promise<string[]> =>
  (
    await q
      .selectFrom('oci_tags')
      .select('tag')
      .where('manifest_id', '=', manifestId)
      .orderBy('moved_at')
      .orderBy('tag')
      .limit(limit)
      .execute()
  ).map(({ tag }) => tag)
