import type { Queries } from '../../../database/database.ts'
import type { ArtifactsTable } from '../../../database/tables/artifacts.ts'
import { blockersToldMax } from '../../../kernel/limits/lifecycle.ts'
import { stringsOf } from '../../catalog/artifacts/views.ts'
import { findLabels, findWithBlockers } from './eligibility.queries.ts'
import { type Blocker, blockers } from './vocabulary.ts'

/** What somebody who deletes by rule asks of a file. A direct deletion asks nothing. */
export interface Criteria {
  /** Only what was published before this moment (RFC 3339 with milliseconds, UTC). */
  readonly publishedBefore: string
  /** Labels that keep whatever bears one of them. */
  readonly protectedLabels: readonly string[]
}

export interface Eligibility {
  readonly row: ArtifactsTable
  readonly annotationRevision: number
  /** The current ones. */
  readonly labels: readonly string[]
  /** In the order of the vocabulary, as many as are told. Not empty means: it stays. */
  readonly blockers: Blocker[]
  /** Whether it was published as early as the criteria ask. */
  readonly oldEnough: boolean
}

/**
 * What is known of files as far as their deletion is concerned, by id; what is not published here is left out. This is
 * the one function behind what is shown and what is done, of one file and of many, so that what is shown is what
 * happens. Whoever acts on it holds the lock of the repository, under which alone a file gets or loses what keeps it.
 */
export const eligibilityOf = async (
  q: Queries,
  repository: string,
  ids: readonly string[],
  criteria: Criteria | null,
): Promise<Map<string, Eligibility>> => {
  const found = new Map<string, Eligibility>()
  if (ids.length === 0) return found
  for (const each of await findWithBlockers(q, repository, ids)) {
    const { annotation_revision, annotated_labels, ...kept } = each
    const { is_referenced, is_in_path_history, is_in_attachment_history, has_stage, ...row } = kept
    const labels = stringsOf(annotated_labels ?? row.labels)
    const stands: Record<Blocker, boolean> = {
      reference: Boolean(is_referenced),
      asset_history: Boolean(is_in_path_history),
      attachment_history: Boolean(is_in_attachment_history),
      protected_label: criteria?.protectedLabels.some((label) => labels.includes(label)) ?? false,
      promotion_stage: Boolean(has_stage),
    }
    found.set(row.id, {
      row,
      annotationRevision: annotation_revision ?? 0,
      labels,
      blockers: blockers.filter((blocker) => stands[blocker]).slice(0, blockersToldMax),
      oldEnough: criteria === null || row.published_at < criteria.publishedBefore,
    })
  }
  return found
}

/**
 * The current labels of published files, by id. With {@link eligibilityOf} the one place that knows where they stand.
 */
export const currentLabels = async (
  q: Queries,
  repository: string,
  ids: readonly string[],
): Promise<Map<string, readonly string[]>> =>
  new Map(
    ids.length === 0
      ? []
      : (await findLabels(q, repository, ids)).map((row) => [row.id, stringsOf(row.annotated_labels ?? row.labels)]),
  )
