import type { Database, Transaction } from '../../database/database.ts'
import { lockRepository } from '../../database/locks.ts'
import { imageLine } from '../../journal/repository/image-lines.ts'
import { appendJournal } from '../../journal/repository/journal.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import { markIfUnused } from './blobs.queries.ts'
import type { ImageScope } from './blobs.ts'
import { keptBy, settleKept } from './keeping.queries.ts'
import { deleteImageWithoutManifests, deleteManifestRows, findManifest } from './manifests.queries.ts'
import { imageKept, manifestUnknown } from './refusals.ts'
import { stagedAmong } from './staged.queries.ts'
import { tagsOf } from './tags.queries.ts'
import { removeTag } from './tags.ts'
import { type Digest, isTag } from './vocabulary.ts'

interface Deps {
  readonly database: Database
  readonly clock: Clock
}

type Scope = ImageScope & { readonly name: string }

/** A manifest that is to go. */
interface Unwanted {
  readonly id: string
  readonly repository: string
  readonly name: string
  readonly digest: string
  readonly digest512: string | null
  readonly blob_id: string
}

/** Tags that are taken away together. */
const tagsAtOnce = 1_000

/**
 * Takes a tag away. Its manifest and the tags beside it stay, and so does the line that tells where it was. 404 without
 * one.
 */
export const deleteTag = async ({ database, clock }: Deps, scope: Scope, tag: string): Promise<void> => {
  if (!isTag(tag)) throw manifestUnknown(tag.slice(0, 200))
  await database.transaction(async (tx) => {
    await lockRepository(tx, scope.repository)
    if (!(await removeTag(tx, scope, tag, { actor: scope.owner, now: timestamp(clock.now()) })))
      throw manifestUnknown(tag)
  })
}

/**
 * Deletes a manifest with its tags. What it listed and what refers to it stays for the grace period, unless something
 * else keeps it; blobs that it alone named are held as new ones are. 404 without one, 409 for one that has a stage.
 */
export const deleteManifest = ({ database, clock }: Deps, scope: Scope, digest: Digest): Promise<void> =>
  database.transaction(async (tx) => {
    const { repository, name, owner } = scope
    await lockRepository(tx, repository)
    const found = await findManifest(tx, scope, digest)
    if (found === undefined) throw manifestUnknown(digest.text)
    if ((await stagedAmong(tx, [found.id])).has(found.id))
      throw imageKept(`${digest.text} has a stage; take it from it first.`, { digest: digest.text })
    const now = timestamp(clock.now())
    await deleteRows(tx, { ...found, repository, name }, { actor: owner, now, since: now })
  })

/**
 * What deleting a manifest does, under the lock of its repository. `since` is since when what it alone kept is kept by
 * nothing.
 */
export const deleteRows = async (
  tx: Transaction,
  manifest: Unwanted,
  { actor, now, since }: { readonly actor: string; readonly now: string; readonly since: string },
): Promise<void> => {
  const { id, repository, name, digest, digest512 } = manifest
  for (let tags = await tagsOf(tx, id, tagsAtOnce); tags.length > 0; tags = await tagsOf(tx, id, tagsAtOnce))
    for (const tag of tags) await removeTag(tx, { repository, name }, tag, { actor, now })
  const kept = await keptBy(tx, { repository, name }, { id, digest, digest512 })
  const blobs = await deleteManifestRows(tx, manifest)
  await settleKept(tx, kept, since)
  await markIfUnused(tx, blobs, now)
  await deleteImageWithoutManifests(tx, { repository, name })
  await appendJournal(tx, {
    repository,
    action: 'image.delete',
    artifactId: id,
    detail: imageLine(name, digest512 ?? digest),
    actor,
    occurredAt: now,
  })
}
