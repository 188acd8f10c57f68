import { currentSchema, migrate } from '../database/migrate.ts'
import { migrations } from '../database/migrations/index.ts'
import { installation } from '../database/moving/installation.queries.ts'
import { beginAnew } from '../features/operating/backups/beginning-anew.ts'
import { BackupDamaged, type Room } from '../features/operating/backups/data-files.ts'
import { vaultIdentity } from '../features/operating/backups/identity.ts'
import { pointOf } from '../features/operating/backups/layout.ts'
import { pointsIn } from '../features/operating/backups/lying.ts'
import { type Manifest, readManifest } from '../features/operating/backups/manifest.ts'
import { restorablePoint } from '../features/operating/backups/restore-point.ts'
import { revokeAll } from '../features/operating/backups/revoking.ts'
import type { Progress } from '../features/operating/moving/progress.ts'
import { type Restored, restore } from '../features/operating/moving/restore.ts'
import { Failure, invalid } from '../kernel/failure.ts'
import { shown } from '../kernel/shown.ts'
import type { VaultName } from '../ports/vault-name.ts'
import type { Engines } from './engines.ts'
import { everyCheck } from './every-check.ts'
import { programVersion } from './version.ts'

/** Nobody can say which point is meant by a time, or by `latest`. */
export class PointUnclear extends Failure {
  readonly why: 'point_unreadable' | 'points_of_several'
  constructor(why: PointUnclear['why'], detail: string) {
    super(why === 'point_unreadable' ? why : 'invalid_request', detail)
    this.why = why
  }
}

/** What a manifest says in short. */
interface PointInShort extends Pick<Manifest, 'id' | 'vault' | 'snapshotAt' | 'source' | 'blobs'> {
  readonly rows: number
}

/** What lies in a vault: its points, newest first, and those of which the manifest cannot be read. */
export interface LyingPoints {
  readonly points: readonly PointInShort[]
  readonly unreadable: readonly BackupDamaged[]
}

/** Reads one manifest after another, and keeps none of them. */
export const pointsOf = async (room: Room): Promise<LyingPoints> => {
  const points: PointInShort[] = []
  const unreadable: BackupDamaged[] = []
  for await (const { id } of pointsIn(room)) {
    try {
      const { vault, snapshotAt, source, blobs, tables } = await readManifest(room.vault, id)
      points.push({ id, vault, snapshotAt, source, blobs, rows: tables.reduce((sum, { rows }) => sum + rows, 0) })
    } catch (error) {
      if (!(error instanceof BackupDamaged)) throw error
      unreadable.push(error)
    }
  }
  return { points: points.sort((a, b) => (a.snapshotAt > b.snapshotAt ? -1 : 1)), unreadable }
}

/** The manifests that can be read, newest first. */
export async function* manifestsOf(room: Room): AsyncGenerator<Manifest> {
  for (const { id } of (await pointsOf(room)).points) yield await readManifest(room.vault, id)
}

/**
 * The point that is meant by its id, by `latest`, or by a time: then the newest that is not younger. `of`: the database
 * whose points are meant, where it is known and has some. Refuses to guess.
 */
export const findPointFor = async (room: Room, wanted: string, of: string | null = null): Promise<Manifest> => {
  const { where } = room.vault
  // First: this fails where there is no place for a vault, such as a disk that is not mounted.
  await room.vault.space()
  if ((await vaultIdentity(room.vault)) === null) throw invalid(where, 'is no vault of backups')
  const atMs = wanted === 'latest' ? Number.POSITIVE_INFINITY : Date.parse(wanted)
  if (Number.isNaN(atMs)) return await pointOfId(room, wanted.toLowerCase())
  const { points, unreadable } = await pointsOf(room)
  const own = points.filter(({ source }) => source === of)
  const among = own.length > 0 ? own : points
  const found = among.find(({ snapshotAt }) => Date.parse(snapshotAt) <= atMs)
  const until = wanted === 'latest' ? '' : ` from before ${wanted}`
  const lost = unreadable.find(({ file }) => isBetween(file, Date.parse(found?.snapshotAt ?? ''), atMs))
  if (lost !== undefined)
    throw new PointUnclear(
      'point_unreadable',
      `A newer point cannot be read: ${lost.message}. ${found === undefined ? `${where} holds no other${until}.` : `The newest that can${until} is ${found.id} of ${found.snapshotAt}: name it, if it will do.`}`,
    )
  if (found === undefined) throw invalid(where, `holds no point${until}`)
  const other = otherAtTheSameTime(among, found)
  if (other !== null)
    throw new PointUnclear(
      'points_of_several',
      `${where} holds points of more than one service. The newest${until} are ${found.id} of ${found.snapshotAt}, with ${found.blobs.count} files, and ${other.id} of ${other.snapshotAt}, with ${other.blobs.count} files: name one of them. svc backup points lists all.`,
    )
  return await readManifest(room.vault, found.id)
}

const pointOfId = async (room: Room, id: string): Promise<Manifest> => {
  try {
    return await readManifest(room.vault, id)
  } catch (error) {
    if (!(error instanceof BackupDamaged && error.code === 'missing') && !(error instanceof RangeError)) throw error
    throw invalid(room.vault.where, `holds no point ${shown(id)}: say latest, a time, or an id of svc backup points`)
  }
}

/**
 * The newest point of another database, where both took points at the same time. Where one began after the other had
 * ended it has taken its place, as a restored service does.
 */
const otherAtTheSameTime = (newestFirst: readonly PointInShort[], found: PointInShort): PointInShort | null => {
  const first = newestFirst.findLast(({ source }) => source === found.source)
  const other = newestFirst.find(({ source, snapshotAt }) => source !== found.source && snapshotAt <= found.snapshotAt)
  return first !== undefined && other !== undefined && other.snapshotAt > first.snapshotAt ? other : null
}

/** Whether a point may be of a time, as far as its id tells when it was asked for. */
const isBetween = (file: VaultName, fromMs: number, toMs: number): boolean => {
  const id = pointOf(file)?.replaceAll('-', '') ?? ''
  if (id[12] !== '7') return false
  const atMs = Number.parseInt(id.slice(0, 12), 16)
  return !(atMs < fromMs) && atMs <= toMs
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
