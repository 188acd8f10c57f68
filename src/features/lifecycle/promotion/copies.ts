import { share } from '../../../content/claims/claims.ts'
import type { Transaction } from '../../../database/database.ts'
import type { ArtifactsTable } from '../../../database/tables/artifacts.ts'
import type { PackagesTable } from '../../../database/tables/packages.ts'
import type { PromotionsTable } from '../../../database/tables/promotions.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { toSha256 } from '../../../kernel/digest.ts'
import { newId } from '../../../kernel/ids.ts'
import { uploadLifetimeMs } from '../../../kernel/limits/transfers.ts'
import { type Agreement, copyAnnotations } from '../../catalog/annotations/annotations.ts'
import { publishedArtifact } from '../../catalog/artifacts/artifacts.ts'
import { becomeVersion, holderOfVersion } from '../../catalog/packages/versions.ts'
import { refreshEntry } from '../../catalog/search/entries.ts'
import { findPromotion, insertCopy, lastPublishedCopy, putPromotion } from './promotion.queries.ts'
import type { By, Source } from './telling.ts'

/**
 * Which file of a repository is the copy of a file of another. It is recorded as a row, which stays as long as the copy
 * is known: a copy that was deleted and came back is it again. Where the source is a package version, its copy is that
 * version too from the moment that somebody is told of it, whatever came first.
 */
export interface Copy {
  readonly row: ArtifactsTable
  /** What is recorded of the two; null when nobody was told of them as source and copy. */
  readonly known: PromotionsTable | null
  readonly agreed: Agreement | null
  /** The version that it is to become, because its source is it and nobody is it here. */
  readonly lacks: PackagesTable | null
}

/**
 * The copy that is there, or null. A package version decides before what is recorded: whoever has it here with the same
 * bytes is the copy, and 409 `version_exists` where it has others. Of a source that is gone (`row` null) only what it
 * was moved to is one. The caller holds the lock of the target.
 */
export const findCopy = async (
  tx: Transaction,
  source: { readonly artifactId: string; readonly row: ArtifactsTable | null },
  target: string,
): Promise<Copy | null> => {
  const last = await lastPublishedCopy(tx, source.artifactId, target, source.row === null ? ['move'] : ['copy', 'move'])
  const recorded = last === undefined ? null : await publishedArtifact(tx, target, last.copy_id)
  const file = source.row ?? recorded
  if (file === null) return null
  const held = await holderOfVersion(tx, source.artifactId, { repository: target, sha256: file.sha256 })
  const holder = held?.holder ?? null
  const row = holder === null ? recorded : await publishedArtifact(tx, target, holder)
  if (row === null) return null
  const known = (await findPromotion(tx, source.artifactId, target, row.id)) ?? null
  return { row, known, agreed: agreementOf(known), lacks: holder === null ? (held?.version ?? null) : null }
}

const agreementOf = (known: PromotionsTable | null): Agreement | null =>
  known === null || known.source_revision === null || known.copy_revision === null
    ? null
    : { source: known.source_revision, copy: known.copy_revision }

/** Makes a copy: a claim on the same bytes, its row, and what is said of the source now. 507 `storage_quota`. */
export const makeCopy = async (
  tx: Transaction,
  source: ArtifactsTable,
  {
    target,
    nowMs,
    capacityBytes,
    actor,
  }: { readonly target: string; readonly nowMs: number; readonly capacityBytes: number; readonly actor: string },
): Promise<Copy> => {
  const id = newId(nowMs)
  const { size, sha256 } = source
  await share(tx, { id, repository: target, holder: 'artifact', digest: toSha256(sha256), bytes: size }, capacityBytes)
  const now = timestamp(nowMs)
  const times = { created_at: now, expires_at: timestamp(nowMs + uploadLifetimeMs), published_at: now }
  const row = { ...source, ...times, id, repository: target }
  await insertCopy(tx, row)
  const agreed = await copyAnnotations(tx, source.id, id, { actor, now })
  await refreshEntry(tx, id)
  const held = await holderOfVersion(tx, source.id, { repository: target, sha256 })
  return { row, known: null, agreed, lacks: held?.version ?? null }
}

/** Makes the copy the version that it lacks, and tells the journal. */
export const registerCopy = async (tx: Transaction, { row, lacks }: Copy, { actor, now }: By): Promise<void> => {
  if (lacks === null) return
  await becomeVersion(tx, lacks, row, now)
  const { id: artifactId, repository } = row
  await appendJournal(tx, { repository, artifactId, action: 'package.register', detail: null, actor, occurredAt: now })
}

/** Records that the one was promoted to the other, now. What was moved once stays so. */
export const record = (
  tx: Transaction,
  source: Source,
  { row }: Copy,
  { mode, now, agreed }: { readonly mode: 'copy' | 'move'; readonly now: string; readonly agreed: Agreement | null },
): Promise<void> =>
  putPromotion(tx, {
    source_id: source.artifactId,
    source_repository: source.repository,
    target: row.repository,
    copy_id: row.id,
    mode,
    promoted_at: now,
    source_revision: agreed?.source ?? null,
    copy_revision: agreed?.copy ?? null,
  })
