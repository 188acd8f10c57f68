import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../database/database.ts'
import { appendStorageEvent, type NewStorageEvent } from '../../journal/storage-events/storage-events.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import { type Sha256, toSha256 } from '../../kernel/digest.ts'
import { rotToldRepositoriesMax } from '../../kernel/limits/journal.ts'
import { checkPage } from '../../kernel/limits/upkeep.ts'
import { blobName } from '../../ports/blob-name.ts'
import type { BlobStore } from '../../ports/blob-store.ts'
import { isStoredAs } from '../claims/claims.queries.ts'
import { blobPage, repositoriesHolding } from './checks.queries.ts'
import { readWhole } from './copies.ts'

export interface ScrubDeps {
  readonly database: Database
  readonly store: BlobStore
  /** How much is read a second, so that others are served meanwhile. */
  readonly bytesPerSecond: number
}

export interface Scrubbed {
  readonly digest: Sha256
  readonly bytes: number
  /** What is wrong with it, or null. */
  readonly rot: string | null
}

/**
 * Reads every stored blob again, in the order of digests and behind `after`, and says of each whether its bytes still
 * have the digest that they are named by. Beside a running service: what is reclaimed meanwhile is left out.
 */
export async function* scrub(deps: ScrubDeps, after: string): AsyncGenerator<Scrubbed> {
  const rate = bounded(deps.bytesPerSecond)
  for (let last = after; ; ) {
    const page = await blobPage(deps.database.reader, last, checkPage)
    for (const { sha256, size, state, generation } of page) {
      if (state !== 'stored') continue
      const digest = toSha256(sha256)
      const name = blobName(digest, generation)
      const rot = await readWhole(deps.store, { name, bytes: size }, (piece) => rate(piece.byteLength))
      if (rot === null || (await isStoredAs(deps.database.reader, sha256, generation)))
        yield { digest, bytes: size, rot }
    }
    const end = page.at(-1)
    if (end === undefined || page.length < checkPage) return
    last = end.sha256
  }
}

/** Resolves when so many bytes more may have been read. */
const bounded = (bytesPerSecond: number): ((bytes: number) => Promise<void>) => {
  const begunAt = performance.now()
  let read = 0
  return async (bytes) => {
    read += bytes
    const aheadMs = (read / bytesPerSecond) * 1000 - (performance.now() - begunAt)
    if (aheadMs > 1) await pause(aheadMs)
  }
}

interface TellDeps {
  readonly database: Database
  readonly clock: Clock
}

const tellHolders = async (
  { database, clock }: TellDeps,
  digest: Sha256,
  event: Pick<NewStorageEvent, 'level' | 'code'>,
  finding: string,
): Promise<void> => {
  for (const repository of await repositoriesHolding(database.reader, digest, rotToldRepositoriesMax))
    await database.transaction((tx) =>
      appendStorageEvent(tx, {
        repository,
        ...event,
        details: { sha256: digest, finding },
        occurredAt: timestamp(clock.now()),
      }),
    )
}

/** Tells the operators of every repository that holds the bytes what is wrong with them. */
export const tellOfRot = (deps: TellDeps, digest: Sha256, rot: string): Promise<void> =>
  tellHolders(deps, digest, { level: 'error', code: 'scrub.damage' }, rot)

/** Tells them that the bytes are as they were again. */
export const tellOfHealing = (deps: TellDeps, digest: Sha256, rot: string): Promise<void> =>
  tellHolders(deps, digest, { level: 'info', code: 'scrub.healed' }, rot)
