import { hash } from 'node:crypto'
import type { Row } from '../../../database/moving/rows.queries.ts'
import type { TableName } from '../../../database/moving/tables.ts'

/** Which rows of a table belong to a repository, and which of their columns name something in it. */
export interface OfRepository {
  readonly table: TableName
  /** The column by which it is told: the repository itself, or a thing that is in it. */
  readonly by: 'repository' | 'artifact_id' | 'package_id'
  /** Ids of things in the repository. */
  readonly ids: readonly string[]
  /** Texts in which the id of {@link by} stands without its hyphens. */
  readonly texts?: readonly string[]
  /** Those that clients did not see, or that only tell of others, stay behind. */
  readonly goes?: (row: Row) => boolean
}

const here = (table: TableName, ...ids: string[]): OfRepository => ({ table, by: 'repository', ids })

/** Rows that those refer to who hold bytes. */
export const beforeHolders: readonly OfRepository[] = [
  { ...here('npm_packages', 'id'), goes: ({ versions }) => versions !== 0 },
  { table: 'npm_documents', by: 'package_id', ids: ['package_id'], texts: ['head', 'tail', 'abbreviated_head'] },
  { table: 'npm_pieces', by: 'package_id', ids: ['package_id'] },
  here('oci_images'),
]

/** What holds bytes: its id is that of its claim. */
export const holders: readonly OfRepository[] = [
  here('artifacts', 'id'),
  here('oci_blobs', 'id'),
  { ...here('lfs_objects', 'id'), goes: ({ deleted_at }) => deleted_at === null },
  { ...here('npm_versions', 'id', 'package_id'), goes: ({ deleted_at }) => deleted_at === null },
]

/**
 * Everything else, in an order in which every row finds what it refers to. What leads to others stays behind:
 * promotions, webhooks, cursors, grants and policies are of the repository that was, and uploads of their senders.
 */
export const behindHolders: readonly OfRepository[] = [
  { table: 'annotations', by: 'artifact_id', ids: ['artifact_id'] },
  { table: 'annotation_revisions', by: 'artifact_id', ids: ['artifact_id'] },
  here('assets', 'artifact_id'),
  here('removed_paths'),
  here('asset_revisions', 'artifact_id'),
  { table: 'artifact_references', by: 'artifact_id', ids: ['artifact_id'] },
  { table: 'attachment_revisions', by: 'artifact_id', ids: ['artifact_id'] },
  { table: 'attachments', by: 'artifact_id', ids: ['artifact_id', 'target_id'] },
  here('artifact_stages', 'artifact_id'),
  here('packages', 'artifact_id'),
  here('package_stages', 'artifact_id'),
  here('oci_manifests', 'id', 'blob_id'),
  here('oci_references', 'manifest_id', 'blob_id'),
  here('oci_tags', 'manifest_id'),
  here('oci_tag_moves', 'manifest_id'),
  here('oci_stages', 'manifest_id'),
  here('oci_immutable_tags'),
  here('lfs_settings'),
  here('npm_stages', 'version_id'),
  here('npm_taken_versions'),
  { table: 'npm_tags', by: 'package_id', ids: ['package_id', 'version_id'] },
]

/** The id that a thing of a point has in the repository into which it is brought: the same each time, and as old. */
export const idIn = (repository: string, point: string, id: string): string => {
  const digest = hash('sha256', `${point} ${repository} ${id}`)
  const variant = '89ab'[Number.parseInt(digest[3] ?? '0', 16) % 4]
  return `${id.slice(0, 13)}-7${digest.slice(0, 3)}-${variant}${digest.slice(4, 7)}-${digest.slice(8, 20)}`
}

/** A row as it is in the other repository. */
export const movedInto = (
  row: Row,
  { by, ids, texts = [] }: OfRepository,
  repository: string,
  idOf: (id: string) => string,
): Row => {
  const moved: Record<string, Row[string]> = { ...row }
  if ('repository' in moved) moved['repository'] = repository
  for (const column of ids) {
    const id = moved[column]
    if (typeof id === 'string') moved[column] = idOf(id)
  }
  for (const column of texts) {
    const text = moved[column]
    if (typeof text === 'string') moved[column] = text.replaceAll(bare(String(row[by])), bare(String(moved[by])))
  }
  return moved
}

const bare = (id: string): string => id.replaceAll('-', '')
