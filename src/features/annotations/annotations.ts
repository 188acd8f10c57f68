import { lockLive } from '../../content/claims.ts'
import type { Database, Queries, Transaction } from '../../database/database.ts'
import type { ArtifactsTable } from '../../database/tables/artifacts.ts'
import { appendJournal } from '../../journal/journal.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import { Failure, notFound } from '../../kernel/failure.ts'
import { publishedArtifact } from '../artifacts/artifacts.ts'
import { refreshEntry } from '../search/entries.ts'
import { labelsText, metadataText, recordOf, stringsOf } from '../uploads/descriptor.ts'
import { deleteAnnotations, findAnnotations, insertAnnotations, updateAnnotations } from './annotations.queries.ts'

export interface AnnotationParts {
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

type Described = Pick<ArtifactsTable, 'id' | 'labels' | 'metadata'>

/** What is said of a file now, whether it is published or deleted. */
const annotationsOf = async (q: Queries, artifact: Described): Promise<Annotations> => {
  const row = await findAnnotations(q, artifact.id)
  const { labels, metadata } = row ?? artifact
  return {
    revision: row?.revision ?? 0,
    labels: stringsOf(labels),
    metadata: recordOf(metadata),
    collections: row === undefined ? [] : stringsOf(row.collections),
  }
}

/** How often they were replaced. */
const annotationRevision = async (q: Queries, artifactId: string): Promise<number> =>
  (await findAnnotations(q, artifactId))?.revision ?? 0

/** 404 for what is not published. */
export const getAnnotations = async (q: Queries, repository: string, id: string): Promise<Annotations> =>
  annotationsOf(q, await publishedArtifact(q, repository, id))

export interface NewAnnotations {
  readonly expectedRevision: number
  readonly value: {
    readonly labels?: readonly string[]
    readonly metadata?: Readonly<Record<string, string>>
    readonly collections?: readonly string[]
  }
}

/**
 * Replaces all of them; what is left out becomes empty. 409 `revision_mismatch` for another revision than the expected one,
 * 404 for what is not published.
 */
export const putAnnotations = (
  { database, clock }: AnnotationParts,
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
  // The lock of its claim puts those in a row who annotate, delete or restore a file.
  if (!(await lockLive(tx, id))) throw notFound('artifact')
  const artifact = await publishedArtifact(tx, repository, id)
  const current = await annotationRevision(tx, id)
  if (current !== expectedRevision)
    throw new Failure('revision_mismatch', `The annotations are at revision ${current}; read them again, then decide.`)
  const row = {
    artifact_id: id,
    revision: current + 1,
    labels: labelsText(value.labels),
    metadata: metadataText(value.metadata),
    collections: JSON.stringify(value.collections ?? []),
  }
  await (current === 0 ? insertAnnotations(tx, row) : updateAnnotations(tx, row))
  await appendJournal(tx, {
    repository,
    action: 'annotation.replace',
    artifactId: id,
    detail: null,
    actor,
    occurredAt,
  })
  await refreshEntry(tx, id)
  return annotationsOf(tx, artifact)
}

/** Forgets what was said of a file that can no longer be brought back. */
export const forgetAnnotations = (tx: Transaction, artifactId: string): Promise<void> =>
  deleteAnnotations(tx, artifactId)

/** What is said of a file now is said of a copy of it from the beginning. The caller makes the copy known to search. */
export const copyAnnotations = async (tx: Transaction, artifactId: string, copyId: string): Promise<void> => {
  const row = await findAnnotations(tx, artifactId)
  if (row !== undefined) await insertAnnotations(tx, { ...row, artifact_id: copyId, revision: 1 })
}
