import type { Database } from '../../database/database.ts'
import { lockRepository } from '../../database/locks.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import { repositoriesPage } from '../../kernel/limits/engines.ts'
import { unnamedBlobMs } from '../../kernel/limits/oci.ts'
import { upkeepRun } from '../../kernel/one-by-one.ts'
import { unusedSince } from './blobs.queries.ts'
import { deleteRows } from './deleting.ts'
import { unkeptForMs } from './grace.ts'
import { oldestUnkept, unkept, unkeptSince } from './keeping.queries.ts'
import { giveUpUnnamed } from './unnamed-blobs.ts'

export interface ImageUpkeepDeps {
  readonly database: Database
  readonly clock: Clock
  /** The server's grace period. */
  readonly cleanupGraceMs: number
  readonly report: (message: string, error: unknown) => void
}

/** Who does what nobody asked for, in journals. */
const upkeep = 'system:upkeep'

/**
 * What time does to images; an idempotent function of the database. Manifests that nothing kept for the grace period of
 * their repository go, with what only they kept; blobs that no manifest named for an hour go as well. What a power cut
 * takes back is done again.
 */
export const settleImages = async (deps: ImageUpkeepDeps): Promise<void> => {
  const { database, clock } = deps
  const run = upkeepRun(deps.report)
  const giveUpUnkept = (): Promise<number> =>
    run.each('deleting manifests that nothing keeps', {
      find: (limit) => manifestsPastGrace(deps, limit),
      what: ({ id }) => `deleting the manifest ${id}`,
      key: ({ id }) => id,
      work: (found) => giveUpManifest(deps, found),
    })
  // What only those kept is kept by nothing now.
  while ((await giveUpUnkept()) > 0);
  const until = timestamp(clock.now() - unnamedBlobMs)
  await run.each('giving up blobs that no manifest names', {
    find: (limit) => unusedSince(database.reader, until, limit),
    what: ({ id }) => `giving up the blob ${id}`,
    key: ({ id }) => id,
    work: (blob) => database.transaction((tx) => giveUpUnnamed(tx, blob, clock.now()), { durability: 'relaxed' }),
  })
  run.end()
}

interface Unkept {
  readonly id: string
  readonly repository: string
  readonly graceHours: number | null
}

/** Each repository has the server's grace period unless it was given one of its own. */
const manifestsPastGrace = async (
  { database, clock, cleanupGraceMs }: ImageUpkeepDeps,
  limit: number,
): Promise<Unkept[]> => {
  const q = database.reader
  const due: Unkept[] = []
  for (let after = ''; ; ) {
    const page = await oldestUnkept(q, after, repositoriesPage)
    for (const { id, grace_hours, oldest } of page) {
      const until = timestamp(clock.now() - unkeptForMs(grace_hours, cleanupGraceMs))
      if (oldest === null || oldest > until) continue
      for (const row of await unkeptSince(q, id, until, limit - due.length))
        due.push({ id: row.id, repository: id, graceHours: grace_hours })
      if (due.length >= limit) return due
    }
    const last = page.at(-1)
    if (last === undefined || page.length < repositoriesPage) return due
    after = last.id
  }
}

/**
 * Looks again under the lock: something may keep it by now. What only it kept has been kept by nothing for as long,
 * unless somebody counted on that later.
 */
const giveUpManifest = ({ database, clock, cleanupGraceMs }: ImageUpkeepDeps, found: Unkept): Promise<void> =>
  database.transaction(
    async (tx) => {
      await lockRepository(tx, found.repository)
      const manifest = await unkept(tx, found.id)
      if (manifest === undefined || manifest.unused_since === null) return
      const since = manifest.unused_since
      if (Date.parse(since) + unkeptForMs(found.graceHours, cleanupGraceMs) > clock.now()) return
      const by = { actor: upkeep, now: timestamp(clock.now()) }
      await deleteRows(tx, manifest, { ...by, since })
    },
    { durability: 'relaxed' },
  )
