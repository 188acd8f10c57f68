import type { Transaction } from '../../../database/database.ts'
import { lockRepositories } from '../../../database/locks.ts'
import type { PromotionDeps } from '../../../features/lifecycle/promotion/promotion.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { notFound } from '../../../kernel/failure.ts'
import { type At, findAt, refersTo, refuseLongName } from '../lookup.ts'
import { manifestUnknown } from '../refusals.ts'
import { giveStages, type ImageStage } from '../stages/stages.ts'
import { findTag } from '../tags.queries.ts'
import { type ImageName, setTag } from '../tags.ts'
import { type Algorithm, toDigest } from '../vocabulary.ts'
import { attach } from './attaching.ts'
import { copyManifests } from './copying.ts'
import { gather } from './gathering.ts'
import { tagsLeaving, takeAway } from './moving.ts'
import { lastMoved } from './records.queries.ts'
import { tellOf } from './telling.ts'

/**
 * Promotion brings an image from one repository into another: its manifest, what that lists, the layers of all of them,
 * and what refers to them. The copy claims the same bytes, so that nothing is copied, and it has the same digests;
 * which is the copy of which needs no record, therefore. A move takes the tag and the stages along: what nothing else
 * keeps goes when the grace period is over, and can be tagged again until then. All of it is one transaction over both
 * repositories.
 */
/** An image by its tag or digest. */
export interface Source extends ImageName {
  readonly reference: string
}

export interface Promotion {
  readonly to: ImageName
  /** Tags that the copy gets, wherever they are. */
  readonly tags: readonly string[]
  readonly mode: 'copy' | 'move'
  readonly stages: readonly string[]
  readonly comment: string | null
}

export interface Promoted {
  readonly repository: string
  readonly image: string
  readonly digest: string
  readonly tags: string[]
  readonly sourceRepository: string
  readonly sourceImage: string
  readonly mode: 'copy' | 'move'
  /** Whether the copy came to be now. */
  readonly created: boolean
  /** How many manifests came to be now. */
  readonly manifests: number
  readonly stages: string[]
}

/**
 * Promotes an image. Repeating it answers the copy that is there; a move finds the one that was made before, also when
 * the source is gone. What is asked for and missing is done in any case: tags and stages are given, and what refers to
 * the image by now comes along. 404 for what is not there, unless it was moved just there; 409 `source_not_deletable`
 * for a move of what something else keeps, `image_incomplete`, `promotion_limit`, `stage_limit`; 507 `storage_quota`.
 */
export const promote = async (
  deps: PromotionDeps,
  source: Source,
  wanted: Promotion,
  actor: string,
): Promise<Promoted> => {
  refuseLongName(wanted.to)
  const promoted = await deps.database.transaction(async (tx) => {
    const { repository, name, reference } = source
    // Claims are not locked: under the lock of their repository none of them ends.
    const there = await lockRepositories(tx, [repository, wanted.to.repository])
    if (!there.has(repository) || !there.has(wanted.to.repository)) throw notFound('repository')
    const nowMs = deps.clock.now()
    const work = { tx, deps, source: { repository, name, reference }, wanted, actor, nowMs, now: timestamp(nowMs) }
    const found = await findAt(tx, source, reference)
    return found === null ? promotedBefore(work) : promoteFound(work, found)
  })
  deps.reach('image-promotion.committed')
  return promoted
}

interface Work {
  readonly tx: Transaction
  readonly deps: PromotionDeps
  readonly source: Source
  readonly wanted: Promotion
  readonly actor: string
  readonly nowMs: number
  readonly now: string
}

/** The tag by which an image was asked for; null where it was by its digest. */
const tagOf = ({ reference }: Source): string | null => (refersTo(reference).digest === null ? reference : null)

const promoteFound = async (work: Work, { manifest, called }: At): Promise<Promoted> => {
  const { tx, deps, source, wanted, actor, nowMs, now } = work
  const { to, mode, comment } = wanted
  const by = { actor, now }
  const tag = tagOf(source)
  const moved = { ...source, ...manifest, tags: tag === null ? wanted.tags : [tag, ...wanted.tags] }
  const leaving = mode === 'move' ? await tagsLeaving(tx, moved) : []
  const { id, digest, digest512 } = manifest
  const { manifests, attaching } = await gather(tx, source, { id, digest, digest512 })
  const copies = await copyManifests(tx, manifests, {
    ...{ from: source.repository, to, ...by, nowMs, capacityBytes: deps.capacityBytes },
    shared: () => deps.reach('image-promotion.shared'),
  })
  deps.reach('image-promotion.copied')
  await tellOf(tx, copies, { from: source, to, mode, comment, ...by, tag, leaving: leaving.length > 0 })
  const attached = await attach(tx, to, { copies, attaching }, by)
  const carried = mode === 'move' ? await takeAway(tx, moved, [...leaving, ...attached], by) : []
  const [copy] = copies
  if (copy === undefined) throw new Error(`the manifest ${id} is not among those that go along with it`)
  const came = copies.filter(({ created }) => created).length
  return giveTo(work, { id: copy.id, digest, called, created: copy.created, manifests: came }, wanted.tags, carried)
}

/** The answer to the move that took the tag away may have been lost. */
const promotedBefore = async (work: Work): Promise<Promoted> => {
  const { tx, source, wanted } = work
  const { digest } = refersTo(source.reference)
  const by = digest === null ? { tag: source.reference } : { digest }
  const copy = wanted.mode === 'move' ? await lastMoved(tx, source, by, wanted.to) : undefined
  if (copy === undefined) throw manifestUnknown(source.reference)
  const lacking: string[] = []
  for (const tag of wanted.tags) if ((await findTag(tx, wanted.to, tag))?.manifest_id !== copy.id) lacking.push(tag)
  const result = { id: copy.id, digest: copy.digest, called: digest?.text ?? copy.digest, created: false, manifests: 0 }
  return giveTo(work, result, lacking, [])
}

interface Result {
  readonly id: string
  readonly digest: string
  /** The digest by which it was asked for. */
  readonly called: string
  readonly created: boolean
  readonly manifests: number
}

/** The copy gets its tags, the stages that come along, and those asked for that it lacks then. */
const giveTo = async (
  { tx, deps, source, wanted, actor, now }: Work,
  { id, digest, called, created, manifests }: Result,
  tags: readonly string[],
  carried: readonly ImageStage[],
): Promise<Promoted> => {
  const { to, mode, comment } = wanted
  const algorithm: Algorithm = toDigest(called).algorithm
  for (const tag of tags) await setTag(tx, to, tag, { manifestId: id, algorithm }, { actor, now })
  const asked = wanted.stages.map((stage) => ({ stage, promotedAt: now, actor, comment }))
  const lacking = asked.filter(({ stage }) => carried.every((entry) => entry.stage !== stage))
  const stages = await giveStages(tx, { id, ...to, digest }, [...carried, ...lacking], { actor, now })
  deps.reach('image-promotion.told')
  return {
    repository: to.repository,
    image: to.name,
    digest: called,
    tags: [...wanted.tags],
    sourceRepository: source.repository,
    sourceImage: source.name,
    mode,
    created,
    manifests,
    stages: stages.map(({ stage }) => stage),
  }
}
