import { CopyDamaged } from '../../../content/checks/copies.ts'
import { replaceRotten } from '../../../content/checks/replacing.ts'
import { tellOfHealing } from '../../../content/checks/scrub.ts'
import type { Database } from '../../../database/database.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import type { Sha256 } from '../../../kernel/digest.ts'
import type { ReachFaultPoint } from '../../../kernel/fault-points.ts'
import { healedKeptMs } from '../../../kernel/limits/backups.ts'
import type { BlobStore } from '../../../ports/blob-store.ts'
import { BackupDamaged, type Room } from './data-files.ts'
import { noteHealed } from './healing.queries.ts'
import type { Manifest } from './manifest.ts'
import { bytesInPoint } from './point-bytes.ts'

interface HealDeps {
  readonly database: Database
  readonly clock: Clock
  readonly store: Pick<BlobStore, 'stage'>
  readonly room: Room
  readonly reach: ReachFaultPoint
}

/** A stored blob that is not what it is called. */
export interface Rotten {
  readonly digest: Sha256
  readonly bytes: number
  readonly rot: string
}

/**
 * Brings rotten bytes back from the newest point that has them whole. Answers which came back; for the others no point
 * has them, or only as damaged.
 *
 * Order: verified bytes get their name (I3) -> the operators are told, and it is counted. A crash in between leaves
 * what is healed and was not told of.
 */
export const heal = async (
  deps: HealDeps,
  points: AsyncIterable<Manifest>,
  rotten: readonly Rotten[],
): Promise<ReadonlySet<string>> => {
  const left = new Map(rotten.map((each) => [each.digest as string, each]))
  const healed = new Set<string>()
  for await (const point of points) {
    if (left.size === 0) break
    try {
      for await (const { digest, pieces } of bytesInPoint(deps.room, point, new Set(left.keys()))) {
        const found = left.get(digest)
        if (found === undefined || !(await broughtBack(deps, found, pieces))) continue
        left.delete(digest)
        healed.add(digest)
      }
    } catch (error) {
      // Its lists cannot be read any further: an older point may tell.
      if (!(error instanceof BackupDamaged)) throw error
    }
  }
  return healed
}

const broughtBack = async (
  deps: HealDeps,
  { digest, bytes, rot }: Rotten,
  pieces: () => AsyncIterable<Uint8Array>,
): Promise<boolean> => {
  try {
    if (!(await replaceRotten(deps, { digest, bytes }, pieces))) return false
  } catch (error) {
    if (error instanceof CopyDamaged || error instanceof BackupDamaged) return false
    throw error
  }
  deps.reach('heal.placed')
  const nowMs = deps.clock.now()
  await deps.database.transaction((tx) =>
    noteHealed(tx, { sha256: digest, healed_at: timestamp(nowMs), finding: rot }, timestamp(nowMs - healedKeptMs)),
  )
  await tellOfHealing(deps, digest, rot)
  return true
}
