import { installation } from '../../database/moving/installation.queries.ts'
import { BackupDamaged, type Room } from '../../features/operating/backups/data-files.ts'
import type { Manifest } from '../../features/operating/backups/manifest.ts'
import { noteRefusedRehearsal } from '../../features/operating/backups/rehearsals.ts'
import { newId } from '../../kernel/ids.ts'
import { VaultFailure } from '../../ports/vault.ts'
import type { Engines } from '../engines.ts'
import { PointUnclear } from '../restoring.ts'
import { withPoint } from './with-point.ts'

/**
 * Works on the point that is to be tried. Where nobody can say which is the newest, a restore of it would be refused as
 * well: the status of backups tells of it, and another day passes before it is tried again.
 */
export const withPointToTry = async <T>(
  engines: Engines,
  room: Room,
  wanted: string,
  work: (manifest: Manifest) => Promise<T>,
): Promise<T> => {
  const { identity } = await installation(engines.database.reader)
  let isChosen = false
  try {
    return await withPoint(room, wanted, identity, async (manifest) => {
      isChosen = true
      return await work(manifest)
    })
  } catch (error) {
    if (!isChosen && wanted === 'latest') await noteRefusedRehearsal(engines, newId(engines.clock.now()), codeOf(error))
    throw error
  }
}

const codeOf = (error: unknown): string => {
  if (error instanceof PointUnclear) return error.why
  if (error instanceof VaultFailure) return `vault_${error.trouble}`
  return error instanceof BackupDamaged ? `point_${error.code}` : 'restore_failed'
}
