import { lockLive } from '../../../content/claims/claims.ts'
import { keptKind } from '../../../features/lifecycle/policies/kept-kinds.ts'
import { tagsShownMax } from '../../../kernel/limits/lifecycle.ts'
import { deprecationsOf, findPackage } from '../changing.queries.ts'
import { settlePackage } from '../packages.ts'
import { removeVersions } from '../unpublishing.ts'
import { publishedVersions, tagsOfEach } from './counted.ts'
import { judgeNpmVersions } from './judgement.ts'

/**
 * npm versions under a storage policy. To delete one is to unpublish it: it can be brought back while the grace period
 * lasts, and its number is never given again.
 */
export const keptNpmVersions = keptKind({
  name: 'npmVersions',
  counted: publishedVersions,
  judge: judgeNpmVersions,
  tagsOf: async (q, id) => ((await tagsOfEach(q, [id])).get(id) ?? []).slice(0, tagsShownMax),
  async lock(tx, things) {
    for (const id of things.map((thing) => thing.id).toSorted()) await lockLive(tx, id)
  },
  async take(tx, repository, going, change) {
    for (const [name, ids] of Map.groupBy(going, ({ group }) => group)) {
      const here = { repository, name, owner: change.actor }
      const found = await findPackage(tx, here)
      if (found === undefined) continue
      const live = await deprecationsOf(tx, found.id)
      const wanted = new Set(ids.map(({ id }) => id))
      const split = {
        going: live.filter(({ id }) => wanted.has(id)),
        staying: live.filter(({ id }) => !wanted.has(id)),
      }
      await removeVersions(tx, here, found.id, split, change)
      await settlePackage(tx, found.id, change)
    }
    return new Map(going.map(({ id }) => [id, 'deleted'] as const))
  },
})
