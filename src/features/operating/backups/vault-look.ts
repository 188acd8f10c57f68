import type { Database } from '../../../database/database.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { BackupDamaged, type Room } from './data-files.ts'
import { vaultIdentity } from './identity.ts'
import { pointsIn } from './lying.ts'
import { readManifest } from './manifest.ts'
import { givenUpPoints } from './points.queries.ts'
import { adoptPoint, forgetPointRows, pointsOfVault } from './points.ts'

/** Manifests that are of no use to this service, as they lay when they were read: they are read once. */
export type Useless = Map<VaultName, string>

interface LookDeps {
  readonly database: Database
  /** Throws where whoever looks is to stop. */
  readonly goOn: () => void
}

/**
 * Looks at the vault: what it is called, how much room it has, and which points it holds. Rows follow what is there:
 * points of which nobody knew become known, and those that are gone are forgotten.
 */
export const lookAtVault = async (
  deps: LookDeps,
  room: Room,
  useless: Useless,
): Promise<{
  readonly id: string | null
  readonly freeBytes: number | null
  readonly totalBytes: number | null
}> => {
  // First: this fails where there is no place for a vault.
  const space = await room.vault.space()
  const id = await vaultIdentity(room.vault)
  if (id !== null) await followPoints(deps, room, id, useless)
  return { id, freeBytes: space?.freeBytes ?? null, totalBytes: space?.totalBytes ?? null }
}

const followPoints = async (
  { database, goOn }: LookDeps,
  room: Room,
  vault: string,
  useless: Useless,
): Promise<void> => {
  const lying = new Set<VaultName>()
  const shown = (await pointsOfVault(database.reader, vault)).map(({ id }) => id)
  // What was given up stays known until the vault has it no more.
  const known = new Set([...shown, ...(await givenUpPoints(database.reader, vault))])
  for await (const { id, name, bytes, modifiedAtMs } of pointsIn(room, goOn)) {
    if (known.delete(id)) continue
    lying.add(name)
    const as = `${vault} ${bytes} ${modifiedAtMs}`
    if (useless.get(name) === as) continue
    useless.set(name, as)
    goOn()
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
