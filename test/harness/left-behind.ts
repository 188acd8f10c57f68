import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { release, retire } from '../../src/content/claims/claims.ts'
import { reclaim } from '../../src/content/reclaim/reclaim.ts'
import type { Transaction } from '../../src/database/database.ts'
import { openRawTransfer, type RawTransfer } from '../../src/features/transfers/whole/raw-transfer.ts'
import { timestamp } from '../../src/kernel/clock.ts'
import { toSha256 } from '../../src/kernel/digest.ts'
import { unplanned } from '../../src/ports/blob-store.ts'
import type { TestEngine } from './engines.ts'
import { digestOf, forgetFile } from './inspection.ts'
import { maxObjectBytes, type StorageSite } from './storage-site.ts'
import { transferDeps } from './transfer-deps.ts'
import { until } from './until.ts'

/** What is left in a site for upkeep: by files that go, and by processes that died. */
export const leftBehind = (engine: TestEngine, site: StorageSite) => {
  /** Ends the claim of what was published, its grace period included. */
  const letGo = async (tx: Transaction, id: string): Promise<void> => {
    const now = timestamp(site.service.clock.now())
    await retire(tx, id, now)
    await release(tx, id, now)
  }
  /** Deletes the file at a path, as deleting will do it: holder and claim go together. */
  const drop = (path: string): Promise<void> =>
    site.inspection.database.transaction(async (tx) => {
      const { artifact_id } = await tx
        .selectFrom('assets')
        .select('artifact_id')
        .where('path', '=', path)
        .executeTakeFirstOrThrow()
      await tx.deleteFrom('assets').where('path', '=', path).execute()
      await tx.deleteFrom('asset_revisions').where('path', '=', path).execute()
      await forgetFile(tx, artifact_id)
      await letGo(tx, artifact_id)
    })
  const reclaimOnce = (): Promise<number> => reclaim(site.inspection)
  /** What a process leaves that dies while a file comes in. */
  const plantTransfer = async (bytes: number): Promise<RawTransfer> => {
    const scope = { repository: 'releases', owner: `account:${site.owner.id}` }
    const digest = toSha256(digestOf(site.fresh('planted')))
    const transfer = await openRawTransfer(transferDeps(site.service, site.inspection, maxObjectBytes), scope, {
      kind: 'artifact',
      name: 'planted',
      bytes,
      digest,
    })
    await plantStaged(transfer.holder)
    return transfer
  }
  const plantStaged = async (id: string, modifiedAgoMs = 0): Promise<void> => {
    const staged = await site.inspection.store.stage(id, unplanned)
    await staged.write(Buffer.from('half of it'))
    engine.use({ [Symbol.asyncDispose]: () => staged.discard() })
    const [name = ''] = await until('it is staged', async () => {
      const names = (await site.inspection.staged()).filter((each) => each.includes(id))
      return names.length === 1 && names
    })
    // As old as the clock of the service says, which the tests turn forward.
    const seconds = (site.service.clock.now() - modifiedAgoMs) / 1000
    await utimes(join(site.service.dataDir, 'staging', name), seconds, seconds)
  }
  const stagedOf = async (id: string): Promise<number> =>
    (await site.inspection.staged()).filter((name) => name.includes(id)).length
  return { letGo, drop, reclaimOnce, plantTransfer, plantStaged, stagedOf }
}
