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

export const findTag = (tx: Transaction, { repository, name }: Here, tag: string): Promise<OciTagsTable | undefined> =>
  tx
    .selectFrom('oci_tags')
    .selectAll()
    .where('repository', '=', repository)
    .where('name', '=', name)
    .where('tag', '=', tag)
    .executeTakeFirst()

/** How many tags an image has changes. */
const countTags = async (tx: Transaction, { repository, name }: Here, by: 1 | -1): Promise<void> => {
  await tx
    .updateTable('oci_images')
    .set((eb) => ({ tags: eb('tags', '+', by) }))
    .where('repository', '=', repository)
    .where('name', '=', name)
    .execute()
}

/** The tag is there now, wherever it was, or new. */
export const putTag = async (tx: Transaction, row: OciTagsTable, isNew: boolean): Promise<void> => {
  const { manifest_id, algorithm, moved_at, actor } = row
  if (isNew) await countTags(tx, row, 1)
  await tx
    .insertInto('oci_tags')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['repository', 'name', 'tag']).doUpdateSet({ manifest_id, algorithm, moved_at, actor }),
    )
    .execute()
}

/** The tag stays where it is, and answers with another digest. */
export const callTag = async (
  tx: Transaction,
  { repository, name }: Here,
  tag: string,
  algorithm: OciTagsTable['algorithm'],
): Promise<void> => {
  await tx
    .updateTable('oci_tags')
    .set({ algorithm })
    .where('repository', '=', repository)
    .where('name', '=', name)
    .where('tag', '=', tag)
    .execute()
}

/** Of an image that has it. */
export const deleteTag = async (tx: Transaction, { repository, name }: Here, tag: string): Promise<void> => {
  await countTags(tx, { repository, name }, -1)
  await tx
    .deleteFrom('oci_tags')
    .where('repository', '=', repository)
    .where('name', '=', name)
    .where('tag', '=', tag)
    .execute()
}

/** Tags that are called so, or so and a dot and more. */
export const tagsCalled = async (
  tx: Transaction,
  { repository, name }: Here,
  called: string,
  limit: number,
): Promise<string[]> =>
  (
    await tx
      .selectFrom('oci_tags')
      .select('tag')
      .where('repository', '=', repository)
      .where('name', '=', name)
      .where('tag', '>=', called)
      // What follows the dot in the order of bytes: tags have none of it.
      .where('tag', '<', `${called}/`)
      .where((eb) => eb.or([eb('tag', '=', called), eb('tag', '>=', `${called}.`)]))
      .orderBy('tag')
      .limit(limit)
      .execute()
  ).map(({ tag }) => tag)

/** Some tags of a manifest, in order. */
export const tagsOf = async (tx: Transaction, manifestId: string, limit: number): Promise<string[]> =>
  (
    await tx
      .selectFrom('oci_tags')
      .select('tag')
      .where('manifest_id', '=', manifestId)
      .orderBy('tag')
      .limit(limit)
      .execute()
  ).map(({ tag }) => tag)

export const deleteTagsOf = async (tx: Transaction, manifestId: string, tags: readonly string[]): Promise<void> => {
  await tx.deleteFrom('oci_tags').where('manifest_id', '=', manifestId).where('tag', 'in', tags).execute()
}

interface Removals {
  readonly manifestId: string
  /** All of them at it. */
  readonly tags: readonly string[]
  readonly now: string
  readonly actor: string
}

/** Writes down that tags are taken from a manifest, as the next move of each. */
export const appendRemovals = async (tx: Transaction, { manifestId, tags, now, actor }: Removals): Promise<void> => {
  await tx
    .insertInto('oci_tag_moves')
    .columns(['repository', 'name', 'tag', 'revision', 'manifest_id', 'removed', 'moved_at', 'actor'])
    .expression((eb) =>
      eb
        .selectFrom('oci_tags as t')
        .select((of) => [
          't.repository',
          't.name',
          't.tag',
          of(
            of
              .selectFrom('oci_tag_moves as v')
              .select((last) => last.fn.max('v.revision').as('revision'))
              .whereRef('v.repository', '=', 't.repository')
              .whereRef('v.name', '=', 't.name')
              .whereRef('v.tag', '=', 't.tag'),
            '+',
            1,
          ).as('revision'),
          't.manifest_id',
          of.lit(1).as('removed'),
          of.val(now).as('moved_at'),
          of.val(actor).as('actor'),
        ])
        .where('t.manifest_id', '=', manifestId)
        .where('t.tag', 'in', tags),
    )
    .execute()
}

/** Writes down a move as the next one of its tag, and forgets those that are too many. */
export const appendMove = async (
  tx: Transaction,
  move: Omit<OciTagMovesTable, 'revision'>,
  kept: number,
): Promise<void> => {
  const { repository, name, tag } = move
  const newest = await tx
    .selectFrom('oci_tag_moves')
    .select('revision')
    .where('repository', '=', repository)
    .where('name', '=', name)
    .where('tag', '=', tag)
    .orderBy('revision', 'desc')
    .limit(1)
    .executeTakeFirst()
  const revision = (newest?.revision ?? 0) + 1
  await tx
    .insertInto('oci_tag_moves')
    .values({ ...move, revision })
    .execute()
  await tx
    .deleteFrom('oci_tag_moves')
    .where('repository', '=', repository)
    .where('name', '=', name)
    .where('tag', '=', tag)
    .where('revision', '<=', revision - kept)
    .execute()
}
