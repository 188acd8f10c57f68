import type { Transaction } from '../../../database/database.ts'
import { Failure } from '../../../kernel/failure.ts'
import { keptByManifests } from '../keeping.queries.ts'
import { type ImageStage, type StagedManifest, takeStages } from '../stages/stages.ts'
import { tagsOf } from '../tags.queries.ts'
import { removeTag } from '../tags.ts'

/** A manifest that is moved elsewhere. */
interface Leaving extends StagedManifest {
  /** Tags that do not keep it: the one by which it was asked for, and those that its copy gets. */
  readonly tags: readonly string[]
}

/**
 * Those of the tags that are at a manifest which is to move. Refuses what something else keeps: another tag, an index
 * that lists it, or what it refers to. Stages do not: they go along. 409 `source_not_deletable`.
 */
export const tagsLeaving = async (tx: Transaction, { id, tags }: Leaving): Promise<readonly string[]> => {
  const there = await tagsOf(tx, id, tags.length + 1)
  const kept = [
    ...there.filter((tag) => !tags.includes(tag)).map((tag) => `the tag ${tag}`),
    ...((await keptByManifests(tx, id)) ? ['an index that lists it, or an image that it refers to'] : []),
  ]
  if (kept.length > 0)
    throw new Failure(
      'source_not_deletable',
      `The source is kept by ${kept.join(', and by ')}. Copy it, or end what keeps it first.`,
    )
  return there
}

/**
 * Takes tags and all stages from a manifest, so that nothing keeps it any more: it stays for the grace period. Answers
 * the stages.
 */
export const takeAway = async (
  tx: Transaction,
  manifest: StagedManifest,
  tags: readonly string[],
  by: { readonly actor: string; readonly now: string },
): Promise<ImageStage[]> => {
  for (const tag of tags) await removeTag(tx, manifest, tag, by)
  return takeStages(tx, manifest, by)
}
