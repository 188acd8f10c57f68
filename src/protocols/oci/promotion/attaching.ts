import type { Transaction } from '../../../database/database.ts'
import { findTag } from '../tags.queries.ts'
import { type ImageName, setTag } from '../tags.ts'
import type { Copied } from './copying.ts'
import type { SpeakingTag } from './gathering.queries.ts'

/**
 * Gives copies the tags by which they are attached to others. Where such a tag is there already it stays where it is:
 * the target has a signature of its own then. Answers those that are at the copy.
 */
export const attach = async (
  tx: Transaction,
  to: ImageName,
  { copies, attaching }: { readonly copies: readonly Copied[]; readonly attaching: readonly SpeakingTag[] },
  by: { readonly actor: string; readonly now: string },
): Promise<string[]> => {
  const copyOf = new Map(copies.map(({ source, id }) => [source.id, id]))
  const attached: string[] = []
  for (const { id, tag, algorithm } of attaching) {
    const manifestId = copyOf.get(id)
    if (manifestId === undefined) continue
    const there = await findTag(tx, to, tag)
    if (there === undefined) await setTag(tx, to, tag, { manifestId, algorithm }, by)
    if (there === undefined || there.manifest_id === manifestId) attached.push(tag)
  }
  return attached
}
