import type { Queries, Transaction } from '../../database/database.ts'
import { appendJournalOfMany } from '../../journal/repository/journal.ts'
import { Failure } from '../../kernel/failure.ts'
import { tagMovesMax, tagsPageDefault, tagsPageMax } from '../../kernel/limits/oci.ts'
import { settleKept } from './keeping.queries.ts'
import { immutableAmong, refuseImmutable } from './retention/immutable-tags.ts'
import { appendMoves, callTags, deleteTagsOf, findTag, putTags, tagPage, tagsAmong } from './tags.queries.ts'
import type { Algorithm } from './vocabulary.ts'

/** An image by its whole name. */
export interface ImageName {
  readonly repository: string
  readonly name: string
}

interface Move {
  readonly actor: string
  readonly now: string
}

/** A manifest, and by which of its digests a tag is to call it. */
export interface Tagged {
  readonly manifestId: string
  readonly algorithm: Algorithm
}

/**
 * Moves tags to a manifest of their name; where they are there already, nothing is told. What they were at is kept for
 * the grace period. One that is there already is called by the digest of this push from now on, unless it is
 * immutable: then it answers as it always did. The caller's transaction has the lock of the repository. 409
 * `tag_immutable` for one that stays where it is.
 */
export const setTags = async (
  tx: Transaction,
  image: ImageName,
  tags: readonly string[],
  { manifestId, algorithm }: Tagged,
  { actor, now }: Move,
): Promise<void> => {
  if (tags.length === 0) return
  const before = new Map((await tagsAmong(tx, image, tags)).map((row) => [row.tag, row]))
  const [staying, moving] = [[] as string[], [] as string[]]
  for (const tag of new Set(tags)) (before.get(tag)?.manifest_id === manifestId ? staying : moving).push(tag)
  const moved = moving.filter((tag) => before.has(tag))
  await callAnew(
    tx,
    image,
    staying.filter((tag) => before.get(tag)?.algorithm !== algorithm),
    algorithm,
  )
  await refuseImmutable(tx, image.repository, moved)
  if (moving.length === 0) return
  const { repository, name } = image
  const move = { manifest_id: manifestId, moved_at: now, actor }
  const rows = moving.map((tag) => ({ repository, name, tag, algorithm, ...move }))
  await putTags(tx, image, rows, moving.length - moved.length)
  await appendMoves(tx, image, { ...move, removed: 0, tags: moving }, tagMovesMax)
  await settleKept(tx, [...new Set([manifestId, ...moved.flatMap((tag) => before.get(tag)?.manifest_id ?? [])])], now)
  await tellOfTags(tx, image, moving, 'tag.set', { manifestId, actor, now })
}

const callAnew = async (
  tx: Transaction,
  image: ImageName,
  tags: readonly string[],
  algorithm: Algorithm,
): Promise<void> => {
  const immutable = await immutableAmong(tx, image.repository, tags)
  const called = tags.filter((tag) => !immutable.has(tag))
  if (called.length > 0) await callTags(tx, image, called, algorithm)
}

/** The same of one. */
export const setTag = (tx: Transaction, image: ImageName, tag: string, tagged: Tagged, move: Move): Promise<void> =>
  setTags(tx, image, [tag], tagged, move)

/**
 * Refuses to go on with a tag that is not where it was expected: at the manifest of a digest, or, with null, nowhere.
 * 409 `revision_mismatch`.
 */
export const refuseElsewhere = (
  tag: string,
  at: { readonly digest: string; readonly digest512: string | null } | undefined,
  expected: string | null | undefined,
): void => {
  if (expected === undefined) return
  if (expected === null ? at === undefined : [at?.digest, at?.digest512].includes(expected)) return
  throw new Failure(
    'revision_mismatch',
    at === undefined
      ? `There is no tag ${JSON.stringify(tag)}; read it again, then decide.`
      : `The tag ${JSON.stringify(tag)} is at ${at.digest}; read it again, then decide.`,
  )
}

/** Takes a tag away; false where there is none. Lock and refusal as above. */
export const removeTag = async (tx: Transaction, image: ImageName, tag: string, move: Move): Promise<boolean> => {
  const before = await findTag(tx, image, tag)
  if (before === undefined) return false
  await refuseImmutable(tx, image.repository, [tag])
  await removeTagsOf(tx, { ...image, id: before.manifest_id }, [tag], move)
  return true
}

/**
 * Takes those of some tags away that are there; the caller has looked whether any of them is immutable. Lock as above.
 */
export const removeTags = async (
  tx: Transaction,
  image: ImageName,
  tags: readonly string[],
  move: Move,
): Promise<void> => {
  const at = Map.groupBy(await tagsAmong(tx, image, tags), ({ manifest_id }) => manifest_id)
  for (const [id, rows] of at)
    await removeTagsOf(
      tx,
      { ...image, id },
      rows.map(({ tag }) => tag),
      move,
    )
}

/** Takes tags from the manifest that they are at, which may be kept by nothing then. */
export const removeTagsOf = async (
  tx: Transaction,
  manifest: ImageName & { readonly id: string },
  tags: readonly string[],
  { actor, now }: Move,
): Promise<void> => {
  const { id } = manifest
  await deleteTagsOf(tx, manifest, tags)
  await appendMoves(tx, manifest, { manifest_id: id, removed: 1, moved_at: now, actor, tags }, tagMovesMax)
  await settleKept(tx, [id], now)
  await tellOfTags(tx, manifest, tags, 'tag.remove', { manifestId: id, actor, now })
}

/** Lines of the journal, one for each tag. */
export const tellOfTags = (
  tx: Transaction,
  { repository, name }: ImageName,
  tags: readonly string[],
  action: 'tag.set' | 'tag.remove',
  { manifestId, actor, now }: Move & { readonly manifestId: string },
): Promise<void> =>
  appendJournalOfMany(
    tx,
    { repository, action, actor, occurredAt: now },
    tags.map((tag) => ({ artifactId: manifestId, detail: `${name}:${tag}` })),
  )

export interface TagPage {
  readonly tags: readonly string[]
  /** What the next page goes on behind; null where this is the last. */
  readonly next: string | null
}

/** Tags behind `last` in the order of their bytes, at most so many. */
export const listTags = async (
  q: Queries,
  image: ImageName,
  { n = tagsPageDefault, last = '' }: { readonly n?: number | undefined; readonly last?: string | undefined },
): Promise<TagPage> => {
  const limit = Math.min(n, tagsPageMax)
  if (limit === 0) return { tags: [], next: null }
  const found = await tagPage(q, image, last, limit + 1)
  const tags = found.slice(0, limit)
  return { tags, next: found.length > limit ? (tags.at(-1) ?? null) : null }
}
