import type { Database, Transaction } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { notFound } from '../../../kernel/failure.ts'
import type { ImageScope } from '../blobs.ts'
import { findManifest, findTagged } from '../manifests.queries.ts'
import { manifestUnknown } from '../refusals.ts'
import { refuseElsewhere, setTag } from '../tags.ts'
import type { Digest } from '../vocabulary.ts'
import { tagRows } from './tags.queries.ts'
import { type Tag, toTags } from './tags.ts'

interface Wanted {
  readonly tag: string
  readonly digest: Digest
  /** The tag is moved from there alone; null: it must not be there. Undefined: from wherever it is. */
  readonly expected: string | null | undefined
}

/**
 * Moves a tag to a manifest of its image that is kept, as a push under that tag does, or puts it back. 404 for a
 * manifest that is not here, 409 `revision_mismatch` for a tag that is not where it was expected, and what
 * {@link setTag} throws.
 */
export const moveTag = (
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  scope: ImageScope & { readonly name: string },
  { tag, digest, expected }: Wanted,
): Promise<Tag> =>
  database.transaction(async (tx: Transaction) => {
    if (!(await lockRepository(tx, scope.repository))) throw notFound('repository')
    const manifest = await findManifest(tx, scope, digest)
    if (manifest === undefined) throw manifestUnknown(digest.text)
    refuseElsewhere(tag, await findTagged(tx, scope, tag), expected)
    const tagged = { manifestId: manifest.id, algorithm: digest.algorithm }
    await setTag(tx, scope, tag, tagged, { actor: scope.owner, now: timestamp(clock.now()) })
    const [set] = await toTags(tx, await tagRows(tx, scope, tag))
    if (set === undefined) throw new Error('a tag that was set is not there')
    return set
  })
