import type { Transaction } from '../../../database/database.ts'
import { keptKind } from '../../../features/lifecycle/policies/kept-kinds.ts'
import { tagsShownMax } from '../../../kernel/limits/lifecycle.ts'
import { tagsPerRemoval } from '../../../kernel/limits/oci.ts'
import { type ImageName, removeTagsOf } from '../tags.ts'
import { oldestTagsOf, tagsOfAfter } from './counted.queries.ts'
import { taggedImages } from './counted.ts'
import { judgeImages } from './judgement.ts'

/**
 * Images under a storage policy. To delete one is to take its tags away: nothing keeps its manifest then, so that it
 * stays for the grace period, in which a tag can be put back, and goes with what it lists, what refers to it and their
 * layers.
 */
export const keptImages = keptKind({
  name: 'images',
  counted: taggedImages,
  judge: judgeImages,
  tagsOf: (q, id) => tagsOfAfter(q, id, '', tagsShownMax),
  // Tags go under the lock of the repository alone.
  lock: async () => {},
  async take(tx, repository, going, by) {
    const became = new Map<string, 'deleted' | 'partly'>()
    let room = tagsPerRemoval
    for (const { id, group } of going) {
      if (room === 0) break
      const { taken, left } = await takeTagsAway(tx, { repository, name: group }, id, by, room)
      room -= taken
      became.set(id, left ? 'partly' : 'deleted')
    }
    return became
  },
})

/** Takes the tags of a manifest away, those first that came first: so long as some are left, its age stays. */
const takeTagsAway = async (
  tx: Transaction,
  image: ImageName,
  manifestId: string,
  by: { readonly actor: string; readonly now: string },
  room: number,
): Promise<{ readonly taken: number; readonly left: boolean }> => {
  const found = await oldestTagsOf(tx, manifestId, room + 1)
  const taken = found.slice(0, room)
  await removeTagsOf(tx, { ...image, id: manifestId }, taken, by)
  return { taken: taken.length, left: found.length > room }
}
