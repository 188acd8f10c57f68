import type { Database } from '../../../database/database.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { missingKeptMs } from '../../../kernel/limits/backups.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { BackupDamaged, type Room } from './data-files.ts'
import { vaultIdentity } from './identity.ts'
import { pointsIn } from './lying.ts'
import { readManifest } from './manifest.ts'
import { knownPoints, notePresence, type PointRow } from './points.queries.ts'
import { adoptPoint, forgetPointRows, isLying, lyingPoints, noteVerified } from './points.ts'
import { Structure } from './structure.ts'

/** Manifests that are of no use to this service, as they lay when they were read: they are read once. */
export type Useless = Map<VaultName, string>

interface LookDeps {
  readonly database: Database
  readonly clock: Clock
  readonly report: (message: string, error: unknown) => void
  /** Throws where whoever looks is to stop. */
  readonly goOn: () => void
}

/**
 * Looks at the vault: what it is called, how much room it has, and which points it holds. Rows follow what is there:
 * points of which nobody knew become known, and are looked at; those that are gone are so until they are back.
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
  if (id !== null) {
    await followPoints(deps, room, id, useless)
    await lookAtFound(deps, room, id)
  }
  return { id, freeBytes: space?.freeBytes ?? null, totalBytes: space?.totalBytes ?? null }
}

/** Rows follow what lies there. One whose manifest is away stays for a while: with it goes what is known of it. */
const followPoints = async (
  { database, clock, report, goOn }: LookDeps,
  room: Room,
  vault: string,
  useless: Useless,
): Promise<void> => {
  const lying = new Set<string>()
  const strange = new Set<VaultName>()
  const known = await knownPoints(database.reader, vault)
  const ids = new Set(known.map(({ id }) => id))
  for await (const { id, name, bytes, modifiedAtMs } of pointsIn(room, goOn)) {
    lying.add(id)
    if (ids.has(id)) continue
    strange.add(name)
    const as = `${vault} ${bytes} ${modifiedAtMs}`
    if (useless.get(name) === as) continue
    useless.set(name, as)
    goOn()
    try {
      const manifest = await readManifest(room.vault, id)
      if (manifest.vault !== vault) {
        report(
          'The vault of backups holds a point of another one, which is shown to nobody here',
          new Error(`${name} is of the vault ${manifest.vault}, and vault.json says ${vault}`),
        )
        continue
      }
      await database.transaction((tx) => adoptPoint(tx, manifest, clock.now()))
    } catch (error) {
      // What cannot be read is no point that anybody could go back to.
      if (error instanceof BackupDamaged) {
        report('The vault of backups holds a manifest that cannot be read', error)
        continue
      }
      useless.delete(name)
      throw error
    }
    useless.delete(name)
  }
  for (const name of useless.keys()) if (!strange.has(name)) useless.delete(name)
  await notePresenceOf(
    database,
    known.filter((point) => lying.has(point.id) !== isLying(point)),
    clock.now(),
  )
  await forgetMissing(database, known, clock.now())
}

/** Those that were there and are not, or are there again. */
const notePresenceOf = async (database: Database, changed: readonly PointRow[], nowMs: number): Promise<void> => {
  if (changed.length === 0) return
  const [gone, back] = [changed.filter(isLying), changed.filter((point) => !isLying(point))]
  await database.transaction(async (tx) => {
    const idsOf = (points: readonly PointRow[]): string[] => points.map(({ id }) => id)
    await notePresence(tx, idsOf(gone), timestamp(nowMs))
    await notePresence(tx, idsOf(back), null)
  })
}

const forgetMissing = async (database: Database, known: readonly PointRow[], nowMs: number): Promise<void> => {
  const old = timestamp(nowMs - missingKeptMs)
  const ids = known.filter(({ missing_since }) => missing_since !== null && missing_since < old).map(({ id }) => id)
  if (ids.length > 0) await database.transaction((tx) => forgetPointRows(tx, ids))
}

/**
 * Looks at those that were found whether all is there that they name: an agent may have died before it did, and what
 * was written late may name what was removed meanwhile.
 */
const lookAtFound = async ({ database, clock, goOn }: LookDeps, room: Room, vault: string): Promise<void> => {
  const structure = new Structure(room, goOn)
  for (const { id, verified_at } of await lyingPoints(database.reader, vault)) {
    if (verified_at !== null) continue
    const fault = await structure.faultOf(id)
    await database.transaction((tx) => noteVerified(tx, id, 'structural', fault, clock.now()))
  }
}
