import type { Database } from '../../../database/database.ts'
import { VaultFailure } from '../../../ports/vault.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { BackupDamaged, type Room } from './data-files.ts'
import { vaultIdentity } from './identity.ts'
import { pointOf, pointsFolder } from './layout.ts'
import { readManifest } from './manifest.ts'
import { givenUpPoints } from './points.queries.ts'
import { adoptPoint, forgetPointRows, pointsOfVault } from './points.ts'

/** Manifests that are of no use to this service, as they lay when they were read: they are read once. */
export type Useless = Map<VaultName, string>

/**
 * Looks at the vault: what it is called, how much room it has, and which points it holds. Rows follow what is there:
 * points of which nobody knew become known, and those that are gone are forgotten. Null where it does not answer.
 */
export const lookAtVault = async (
  { database, report }: { readonly database: Database; readonly report: (message: string, error: unknown) => void },
  room: Room,
  useless: Useless,
): Promise<{
  readonly id: string | null
  readonly freeBytes: number | null
  readonly totalBytes: number | null
} | null> => {
  try {
    // First: this fails where there is no place for a vault.
    const space = await room.vault.space()
    const id = await vaultIdentity(room.vault)
    if (id !== null) await followPoints(database, room, id, useless)
    return { id, freeBytes: space?.freeBytes ?? null, totalBytes: space?.totalBytes ?? null }
  } catch (error) {
    if (!(error instanceof VaultFailure)) throw error
    report('The vault of backups does not answer', error)
    return null
  }
}

const followPoints = async (database: Database, room: Room, vault: string, useless: Useless): Promise<void> => {
  const lying = new Set<VaultName>()
  const shown = (await pointsOfVault(database.reader, vault)).map(({ id }) => id)
  // What was given up stays known until the vault has it no more.
  const known = new Set([...shown, ...(await givenUpPoints(database.reader, vault))])
  for await (const { name, bytes, modifiedAtMs } of room.vault.list(pointsFolder)) {
    const id = pointOf(name)
    if (id === null || known.delete(id)) continue
    lying.add(name)
    const as = `${vault} ${bytes} ${modifiedAtMs}`
    if (useless.get(name) === as) continue
    useless.set(name, as)
    try {
      const manifest = await readManifest(room.vault, id)
      if (manifest.vault !== vault) continue
      await database.transaction((tx) => adoptPoint(tx, manifest))
    } catch (error) {
      // What cannot be read is no point that anybody could go back to.
      if (error instanceof BackupDamaged) continue
      useless.delete(name)
      throw error
    }
    useless.delete(name)
  }
  for (const name of useless.keys()) if (!lying.has(name)) useless.delete(name)
  if (known.size > 0) await database.transaction((tx) => forgetPointRows(tx, [...known]))
}
