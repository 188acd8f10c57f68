import type { Database, Queries } from '../../database/database.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import { checkPage, listedAtOnce } from '../../kernel/limits/upkeep.ts'
import { type BlobName, digestOfName, generationOf, toBlobName } from '../../ports/blob-name.ts'
import type { BlobStore, StoredBlob } from '../../ports/blob-store.ts'
import { giveUpBytes } from '../claims/unheld-bytes.ts'
import {
  blobsAmong,
  deleteStranger,
  insertStranger,
  quarantineSums,
  removalsAmong,
  strangerSince,
  strangersAfter,
} from './quarantine.queries.ts'

export interface QuarantineDeps {
  readonly database: Database
  readonly store: BlobStore
  readonly clock: Clock
}

/**
 * Bytes that no row knows are in quarantine: they are counted, their age is known, and nothing removes them but a
 * person who says so. What a crash leaves is not among them, since a row speaks of bytes before they get their name;
 * these are bytes that somebody put there, that came very late, or that are younger than a database which was put back.
 */
export async function* strangers({ database, store }: Omit<QuarantineDeps, 'clock'>): AsyncGenerator<StoredBlob> {
  const unknownAmong = async (listed: readonly StoredBlob[]): Promise<StoredBlob[]> => {
    const known = await knownAmong(
      database.reader,
      listed.map(({ name }) => name),
    )
    return listed.filter(({ name }) => !known.has(name))
  }
  const stillThere = async function* (listed: readonly StoredBlob[]) {
    // It may have been removed, or given back to reclaim, since it was listed.
    for (const blob of await unknownAmong(listed)) if ((await store.size(blob.name)) !== null) yield blob
  }
  let batch: StoredBlob[] = []
  for await (const blob of store.list()) {
    batch.push(blob)
    if (batch.length < listedAtOnce) continue
    yield* stillThere(batch)
    batch = []
  }
  yield* stillThere(batch)
}

/** Those that are a blob by their row, or what is left of one. */
const knownAmong = async (q: Queries, names: readonly BlobName[]): Promise<ReadonlySet<string>> => {
  if (names.length === 0) return new Set()
  // Removals second: a row that becomes one between the two looks is found by the other.
  const rows = await blobsAmong(q, names.map(digestOfName))
  const generations = new Map(rows.map(({ sha256, generation }) => [sha256, generation]))
  const blobs = names.filter((name) => generations.get(digestOfName(name)) === generationOf(name))
  return new Set([...blobs, ...(await removalsAmong(q, names))])
}

/** Puts what is found into quarantine, and lets go of what is gone or has a row by now. To be run by the clock. */
export const watchQuarantine = async (deps: QuarantineDeps, stopping: () => boolean = () => false): Promise<void> => {
  const { database, store, clock } = deps
  for await (const { name, bytes } of strangers(deps)) {
    if (stopping()) return
    await quarantine({ database, clock }, name, bytes)
  }
  for (let after = ''; !stopping(); ) {
    const page = await strangersAfter(database.reader, after, checkPage)
    const known = await knownAmong(
      database.reader,
      page.map(({ name }) => toBlobName(name)),
    )
    for (const { name } of page)
      if (known.has(name) || (await store.size(toBlobName(name))) === null)
        await database.transaction((tx) => deleteStranger(tx, name), { durability: 'relaxed' })
    const last = page.at(-1)
    if (last === undefined || page.length < checkPage) return
    after = last.name
  }
}

/** Puts bytes that no row knows into quarantine, and answers since when they have been there. */
export const quarantine = (
  { database, clock }: Omit<QuarantineDeps, 'store'>,
  name: BlobName,
  bytes: number,
): Promise<string> =>
  database.transaction(
    async (tx) => {
      const seen_at = timestamp(clock.now())
      await insertStranger(tx, { name, size: bytes, seen_at })
      return (await strangerSince(tx, name)) ?? seen_at
    },
    { durability: 'relaxed' },
  )

/** How much is in quarantine, as far as it was found, and since when. */
export const inQuarantine = ({ database }: Pick<QuarantineDeps, 'database'>) => quarantineSums(database.reader)

/** Every row, in the order of names. */
export async function* quarantined({ database }: Pick<QuarantineDeps, 'database'>) {
  for (let after = ''; ; ) {
    const page = await strangersAfter(database.reader, after, checkPage)
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < checkPage) return
    after = last.name
  }
}

/**
 * Gives up what has been in quarantine since before a moment, for good: reclaim removes it. What has a row by now is
 * left to that row. For a person to ask for, and for nobody else. How many went.
 */
export const giveUpQuarantined = async (deps: QuarantineDeps, before: string): Promise<number> => {
  const { database, clock } = deps
  let given = 0
  for await (const { name, size, seen_at } of quarantined(deps)) {
    if (seen_at > before) continue
    await database.transaction(async (tx) => {
      await giveUpBytes(tx, toBlobName(name), size, timestamp(clock.now()))
      await deleteStranger(tx, name)
    })
    given += 1
  }
  return given
}
