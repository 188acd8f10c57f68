import { currentSchema, migrate } from '../database/migrate.ts'
import { migrations } from '../database/migrations/index.ts'
import { installation } from '../database/moving/installation.queries.ts'
import { beginAnew } from '../features/operating/backups/beginning-anew.ts'
import { BackupDamaged, type Room } from '../features/operating/backups/data-files.ts'
import { vaultIdentity } from '../features/operating/backups/identity.ts'
import { pointsIn } from '../features/operating/backups/lying.ts'
import { type Manifest, readManifest } from '../features/operating/backups/manifest.ts'
import { restorablePoint } from '../features/operating/backups/restore-point.ts'
import { revokeAll } from '../features/operating/backups/revoking.ts'
import type { Progress } from '../features/operating/moving/progress.ts'
import { type Restored, restore } from '../features/operating/moving/restore.ts'
import { Failure, invalid } from '../kernel/failure.ts'
import { shown } from '../kernel/shown.ts'
import type { Engines } from './engines.ts'
import { everyCheck } from './every-check.ts'
import { programVersion } from './version.ts'

/** The point that is meant by its id, by `latest`, or by a time: then the newest that is not younger. */
export const findPointFor = async (room: Room, wanted: string): Promise<Manifest> => {
  if ((await vaultIdentity(room.vault)) === null) throw invalid(room.vault.where, 'is no vault of backups')
  const atMs = Date.parse(wanted)
  if (wanted !== 'latest' && Number.isNaN(atMs)) return await readManifest(room.vault, wanted.toLowerCase())
  const found = (await pointsOf(room)).find(({ snapshotAt }) => wanted === 'latest' || Date.parse(snapshotAt) <= atMs)
  if (found !== undefined) return found
  throw invalid(room.vault.where, wanted === 'latest' ? 'holds no point' : `holds no point from before ${wanted}`)
}

/** The points of a vault, newest first. One whose manifest is damaged is none. */
export const pointsOf = async (room: Room): Promise<Manifest[]> => {
  const found: Manifest[] = []
  for await (const { id } of pointsIn(room)) {
    try {
      found.push(await readManifest(room.vault, id))
    } catch (error) {
      if (!(error instanceof BackupDamaged)) throw error
    }
  }
  return found.sort((a, b) => (a.snapshotAt > b.snapshotAt ? -1 : 1))
}

/** Refuses a point of a newer schema than this program knows. */
export const refuseNewerPoint = ({ schema, program }: Manifest): void => {
  if (schema > migrations.length)
    throw new Failure(
      'invalid_request',
      `The point was taken by svc ${shown(program)} with schema ${schema}; this is svc ${programVersion()}, which knows schema ${migrations.length} and older. Restore it with svc ${shown(program)} or newer.`,
    )
}

export interface RestoreWish {
  /** Whatever gave somebody access ends: sessions, tokens, keys and links. */
  readonly revokeAll: boolean
}

/**
 * Puts a point into the database and store of these engines, which are empty, or into which it was begun before. The
 * database has the schema of the point, and is brought to that of the program once its rows are there.
 */
export const restoreFrom = async (
  engines: Engines,
  room: Room,
  manifest: Manifest,
  wish: RestoreWish,
  progress: Progress,
): Promise<Restored> => {
  await refuseOtherSchema(engines, manifest)
  return await restore(
    restorablePoint(room, manifest),
    { ...engines, findings: () => everyCheck(engines) },
    progress,
    async () => {
      await migrate(engines.database, migrations)
      await beginAnew(engines)
      if (wish.revokeAll) await revokeAll(engines)
    },
  )
}

/** Rows go into tables of their own schema; only once all of them are there may it be another one. */
const refuseOtherSchema = async ({ database }: Engines, { schema, digest, tables }: Manifest): Promise<void> => {
  const found = await currentSchema(database)
  if (found === schema) return
  const { importing, imported_pieces } = await installation(database.reader)
  const pieces = tables.reduce((sum, { chunks }) => sum + chunks.length, 0)
  if (importing === digest && imported_pieces === pieces) return
  throw new Failure(
    'invalid_request',
    `The database has schema ${found}, the point has schema ${schema}. Begin with a new database, on which no service was started (SVC_DATABASE_URL).`,
  )
}
