import type { Database, Transaction } from '../../database/database.ts'
import { lockRepository } from '../../database/locks.ts'
import { imageLine } from '../../journal/repository/image-lines.ts'
import { appendJournal } from '../../journal/repository/journal.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import type { ReachFaultPoint } from '../../kernel/fault-points.ts'
import { markIfUnused } from './blobs.queries.ts'
import type { ImageScope } from './blobs.ts'
import { removeTagsCalledAfter } from './called-after.ts'
import { keptBy, settleKept } from './keeping.queries.ts'
import { deleteImageWithoutManifests, deleteManifestRows, findManifest, findTagged } from './manifests.queries.ts'
import { imageKept, manifestUnknown } from './refusals.ts'
import { refuseImmutable } from './retention/immutable-tags.ts'
import { stagedAmong } from './staged.queries.ts'
import { deleteTagsOf, tagsOf } from './tags.queries.ts'
import { refuseElsewhere, removeTag, removeTagsOf, tellOfTags } from './tags.ts'
import { type Digest, isTag } from './vocabulary.ts'

interface Deps {
  readonly database: Database
  readonly clock: Clock
}

export interface DeletingDeps extends Deps {
  readonly reach: ReachFaultPoint
}

/** A manifest that is to go. */
interface Unwanted {
  readonly id: string
  readonly repository: string
  readonly name: string
  readonly digest: string
  readonly digest512: string | null
  readonly blob_id: string
}

/** Tags that are taken away by one transaction, so that others who change the repository do not wait long for it. */
const tagsAtOnce = 500

/**
 * Takes a tag away. Its manifest and the tags beside it stay, and so does the line that tells where it was. 404 without
 * one, 409 `revision_mismatch` for one that is not at the digest where it was expected.
 */
export const deleteTag = async (
  { database, clock }: Deps,
  scope: ImageScope,
  tag: string,
  expected?: string,
): Promise<void> => {
  if (!isTag(tag)) throw manifestUnknown(tag.slice(0, 200))
  await database.transaction(async (tx) => {
    await lockRepository(tx, scope.repository)
    const there = await findTagged(tx, scope, tag)
    if (there === undefined) throw manifestUnknown(tag)
    refuseElsewhere(tag, there, expected)
    await removeTag(tx, scope, tag, { actor: scope.owner, now: timestamp(clock.now()) })
  })
}

/**
 * Deletes a manifest with its tags, and those that are called after it. What it listed and what refers to it stays for
 * the grace period, unless something else keeps it; blobs that it alone named are held as new ones are. 404 without
 * one, 409 for one that has a stage or a tag that stays where it is.
 *
 * Of very many tags some go before it does, in transactions of their own. Whoever dies in between leaves a manifest
 * with fewer tags; the next try goes on.
 */
export const deleteManifest = async (deps: DeletingDeps, scope: ImageScope, digest: Digest): Promise<void> => {
  let told = await deleteSome(deps, scope, digest, refuseKept)
  if (told === 'unknown') throw manifestUnknown(digest.text)
  while (told === 'fewer tags') {
    deps.reach('image.untagged')
    told = await deleteSome(deps, scope, digest, refuseStaged)
  }
}

const refuseStaged = async (tx: Transaction, { id, digest }: Unwanted): Promise<void> => {
  if ((await stagedAmong(tx, [id])).has(id))
    throw imageKept(`${digest} has a stage; take it from it first.`, { digest })
}

/** Looks at all tags before the first of them goes. */
const refuseKept = async (tx: Transaction, manifest: Unwanted): Promise<void> => {
  await refuseStaged(tx, manifest)
  for (let tags = await tagsOf(tx, manifest.id, tagsAtOnce); ; ) {
    await refuseImmutable(tx, manifest.repository, tags)
    if (tags.length < tagsAtOnce) return
    tags = await tagsOf(tx, manifest.id, tagsAtOnce, tags.at(-1))
  }
}

const deleteSome = (
  { database, clock }: Deps,
  { repository, name, owner }: ImageScope,
  digest: Digest,
  refuse: (tx: Transaction, manifest: Unwanted) => Promise<void>,
): Promise<'gone' | 'fewer tags' | 'unknown'> =>
  database.transaction(async (tx) => {
    await lockRepository(tx, repository)
    const found = await findManifest(tx, { repository, name }, digest)
    if (found === undefined) return 'unknown'
    const manifest = { ...found, repository, name }
    await refuse(tx, manifest)
    const now = timestamp(clock.now())
    const tags = await tagsOf(tx, found.id, tagsAtOnce)
    await refuseImmutable(tx, repository, tags)
    if (tags.length < tagsAtOnce)
      return (await deleteRows(tx, manifest, { actor: owner, now, since: now })) ? 'gone' : 'fewer tags'
    await removeTagsOf(tx, manifest, tags, { actor: owner, now })
    return 'fewer tags'
  })

/**
 * What deleting a manifest does, under the lock of its repository. `since` is since when what it alone kept is kept by
 * nothing. False where very many tags are called after it: then some of these went, and it is there still.
 */
export const deleteRows = async (
  tx: Transaction,
  manifest: Unwanted,
  { actor, now, since }: { readonly actor: string; readonly now: string; readonly since: string },
): Promise<boolean> => {
  const { id, repository, name, digest, digest512 } = manifest
  if (!(await removeTagsCalledAfter(tx, manifest, { actor, now }))) return false
  for (let tags = await tagsOf(tx, id, tagsAtOnce); tags.length > 0; tags = await tagsOf(tx, id, tagsAtOnce)) {
    // Of their moves there is nothing to write down: they go with the manifest.
    await deleteTagsOf(tx, manifest, tags)
    await tellOfTags(tx, manifest, tags, 'tag.remove', { manifestId: id, actor, now })
  }
  const kept = await keptBy(tx, { repository, name }, [{ id, digest, digest512 }])
  const blobs = await deleteManifestRows(tx, manifest)
  await settleKept(tx, kept, since)
  await markIfUnused(tx, blobs, now)
  await deleteImageWithoutManifests(tx, { repository, name })
  await appendJournal(tx, {
    repository,
    action: 'image.delete',
    artifactId: id,
    detail: imageLine(name, digest),
    actor,
    occurredAt: now,
  })
  return true
}
