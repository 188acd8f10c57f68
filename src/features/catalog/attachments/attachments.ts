import type { Database, Queries, Transaction } from '../../../database/database.ts'
import type {
  AttachmentKind,
  AttachmentRevisionsTable,
  AttachmentsTable,
} from '../../../database/tables/attachments.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { Failure, invalid } from '../../../kernel/failure.ts'
import { attachmentHistoryPage, attachmentRevisionsForgotten, revisionMax } from '../../../kernel/limits/catalog.ts'
import { caseless } from '../../../kernel/names.ts'
import { heldArtifact, publishedAmong, publishedArtifact } from '../artifacts/artifacts.ts'
import { deleteOldestRevisions, insertRevision, listItemRows, listRevisionRows } from './attachments.queries.ts'

/**
 * What belongs to a build: its manifest, its bill of materials, signatures, reports. Each replacement is a revision,
 * and all of them are kept: a file that is or was attached to a published build is not deleted, so that every revision
 * can be shown with its files. A build is kept by nothing that is attached to it. Once it is deleted it keeps nothing
 * either; its attachments wait with it, and are as they were if it comes back, although what they name may be gone by
 * then.
 */
export interface Attachment {
  readonly name: string
  readonly kind: AttachmentKind
  readonly artifactId: string
  readonly description: string
}

export interface Attachments {
  /** 0 where nothing ever was attached. */
  readonly revision: number
  readonly items: Attachment[]
  readonly actor: string | null
  readonly createdAt: string | null
}

const never: Attachments = { revision: 0, items: [], actor: null, createdAt: null }

/** What is attached now. 404 for what is not published. */
export const currentAttachments = async (q: Queries, repository: string, id: string): Promise<Attachments> => {
  await publishedArtifact(q, repository, id)
  const [current = never] = await revisionsBefore(q, id, revisionMax + 1, 1)
  return current
}

/** A page of revisions, newest first, and where the next one begins. 404 for what is not published. */
export const attachmentHistory = async (
  q: Queries,
  repository: string,
  id: string,
  before: number | undefined,
): Promise<{ items: Attachments[]; next: number | null }> => {
  await publishedArtifact(q, repository, id)
  const found = await revisionsBefore(q, id, before ?? revisionMax + 1, attachmentHistoryPage + 1)
  const items = found.slice(0, attachmentHistoryPage)
  return { items, next: found.length > items.length ? (items.at(-1)?.revision ?? null) : null }
}

const revisionsBefore = async (q: Queries, id: string, before: number, limit: number): Promise<Attachments[]> => {
  const rows = await listRevisionRows(q, id, before, limit)
  const [newest, oldest] = [rows[0], rows.at(-1)]
  if (newest === undefined || oldest === undefined) return []
  const items = await listItemRows(q, id, { oldest: oldest.revision, newest: newest.revision })
  const byRevision = Map.groupBy(items, ({ revision }) => revision)
  return rows.map((row) => toAttachments(row, byRevision.get(row.revision) ?? []))
}

const toAttachments = (row: AttachmentRevisionsTable, items: readonly AttachmentsTable[]): Attachments => ({
  revision: row.revision,
  items: items.map(({ name, kind, target_id, description }) => ({ name, kind, artifactId: target_id, description })),
  actor: row.actor,
  createdAt: row.created_at,
})

/**
 * Replaces what is attached to a build, all at once. 409 `revision_mismatch` unless the expected revision is the
 * current one; 400 for two names that differ at most in case, and for what is no other published file of the
 * repository.
 */
export const replaceAttachments = (
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  build: { readonly repository: string; readonly id: string },
  wanted: { readonly expectedRevision: number; readonly items: readonly Attachment[] },
  actor: string,
): Promise<Attachments> => {
  const { repository, id } = build
  refuseEqualNames(wanted.items)
  return database.transaction(async (tx) => {
    await heldArtifact(tx, repository, id)
    const current = (await listRevisionRows(tx, id, revisionMax + 1, 1))[0]?.revision ?? 0
    if (current !== wanted.expectedRevision)
      throw new Failure(
        'revision_mismatch',
        `The attachments are at revision ${current}; read them again, then decide.`,
      )
    await refuseStrangers(tx, build, wanted.items)
    const row = { artifact_id: id, revision: current + 1, actor, created_at: timestamp(clock.now()) }
    const items = wanted.items.map(({ artifactId, ...item }, position) => ({
      ...item,
      artifact_id: id,
      revision: row.revision,
      position,
      target_id: artifactId,
    }))
    await insertRevision(tx, row, items)
    const told = { repository, action: 'attachment.replace', artifactId: id, detail: null } as const
    await appendJournal(tx, { ...told, actor, occurredAt: row.created_at })
    return toAttachments(row, items)
  })
}

const refuseEqualNames = (items: readonly Attachment[]): void => {
  const seen = new Set<string>()
  for (const [index, { name }] of items.entries()) {
    const key = caseless(name)
    if (seen.has(key))
      throw invalid(`/items/${index}/name`, 'must be another name than those before, whatever the case')
    seen.add(key)
  }
}

/** Under the lock of the repository: what is published now stays so until the new revision keeps it. */
const refuseStrangers = async (
  tx: Transaction,
  { repository, id }: { readonly repository: string; readonly id: string },
  items: readonly Attachment[],
): Promise<void> => {
  const targets = items.map(({ artifactId }) => artifactId)
  const published = await publishedAmong(tx, repository, targets)
  for (const [index, target] of targets.entries())
    if (target === id || !published.has(target))
      throw invalid(`/items/${index}/artifactId`, 'must be another published artifact of this repository')
}

/**
 * Removes what was attached to a build that is forgotten, a bounded piece of it. False when nothing is left.
 */
export const forgetAttachments = async (tx: Transaction, id: string): Promise<boolean> =>
  (await deleteOldestRevisions(tx, id, attachmentRevisionsForgotten)) > 0
