import type { Transaction } from '../../database/database.ts'
import { tagsCalledAfterAtOnce } from '../../kernel/limits/oci.ts'
import { matchesPattern } from '../../kernel/wildcard-pattern.ts'
import { immutableTagsOf } from './retention/immutable-tags.ts'
import { tagsCalled } from './tags.queries.ts'
import { removeTags } from './tags.ts'
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
 * of it. Such tags go with the manifest, unless they are immutable. Of very many some go at once: false where others
 * are left. The caller's transaction has the lock of the repository.
 */
export const removeTagsCalledAfter = async (
  tx: Transaction,
  { repository, name, digest, digest512 }: Going,
  by: { readonly actor: string; readonly now: string },
): Promise<boolean> => {
  for (const each of digest512 === null ? [digest] : [digest, digest512])
    for (let last = ''; ; ) {
      const called = await tagsCalled(tx, { repository, name }, calledAfter(each), last, tagsCalledAfterAtOnce)
      const { patterns } = called.length === 0 ? { patterns: [] } : await immutableTagsOf(tx, repository)
      const going = called.filter((tag) => !patterns.some((pattern) => matchesPattern(pattern, tag)))
      if (going.length > 0) await removeTags(tx, { repository, name }, going, by)
      if (called.length < tagsCalledAfterAtOnce) break
      if (going.length > 0) return false
      last = called.at(-1) ?? last
    }
  return true
}
