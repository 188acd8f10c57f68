import type { Database, Transaction } from '../../database/database.ts'
import { appendJournal } from '../../journal/repository/journal.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import type { ReachFaultPoint } from '../../kernel/fault-points.ts'
import {
  reclaimBatch,
  removalPatienceMs,
  removalPauseFirstMs,
  removalPauseLongestMs,
  removalsAtOnce,
} from '../../kernel/limits/upkeep.ts'
import type { Timers } from '../../kernel/timers.ts'
import { type BlobName, digestOfName, toBlobName } from '../../ports/blob-name.ts'
import type { BlobStore } from '../../ports/blob-store.ts'
import type { ReclaimMeter } from './reclaim-meter.ts'
import {
  deleteNotes,
  deleteRemoval,
  dueRemovals,
  lockRemoval,
  notesOf,
  putOff,
  type Removal,
} from './removal.queries.ts'

/**
 * Removes bytes that no row refers to, as often as it takes.
 *
 * A removal is a row with the name of bytes that were given up, made in the transaction that took the blob's own row
 * away. Nobody gets that name again, so nothing here needs a lease: any number of processes may remove the same bytes
 * at once, one that hangs or was killed may get round to it hours later, and none of them can meet what was stored
 * since.
 *
 * Order: the row -> the bytes -> the row goes, and the journals are told, by whoever deletes it (I2, I4). Before a try
 * the next one is put off, longer each time, so that a crash, a failure and a hang are one case: it is tried again.
 * What fails for good holds up nobody but itself.
 */
export interface RemovalDeps {
  readonly database: Database
  readonly store: BlobStore
  readonly clock: Clock
  readonly timers: Timers
  readonly reach: ReachFaultPoint
  readonly meter: ReclaimMeter
  readonly report: (message: string, error: unknown) => void
}

/** A file whose bytes went, as a repository was told of it. */
interface Told {
  readonly repository: string
  /** What its bytes took; 0 where they are counted with another file of the repository. */
  readonly bytes: number
}

/** When the next try may begin, after so many. */
export const nextTry = (nowMs: number, tries: number): string =>
  timestamp(nowMs + Math.min(removalPauseFirstMs * 2 ** (tries - 1), removalPauseLongestMs))

/** Goes through all removals whose time has come, a batch at a time. */
export async function* removeDue(deps: RemovalDeps, stopping: () => boolean): AsyncGenerator<Removed> {
  while (!stopping() && deps.meter.removing.size < removalsAtOnce) {
    const taken = await take(deps)
    yield await remove(deps, taken)
    if (taken.length < reclaimBatch) return
  }
}

/**
 * Puts the next try of each off, so that others leave them alone meanwhile; that is courtesy, nothing depends on it.
 * When it is back, the removals are durable, whoever made them: a power cut must not bring rows back whose bytes are
 * gone (I2).
 */
const take = async ({ database, clock }: RemovalDeps): Promise<Removal[]> => {
  const nowMs = clock.now()
  const [now, beyond] = [timestamp(nowMs), timestamp(nowMs + 2 * removalPauseLongestMs)]
  const names = await dueRemovals(database.reader, now, beyond, reclaimBatch)
  return names.length === 0
    ? []
    : database.transaction(async (tx) => {
        const taken: Removal[] = []
        for (const name of names.toSorted()) {
          const row = await lockRemoval(tx, name)
          if (row === undefined || (row.due_at > now && row.due_at <= beyond)) continue
          const tries = row.tries + 1
          await putOff(tx, { name, tries, due_at: nextTry(nowMs, tries) })
          taken.push(row)
        }
        return taken
      })
}

export interface Removed {
  readonly blobs: number
  readonly told: readonly Told[]
}

/** Removes the bytes of some removals, and settles those that are done. */
export const remove = async (deps: RemovalDeps, removals: readonly Removal[]): Promise<Removed> => {
  const gone = await removeBytes(deps, removals)
  deps.reach('reclaim.removed')
  if (gone.length === 0) return { blobs: 0, told: [] }
  try {
    return await settleTogether(deps, gone)
  } catch (error) {
    if (gone.length === 1) return unsettled(deps, gone, error)
  }
  // One of them cannot be settled: the others are.
  const all: { blobs: number; told: Told[] } = { blobs: 0, told: [] }
  for (const removal of gone) {
    const one = await settleTogether(deps, [removal]).catch((error) => unsettled(deps, [removal], error))
    all.blobs += one.blobs
    all.told.push(...one.told)
  }
  return all
}

const unsettled = ({ meter, report }: RemovalDeps, [removal]: readonly Removal[], error: unknown): Removed => {
  meter.failed()
  report(`the removal of ${removal?.name} could not be told of; it is tried again`, error)
  return { blobs: 0, told: [] }
}

const settleTogether = async (deps: RemovalDeps, gone: readonly Removal[]): Promise<Removed> => {
  const { settled, told } = await deps.database.transaction((tx) => settle(tx, gone, timestamp(deps.clock.now())))
  for (const { size } of settled) deps.meter.removed(size)
  return { blobs: settled.length, told }
}

/**
 * Some at a time. One that does not end in time is left behind, and while it hangs, this process neither begins it
 * again nor has its place for another: what hangs for good takes a bounded part of the file system's threads.
 */
const removeBytes = async (deps: RemovalDeps, removals: readonly Removal[]): Promise<Removal[]> => {
  const { store, meter, report } = deps
  const gone: Removal[] = []
  const waiting = removals.values()
  const oneByOne = async (): Promise<void> => {
    for (const removal of waiting) {
      const name = toBlobName(removal.name)
      if (meter.removing.has(name)) continue
      try {
        if (!(await inTime(deps, name, store.delete(name)))) {
          meter.failed()
          report(
            'the blob store does not end a removal; it is tried again',
            new Error(`${name} is still being removed`),
          )
          return
        }
        gone.push(removal)
      } catch (error) {
        meter.failed()
        report(`the bytes of ${digestOfName(name)} could not be removed; they are tried again`, error)
      }
    }
  }
  await Promise.all(Array.from({ length: removalsAtOnce - meter.removing.size }, oneByOne))
  return gone
}

/** Whether it ended in time; throws what it throws by then. */
const inTime = async ({ meter, timers }: RemovalDeps, name: BlobName, removing: Promise<unknown>): Promise<boolean> => {
  meter.removing.add(name)
  const ended = removing.finally(() => meter.removing.delete(name)).then(() => true)
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const stop = timers.after(removalPatienceMs, () => resolve(false))
  try {
    return await Promise.race([ended, late])
  } finally {
    stop()
    // What it throws after that is told by the next try.
    ended.catch(() => {})
  }
}

/** The rows go, and each repository that was the last to hold the bytes is told. */
const settle = async (
  tx: Transaction,
  gone: readonly Removal[],
  occurredAt: string,
): Promise<{ settled: Removal[]; told: Told[] }> => {
  const settled: Removal[] = []
  for (const removal of gone.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
    if (await deleteRemoval(tx, removal.name)) settled.push(removal)
  if (settled.length === 0) return { settled, told: [] }
  const sizes = new Map(settled.map(({ name, size }) => [name, size]))
  const told: Told[] = []
  const counted = new Set<string>()
  for (const { repository, name, artifact_id } of await notesOf(tx, [...sizes.keys()])) {
    const bytes = sizes.get(name) ?? 0
    await appendJournal(tx, {
      repository,
      action: 'bytes.reclaim',
      artifactId: artifact_id,
      detail: JSON.stringify({ sha256: digestOfName(toBlobName(name)), size: String(bytes) }),
      actor: 'system:reclaim',
      occurredAt,
    })
    // Two files of the same content were stored once.
    const stored = `${repository}/${name}`
    told.push({ repository, bytes: counted.has(stored) ? 0 : bytes })
    counted.add(stored)
  }
  await deleteNotes(tx, [...sizes.keys()])
  return { settled, told }
}
