import type { Queries, Transaction } from '../../database/database.ts'
import { type Parameters, prepareQuery } from '../../database/prepared.ts'
import type { OciTagMovesTable, OciTagsTable } from '../../database/tables/images.ts'

type Here = { readonly repository: string; readonly name: string }

const page = prepareQuery((q, p: Parameters<Here & { last: string; limit: number }>) =>
  q
    .selectFrom('oci_tags')
    .select('tag')
    .where('repository', '=', p('repository'))
    .where('name', '=', p('name'))
    .where('tag', '>', p('last'))
    .orderBy('tag')
    .limit(p('limit')),
)

/** Tags behind one, in the order of their bytes. */
export const tagPage = async (q: Queries, here: Here, last: string, limit: number): Promise<string[]> =>
  (await page(q, { ...here, last, limit })).map(({ tag }) => tag)

/** Those of some tags that are there. */
export const tagsAmong = (
  tx: Transaction,
  { repository, name }: Here,
  tags: readonly string[],
): Promise<OciTagsTable[]> =>
  tx
    .selectFrom('oci_tags')
    .selectAll()
    .where('repository', '=', repository)
    .where('name', '=', name)
    .where('tag', 'in', tags)
    .execute()

export const findTag = async (tx: Transaction, here: Here, tag: string): Promise<OciTagsTable | undefined> =>
  (await tagsAmong(tx, here, [tag]))[0]

/** How many tags an image has changes. */
const countTags = async (tx: Transaction, { repository, name }: Here, by: number): Promise<void> => {
  await tx
    .updateTable('oci_images')
    .set((eb) => ({ tags: eb('tags', '+', by) }))
    .where('repository', '=', repository)
    .where('name', '=', name)
    .execute()
}

/** Tags of an image are there now, wherever they were; so many of them are new. */
export const putTags = async (
  tx: Transaction,
  here: Here,
  rows: readonly OciTagsTable[],
  added: number,
): Promise<void> => {
  if (added > 0) await countTags(tx, here, added)
  await tx
    .insertInto('oci_tags')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['repository', 'name', 'tag']).doUpdateSet((eb) => ({
        manifest_id: eb.ref('excluded.manifest_id'),
        algorithm: eb.ref('excluded.algorithm'),
        moved_at: eb.ref('excluded.moved_at'),
        actor: eb.ref('excluded.actor'),
      })),
    )
    .execute()
}

/** Tags stay where they are, and answer with another digest. */
export const callTags = async (
  tx: Transaction,
  { repository, name }: Here,
  tags: readonly string[],
  algorithm: OciTagsTable['algorithm'],
): Promise<void> => {
  await tx
    .updateTable('oci_tags')
    .set({ algorithm })
    .where('repository', '=', repository)
    .where('name', '=', name)
    .where('tag', 'in', tags)
    .execute()
}

/** Tags behind one that are called so, or so and a dot and more, in order. */
export const tagsCalled = async (
  tx: Transaction,
  { repository, name }: Here,
  called: string,
  last: string,
  limit: number,
): Promise<string[]> =>
  (
    await tx
      .selectFrom('oci_tags')
      .select('tag')
      .where('repository', '=', repository)
      .where('name', '=', name)
      .where('tag', '>=', called)
      .where('tag', '>', last)
      // What follows the dot in the order of bytes: tags have none of it.
      .where('tag', '<', `${called}/`)
      .where((eb) => eb.or([eb('tag', '=', called), eb('tag', '>=', `${called}.`)]))
      .orderBy('tag')
      .limit(limit)
      .execute()
  ).map(({ tag }) => tag)

/** Tags of a manifest behind one, in order. */
export const tagsOf = async (q: Queries, manifestId: string, limit: number, last = ''): Promise<string[]> =>
  (
    await q
      .selectFrom('oci_tags')
      .select('tag')
      .where('manifest_id', '=', manifestId)
      .where('tag', '>', last)
      .orderBy('tag')
      .limit(limit)
      .execute()
  ).map(({ tag }) => tag)

/** Of a manifest that has all of them. */
export const deleteTagsOf = async (
  tx: Transaction,
  manifest: Here & { readonly id: string },
  tags: readonly string[],
): Promise<void> => {
  await tx.deleteFrom('oci_tags').where('manifest_id', '=', manifest.id).where('tag', 'in', tags).execute()
  await countTags(tx, manifest, -tags.length)
}

/** Tags of an image that all move the same way. */
export interface Moves extends Pick<OciTagMovesTable, 'manifest_id' | 'removed' | 'moved_at' | 'actor'> {
  readonly tags: readonly string[]
}

/** Writes down moves as the next one of each tag, and forgets those that are too many. */
export const appendMoves = async (
  tx: Transaction,
  { repository, name }: Here,
  { tags, ...move }: Moves,
  kept: number,
): Promise<void> => {
  const known = await tx
    .selectFrom('oci_tag_moves')
    .select((eb) => ['tag', eb.fn.max('revision').as('revision')])
    .where('repository', '=', repository)
    .where('name', '=', name)
    .where('tag', 'in', tags)
    .groupBy('tag')
    .execute()
  const newest = new Map(known.map(({ tag, revision }) => [tag, revision]))
  const rows = tags.map((tag) => ({ repository, name, tag, ...move, revision: (newest.get(tag) ?? 0) + 1 }))
  await tx.insertInto('oci_tag_moves').values(rows).execute()
  for (const { tag, revision } of rows)
    if (revision > kept)
      await tx
        .deleteFrom('oci_tag_moves')
        .where('repository', '=', repository)
        .where('name', '=', name)
        .where('tag', '=', tag)
        .where('revision', '<=', revision - kept)
        .execute()
}
