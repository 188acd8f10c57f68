import type { Database, Queries } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import type { LfsSettingsTable } from '../../../database/tables/lfs.ts'
import { appendStorageEvent } from '../../../journal/storage-events/storage-events.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { findSettings, writeSettings } from './settings.queries.ts'

/** What a repository says of Git LFS, and who said so. */
export interface LfsSettings {
  readonly revision: number
  /** Whether files can be locked. */
  readonly locking: boolean
  /** Null where nobody ever said anything. */
  readonly savedAt: string | null
  readonly actor: string | null
}

const view = (row: LfsSettingsTable | undefined): LfsSettings =>
  row === undefined
    ? { revision: 0, locking: true, savedAt: null, actor: null }
    : { revision: row.revision, locking: row.locking === 1, savedAt: row.saved_at, actor: row.actor }

export const lfsSettingsOf = async (q: Queries, repository: string): Promise<LfsSettings> =>
  view(await findSettings(q, repository))

export const locksAreOn = async (q: Queries, repository: string): Promise<boolean> =>
  (await lfsSettingsOf(q, repository)).locking

/** Replaces what a repository says. Locks that are there come back with the setting. 409 `revision_mismatch`. */
export const saveLfsSettings = (
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  repository: string,
  { expectedRevision, locking }: { readonly expectedRevision: number; readonly locking: boolean },
  actor: string,
): Promise<LfsSettings> =>
  database.transaction(async (tx) => {
    if (!(await lockRepository(tx, repository))) throw notFound('repository')
    const { revision } = await lfsSettingsOf(tx, repository)
    if (revision !== expectedRevision)
      throw new Failure('revision_mismatch', `The setting is at revision ${revision}; read it again, then decide.`)
    const now = timestamp(clock.now())
    const row: LfsSettingsTable = {
      ...{ repository, revision: revision + 1, locking: locking ? 1 : 0, saved_at: now, actor },
    }
    await writeSettings(tx, row)
    await appendStorageEvent(tx, {
      repository,
      level: 'info',
      code: 'lfs-settings.saved',
      details: { revision: row.revision, locking: String(locking), actor },
      occurredAt: now,
    })
    return view(row)
  })
