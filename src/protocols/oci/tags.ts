import type { Queries, Transaction } from '../../database/database.ts'
import { appendJournal } from '../../journal/repository/journal.ts'
import { tagMovesMax, tagsPageDefault, tagsPageMax } from '../../kernel/limits/oci.ts'
import { settleKept } from './keeping.queries.ts'
import { refuseImmutable } from './retention/immutable-tags.ts'
import { appendMove, callTag, deleteTag, findTag, putTag, tagPage } from './tags.queries.ts'
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

/** How a line of the journal calls a tag. */
const calledTag = (name: string, tag: string): string => `${name}:${tag}`

/** A manifest, and by which of its digests a tag is to call it. */
export interface Tagged {
  readonly manifestId: string
  readonly algorithm: Algorithm
}

/**
 * Moves a tag to a manifest of its name; where it is there already, nothing is told. What it was at is kept for the
 * grace period. The caller's transaction has the lock of the repository. 409 `tag_immutable` for one that stays where
 * it is.
 */
export const setTag = async (
  tx: Transaction,
  image: ImageName,
  tag: string,
  { manifestId, algorithm }: Tagged,
  { actor, now }: Move,
): Promise<void> => {
  const before = await findTag(tx, image, tag)
  if (before?.manifest_id === manifestId) {
    if (before.algorithm !== algorithm) await callTag(tx, image, tag, algorithm)
    return
  }
  const { repository, name } = image
  if (before !== undefined) await refuseImmutable(tx, repository, tag)
  const move = { repository, name, tag, manifest_id: manifestId, moved_at: now, actor }
  await putTag(tx, { ...move, algorithm }, before === undefined)
  await appendMove(tx, { ...move, removed: 0 }, tagMovesMax)
  await settleKept(tx, before === undefined ? [manifestId] : [manifestId, before.manifest_id], now)
  await appendJournal(tx, {
    repository,
    action: 'tag.set',
    artifactId: manifestId,
    detail: calledTag(name, tag),
    actor,
    occurredAt: now,
  })
}

/** Takes a tag away; false where there is none. Lock and refusal as above. */
export const removeTag = async (
  tx: Transaction,
  image: ImageName,
  tag: string,
  { actor, now }: Move,
): Promise<boolean> => {
  const before = await findTag(tx, image, tag)
  if (before === undefined) return false
  const { repository, name } = image
  await refuseImmutable(tx, repository, tag)
  const { manifest_id } = before
  await deleteTag(tx, image, tag)
  await appendMove(tx, { repository, name, tag, manifest_id, removed: 1, moved_at: now, actor }, tagMovesMax)
  await settleKept(tx, [manifest_id], now)
  await tellOfRemoval(tx, image, tag, { manifestId: manifest_id, actor, now })
  return true
}

/** The line of the journal for a tag that is taken away. */
export const tellOfRemoval = (
  tx: Transaction,
  { repository, name }: ImageName,
  tag: string,
  { manifestId, actor, now }: Move & { readonly manifestId: string },
): Promise<void> =>
  appendJournal(tx, {
    repository,
    action: 'tag.remove',
    artifactId: manifestId,
    detail: calledTag(name, tag),
    actor,
    occurredAt: now,
  })

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
