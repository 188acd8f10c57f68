import { graceEndMs } from '../../../content/reclaim/grace.ts'
import type { Database } from '../../../database/database.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { hour } from '../../../kernel/units.ts'
import { usageState } from '../../../kernel/usage-state.ts'
import { findSpace, firstRetiredAt, replaceGrace } from './storage.queries.ts'

export interface StorageDeps {
  readonly database: Database
  /** The server's grace period. */
  readonly cleanupGraceMs: number
}

/** What a repository reserves: exact at all times, since every change of a claim moves it in the same transaction. */
export const storageUsage = async ({ database, cleanupGraceMs }: StorageDeps, repository: string) => {
  const space = await findSpace(database.reader, repository)
  if (space === undefined) throw notFound('repository')
  const reserved = space.published_bytes + space.pending_bytes + space.retired_bytes
  const retiredAt = await firstRetiredAt(database.reader, repository)
  const releaseAtMs = retiredAt === null ? null : graceEndMs(retiredAt, space.grace_hours, cleanupGraceMs)
  return {
    publishedBytes: String(space.published_bytes),
    pendingBytes: String(space.pending_bytes),
    retiredBytes: String(space.retired_bytes),
    reservedBytes: String(reserved),
    quotaBytes: space.quota_bytes === null ? null : String(space.quota_bytes),
    state: usageState(reserved, space.quota_bytes, {
      warningPercent: space.warning_percent,
      criticalPercent: space.critical_percent,
    }),
    graceHours: space.grace_hours ?? cleanupGraceMs / hour,
    nextReleaseAt: releaseAtMs === null ? null : timestamp(releaseAtMs),
  }
}

/** The grace period of a repository; null stands for the server's. */
export const cleanupSetting = async ({ database, cleanupGraceMs }: StorageDeps, repository: string) => {
  const space = await findSpace(database.reader, repository)
  if (space === undefined) throw notFound('repository')
  return {
    revision: space.cleanup_revision,
    graceHours: space.grace_hours,
    serverGraceHours: cleanupGraceMs / hour,
  }
}

/** Sets it, also for what was deleted before. 409 `revision_mismatch`. */
export const setCleanup = async (
  deps: StorageDeps,
  repository: string,
  wanted: { readonly expectedRevision: number; readonly graceHours: number | null },
) => {
  const { expectedRevision, graceHours } = wanted
  await deps.database.transaction(async (tx) => {
    if (await replaceGrace(tx, repository, expectedRevision, graceHours)) return
    const space = await findSpace(tx, repository)
    if (space === undefined) throw notFound('repository')
    const current = space.cleanup_revision
    throw new Failure('revision_mismatch', `The setting is at revision ${current}; read it again, then decide.`)
  })
  return cleanupSetting(deps, repository)
}
