import type { Tables } from '../tables/index.ts'

/** Rows that are numbered without a gap. */
export interface Numbering {
  readonly table: keyof Tables
  /** Whose rows they are. */
  readonly of: readonly string[]
  readonly number: string
  /** Null where the oldest may be gone. */
  readonly first: number | null
}

/**
 * Journals are looked at by themselves, and where a path's history begins: they are forgotten from the beginning on.
 */
export const numberings: readonly Numbering[] = [
  { table: 'annotation_revisions', of: ['artifact_id'], number: 'revision', first: null },
  { table: 'asset_revisions', of: ['repository', 'path'], number: 'revision', first: null },
  { table: 'attachment_revisions', of: ['artifact_id'], number: 'revision', first: null },
  { table: 'attachments', of: ['artifact_id', 'revision'], number: 'position', first: 0 },
]
