import { lockLive } from '../../../content/claims/claims.ts'
import type { Database, Queries, Transaction } from '../../../database/database.ts'
import type { ArtifactsTable } from '../../../database/tables/artifacts.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { annotationHistoryPage, annotationRevisionsKept, revisionMax } from '../../../kernel/limits/catalog.ts'
import { heldArtifact, publishedArtifact } from '../artifacts/artifacts.ts'
import { labelsText, metadataText, recordOf, stringsOf } from '../artifacts/views.ts'
import { refreshEntry } from '../search/entries.ts'
import {
  deleteAnnotations,
  findAnnotations,
  insertAnnotations,
  insertRevision,
  listRevisions,
  updateAnnotations,
} from './annotations.queries.ts'

export interface AnnotationDeps {
  readonly database: Database
  readonly clock: Clock
}

/** What is said of a file now. Its descriptor, which never changes, says what was said at its upload. */
export interface Annotations {
  /** 0 until they are replaced for the first time. */
  readonly revision: number
  readonly labels: string[]
  readonly metadata: Record<string, string>
  readonly collections: string[]
}

/** The same as somebody says it. */
export interface Said {
  readonly revision: number
  readonly labels: readonly string[]
  readonly metadata: Readonly<Record<string, string>>
  readonly collections: readonly string[]
}

type Described = Pick<ArtifactsTable, 'id' | 'labels' | 'metadata'>

/** What is said of a file now, whether it is published or deleted. */
export const annotationsOf = async (q: Queries, artifact: Described): Promise<Annotations> => {
  const row = await findAnnotations(q, artifact.id)
  const { labels, metadata } = row ?? artifact
  return {
    revision: row?.revision ?? 0,
    labels: stringsOf(labels),
    metadata: recordOf(metadata),
    collections: row === undefined ? [] : stringsOf(row.collections),
  }
}

/** 404 for what is not published. */
export const getAnnotations = async (q: Queries, repository: string, id: string): Promise<Annotations> =>
  annotationsOf(q, await publishedArtifact(q, repository, id))

export interface AnnotationRevision extends Annotations {
  readonly actor: string
  readonly createdAt: string
}

/**
 * A page of what was said of a file, newest first, and where the next one begins; the last hundred are kept. 404 for
 * what is not published.
 */
export const annotationHistory = async (
  q: Queries,
  repository: string,
  id: string,
  before: number | undefined,
): Promise<{ items: AnnotationRevision[]; next: number | null }> => {
  await publishedArtifact(q, repository, id)
  const found = await listRevisions(q, id, before ?? revisionMax + 1, annotationHistoryPage + 1)
  const items = found.slice(0, annotationHistoryPage).map(({ revision, labels, metadata, collections, ...by }) => ({
    revision,
    labels: stringsOf(labels),
    metadata: recordOf(metadata),
    collections: stringsOf(collections),
    actor: by.actor,
    createdAt: by.created_at,
  }))
  return { items, next: found.length > items.length ? (items.at(-1)?.revision ?? null) : null }
}

export interface NewAnnotations {
  readonly expectedRevision: number
  readonly value: {
    readonly labels?: readonly string[]
    readonly metadata?: Readonly<Record<string, string>>
    readonly collections?: readonly string[]
  }
}

/**
 * Replaces all of them; what is left out becomes empty. 409 `revision_mismatch` for another revision than the expected
 * one, 404 for what is not published.
 */
export const putAnnotations = (
  { database, clock }: AnnotationDeps,
  repository: string,
  id: string,
  wanted: NewAnnotations,
  actor: string,
): Promise<Annotations> =>
  database.transaction((tx) => replaceAnnotations(tx, repository, id, wanted, actor, timestamp(clock.now())))

/** The same in a transaction of the caller, who holds no lock that comes after that of a claim. */
const replaceAnnotations = async (
  tx: Transaction,
  repository: string,
  id: string,
  { expectedRevision, value }: NewAnnotations,
  actor: string,
  occurredAt: string,
): Promise<Annotations> => {
  // The lock of its claim puts those in a row who annotate, delete or restore a file; that of its repository, whoever
  // moves another file onto it.
  if (!(await lockLive(tx, id))) throw notFound('artifact')
  const artifact = await heldArtifact(tx, repository, id)
  const current = await annotationsOf(tx, artifact)
  if (current.revision !== expectedRevision)
    throw new Failure(
      'revision_mismatch',
      `The annotations are at revision ${current.revision}; read them again, then decide.`,
    )
  const { labels = [], metadata = {}, collections = [] } = value
  await say(tx, artifact, { revision: current.revision + 1, labels, metadata, collections }, { actor, now: occurredAt })
  return annotationsOf(tx, artifact)
}

/**
 * Writes the next revision, tells the journal, and lets search know. The caller holds the lock of the file's
 * repository.
 */
export const say = async (
  tx: Transaction,
  { id, repository }: Pick<ArtifactsTable, 'id' | 'repository'>,
  { revision, labels, metadata, collections }: Said,
  { actor, now }: { readonly actor: string; readonly now: string },
): Promise<void> => {
  const row = {
    artifact_id: id,
    revision,
    labels: labelsText(labels),
    metadata: metadataText(metadata),
    collections: JSON.stringify(collections),
  }
  await (revision === 1 ? insertAnnotations(tx, row) : updateAnnotations(tx, row))
  await insertRevision(tx, { ...row, actor, created_at: now }, annotationRevisionsKept)
  await appendJournal(tx, {
    repository,
    action: 'annotation.replace',
    artifactId: id,
    detail: null,
    actor,
    occurredAt: now,
  })
  await refreshEntry(tx, id)
}

/** Forgets what was said of a file that can no longer be brought back. */
export const forgetAnnotations = (tx: Transaction, artifactId: string): Promise<void> =>
  deleteAnnotations(tx, artifactId)

/**
 * What is said of a file now is said of a copy of it from the beginning. The revisions at which they say the same. The
 * caller makes the copy known to search.
 */
export const copyAnnotations = async (
  tx: Transaction,
  artifactId: string,
  copyId: string,
  { actor, now }: { readonly actor: string; readonly now: string },
): Promise<Agreement> => {
  const row = await findAnnotations(tx, artifactId)
  if (row === undefined) return { source: 0, copy: 0 }
  const said = { ...row, artifact_id: copyId, revision: 1 }
  await insertAnnotations(tx, said)
  await insertRevision(tx, { ...said, actor, created_at: now }, annotationRevisionsKept)
  return { source: row.revision, copy: 1 }
}

/**
 * The revisions of a file and of a copy of it when they last said the same. Whoever has another now was annotated
 * since.
 */
export interface Agreement {
  readonly source: number
  readonly copy: number
}
