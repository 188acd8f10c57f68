import type { Database, Transaction } from '../database/database.ts'
import { appendJournal } from '../journal/journal.ts'
import { appendStorageEvent } from '../journal/storage-events.ts'
import { type Clock, timestamp } from '../kernel/clock.ts'
import { type Sha256, toSha256 } from '../kernel/digest.ts'
import type { ReachFaultPoint } from '../kernel/fault-points.ts'
import { reclaimBatch, reclaimLeaseMs, reclaimRemovalsAtOnce } from '../kernel/limits.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import { heldBack, seemsHeldBack } from './holds.ts'
import {
  deleteBlob,
  deleteCandidate,
  deleteMarked,
  deleteNotes,
  isClaimed,
  isYounger,
  lockBlob,
  markReclaiming,
  nextCandidates,
  nextMarked,
  notesOf,
} from './reclaim.queries.ts'
import type { ReclaimMeter } from './reclaim-meter.ts'

export interface ReclaimParts {
  readonly database: Database
  readonly store: BlobStore
  readonly clock: Clock
  readonly reach: ReachFaultPoint
  readonly meter: ReclaimMeter
  readonly report: (message: string, error: unknown) => void
}

interface Marked {
  readonly digest: Sha256
  readonly bytes: number
}

/**
 * Removes bytes that nobody claims any more, online.
 *
 * Order: mark the blobs in a transaction that saw no claim (holding the lock that announcing takes too) -> remove the
 * bytes -> remove the rows, and tell the journals (I2, I4). A crash leaves marked blobs and their places in the queue, and
 * the next run repeats what is left. Whoever wants to store the same bytes meanwhile waits until the row is gone.
 *
 * Several processes may run this at once. The mark is a lease: until it lapses only its holder goes on, and a holder that
 * was held up for half of it leaves the bytes alone; the row goes with the mark of whoever set it last. Otherwise the
 * second to remove them could meet a later upload.
 *
 * While somebody holds it back (`holds.ts`) it ends what it began and marks nothing else.
 *
 * One call visits the whole queue once, a batch at a time, unless `stopping()`. Bytes that cannot be removed keep their
 * place in the queue and nobody else from theirs. Returns how many blobs went.
 */
export const reclaim = async (parts: ReclaimParts, stopping: () => boolean = () => false): Promise<number> => {
  let removed = 0
  const tally: Tally = new Map()
  const next = (await seemsHeldBack(parts)) ? nextMarked : nextCandidates
  for (let after = ''; !stopping(); ) {
    const digests = await next(parts.database.reader, after, reclaimBatch)
    removed += await reclaimTogether(parts, digests, tally)
    const last = digests.at(-1)
    if (last === undefined || digests.length < reclaimBatch) break
    after = last
  }
  await tellOperators(parts, tally)
  parts.meter.ran(parts.clock.now())
  return removed
}

/** Some digests, in order, which is the order of their locks. */
const reclaimTogether = async (parts: ReclaimParts, digests: readonly string[], tally: Tally): Promise<number> => {
  if (digests.length === 0) return 0
  const begunAt = performance.now()
  const mark = timestamp(parts.clock.now())
  const marked = await parts.database.transaction((tx) => markUnclaimed(tx, digests, mark, parts.clock.now()))
  parts.reach('reclaim.marked')
  const gone = await removeBytes(parts, marked, () => performance.now() - begunAt > reclaimLeaseMs / 2)
  parts.reach('reclaim.removed')
  if (gone.length === 0) return 0
  const told = await parts.database.transaction((tx) => forget(tx, gone, mark, timestamp(parts.clock.now())))
  for (const { bytes } of gone) parts.meter.removed(bytes)
  for (const note of told) count(tally, note)
  return gone.length
}

/** What went in the course of a run, by the repositories that held it last. */
type Tally = Map<string, { files: number; bytes: number }>

const count = (tally: Tally, { repository, bytes }: Told): void => {
  const sum = tally.get(repository) ?? { files: 0, bytes: 0 }
  tally.set(repository, { files: sum.files + 1, bytes: sum.bytes + bytes })
}

/** One event for each repository and run: a crash before it loses a summary, while the journal has every line. */
const tellOperators = async ({ database, clock }: ReclaimParts, tally: Tally): Promise<void> => {
  for (const [repository, { files, bytes }] of tally) {
    const details = { files, bytes: String(bytes) }
    const occurredAt = timestamp(clock.now())
    await database.transaction(
      (tx) => appendStorageEvent(tx, { repository, level: 'info', code: 'reclaim.finished', details, occurredAt }),
      { durability: 'relaxed' },
    )
  }
}

const markUnclaimed = async (
  tx: Transaction,
  digests: readonly string[],
  mark: string,
  nowMs: number,
): Promise<Marked[]> => {
  const marked: Marked[] = []
  const held = await heldBack(tx, nowMs)
  for (const digest of digests) {
    const blob = await lockBlob(tx, digest)
    if (blob === undefined || (await isClaimed(tx, digest))) {
      await deleteCandidate(tx, digest)
      continue
    }
    if (held && blob.state !== 'reclaiming') continue
    const leased = blob.state === 'reclaiming' && (await isYounger(tx, digest, timestamp(nowMs - reclaimLeaseMs)))
    if (leased) continue
    await markReclaiming(tx, digest, mark)
    marked.push({ digest: toSha256(digest), bytes: blob.size })
  }
  return marked
}

/** Some at a time. What fails stays marked, to be tried again when the mark has lapsed. */
const removeBytes = async (parts: ReclaimParts, marked: readonly Marked[], late: () => boolean): Promise<Marked[]> => {
  const gone: Marked[] = []
  const waiting = marked.values()
  const worker = async (): Promise<void> => {
    for (const blob of waiting) {
      if (late()) return
      try {
        await parts.store.delete(blob.digest)
        gone.push(blob)
      } catch (error) {
        parts.meter.failed()
        parts.report(`the bytes of ${blob.digest} could not be removed; they are tried again`, error)
      }
    }
  }
  await Promise.all(Array.from({ length: reclaimRemovalsAtOnce }, worker))
  return gone
}

/** A file whose bytes went, as a repository was told of it. */
interface Told {
  readonly repository: string
  readonly sha256: string
  /** What its bytes took; 0 where they are counted with another file of the repository. */
  readonly bytes: number
}

/** The rows go, and each repository that was the last to hold the bytes is told. */
const forget = async (
  tx: Transaction,
  gone: readonly Marked[],
  mark: string,
  occurredAt: string,
): Promise<readonly Told[]> => {
  const told: Told[] = []
  const sizes = new Map<string, number>(gone.map(({ digest, bytes }) => [digest, bytes]))
  // Journals before blobs: that is the order of locks everywhere.
  for (const note of await notesOf(tx, [...sizes.keys()])) {
    const bytes = sizes.get(note.sha256) ?? 0
    await appendJournal(tx, {
      repository: note.repository,
      action: 'bytes.reclaim',
      artifactId: note.artifact_id,
      detail: JSON.stringify({ sha256: note.sha256, size: String(bytes) }),
      actor: 'system:reclaim',
      occurredAt,
    })
    const { repository, sha256 } = note
    // Two files of the same content were stored once.
    const again = told.some((each) => each.repository === repository && each.sha256 === sha256)
    told.push({ repository, sha256, bytes: again ? 0 : bytes })
  }
  for (const { digest } of gone.toSorted((a, b) => (a.digest < b.digest ? -1 : 1))) {
    await lockBlob(tx, digest)
    // Whose mark it is decides, however long the removal took: another may be about to remove them once more.
    if (await deleteMarked(tx, digest, mark)) await deleteBlob(tx, digest)
    await deleteNotes(tx, digest)
  }
  return told
}
