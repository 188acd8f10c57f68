import type { Transaction } from '../../database/database.ts'
import { tagsCalledAfterMax } from '../../kernel/limits/oci.ts'
import { matchesPattern } from '../../kernel/wildcard-pattern.ts'
import { immutableTagsOf } from './retention/immutable-tags.ts'
import { tagsCalled } from './tags.queries.ts'
import { removeTag } from './tags.ts'
import { calledAfter } from './vocabulary.ts'

/** A manifest that goes. */
interface Going {
  readonly repository: string
  readonly name: string
  readonly digest: string
  readonly digest512: string | null
}

/**
 * Clients that know no referrers tag what belongs to a manifest after its digest: `sha256-<digits>.sig` is a signature
 * of it. Such tags go with the manifest, unless they are immutable. The caller's transaction has the lock of the
 * repository.
 */
export const removeTagsCalledAfter = async (
  tx: Transaction,
  { repository, name, digest, digest512 }: Going,
  by: { readonly actor: string; readonly now: string },
): Promise<void> => {
  for (const each of digest512 === null ? [digest] : [digest, digest512]) {
    const tags = await tagsCalled(tx, { repository, name }, calledAfter(each), tagsCalledAfterMax)
    const { patterns } = tags.length === 0 ? { patterns: [] } : await immutableTagsOf(tx, repository)
    for (const tag of tags)
      if (!patterns.some((pattern) => matchesPattern(pattern, tag))) await removeTag(tx, { repository, name }, tag, by)
  }
}
