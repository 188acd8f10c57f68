import type { Tables } from '../tables/index.ts'

type TableName = keyof Tables

interface Parent {
  readonly table: TableName
  readonly columns: readonly string[]
}

/** Rows of a table that name a row of another one. */
export interface Relation {
  readonly table: TableName
  readonly columns: readonly string[]
  /** One of these must have the row. */
  readonly to: readonly Parent[]
}

const from = (table: TableName, columns: string, ...to: readonly `${TableName}(${string})`[]): Relation => ({
  table,
  columns: split(columns),
  to: to.map((parent) => {
    const [name = '', names = ''] = parent.slice(0, -1).split('(')
    return { table: name as TableName, columns: split(names) }
  }),
})

const split = (columns: string): string[] => columns.split(',')

const file = 'artifacts(id)'
const repository = 'repositories(id)'
/** The file, together with the repository that it is in. */
const fileHere = 'artifacts(id,repository)'
const deletedHere = 'deleted_artifacts(id,repository)'

/**
 * Every relation between tables, whether the schema knows it as a foreign key or cannot, because the other end may be
 * one of two tables, or because more has to agree than a key. A row in which one of the columns is null names nothing.
 */
export const relations: readonly Relation[] = [
  from('annotations', 'artifact_id', file, 'deleted_artifacts(id)'),
  from('annotation_revisions', 'artifact_id', 'annotations(artifact_id)'),
  from('artifact_references', 'artifact_id', file),
  from('artifact_stages', 'artifact_id', file),
  from('artifact_stages', 'repository', repository),
  from('artifact_stages', 'artifact_id,repository', fileHere),
  from('artifacts', 'repository', repository),
  from('artifacts', 'sha256', 'blobs(sha256)'),
  from('artifacts', 'id,repository', 'claims(id,repository)'),
  from('assembly_parts', 'claim_id', 'assemblies(claim_id)'),
  from('asset_revisions', 'repository', repository),
  from('asset_revisions', 'artifact_id', file),
  from('asset_revisions', 'artifact_id,repository', fileHere),
  from('asset_revisions', 'repository,path', 'assets(repository,path)', 'removed_paths(repository,path)'),
  from('assets', 'repository', repository),
  from('assets', 'artifact_id', file),
  from('attachments', 'artifact_id,revision', 'attachment_revisions(artifact_id,revision)'),
  from('claims', 'repository', repository),
  from('delegations', 'operator_key_id', 'service_keys(id)'),
  from('delegations', 'account_id', 'service_accounts(id)'),
  from('deleted_artifacts', 'repository', repository),
  from('freed_packages', 'repository', repository),
  from('freed_packages', 'artifact_id,repository', deletedHere),
  from('group_grants', 'group_id', 'access_groups(id)'),
  from('group_grants', 'repository', repository),
  from('group_members', 'group_id', 'access_groups(id)'),
  from('group_members', 'account_id', 'accounts(id)'),
  from('jobs', 'repository', repository),
  from('journal', 'repository', repository),
  from('journal_cursors', 'repository', repository),
  from('journal_gaps', 'repository', repository),
  from('usage_samples', 'repository', repository),
  from('lfs_locks', 'repository', repository),
  from('lfs_objects', 'repository', repository),
  from('lfs_objects', 'sha256', 'blobs(sha256)'),
  from('lfs_objects', 'id,repository,sha256', 'claims(id,repository,sha256)'),
  from('lfs_settings', 'repository', repository),
  from('npm_cached_packages', 'repository', repository),
  from('npm_cached_pieces', 'package_id', 'npm_cached_packages(id)'),
  from('npm_cached_versions', 'package_id', 'npm_cached_packages(id)'),
  from('npm_cached_versions', 'package_id,repository,name', 'npm_cached_packages(id,repository,name)'),
  from('npm_cached_versions', 'sha256', 'blobs(sha256)'),
  from('npm_cached_versions', 'id,repository,sha256', 'claims(id,repository,sha256)'),
  from('npm_documents', 'package_id', 'npm_packages(id)'),
  from('npm_packages', 'repository', repository),
  from('npm_pieces', 'package_id', 'npm_packages(id)'),
  from('npm_promotions', 'copy_id', 'npm_versions(id)'),
  from('npm_promotions', 'source_repository', repository),
  from('npm_stages', 'version_id', 'npm_versions(id)'),
  from('npm_stages', 'version_id,repository,name,version', 'npm_versions(id,repository,name,version)'),
  from('npm_tags', 'package_id', 'npm_packages(id)'),
  from('npm_tags', 'version_id', 'npm_versions(id)'),
  from('npm_tags', 'version_id,package_id', 'npm_versions(id,package_id)'),
  from('npm_taken_versions', 'repository', repository),
  from('npm_upstreams', 'repository', repository),
  from('npm_versions', 'package_id', 'npm_packages(id)'),
  from('npm_versions', 'package_id,repository,name', 'npm_packages(id,repository,name)'),
  from('npm_versions', 'package_id,piece', 'npm_pieces(package_id,number)'),
  from('npm_versions', 'sha256', 'blobs(sha256)'),
  from('npm_versions', 'id,repository,sha256', 'claims(id,repository,sha256)'),
  from('oci_blobs', 'repository', repository),
  from('oci_blobs', 'sha256', 'blobs(sha256)'),
  from('oci_blobs', 'id,repository,sha256', 'claims(id,repository,sha256)'),
  from('oci_images', 'repository', repository),
  from('oci_immutable_tags', 'repository', repository),
  from('oci_manifests', 'repository,name', 'oci_images(repository,name)'),
  from('oci_manifests', 'blob_id', 'oci_blobs(id)'),
  from('oci_manifests', 'blob_id,repository', 'oci_blobs(id,repository)'),
  from('oci_promotions', 'copy_id', 'oci_manifests(id)'),
  from('oci_promotions', 'source_repository', repository),
  from('oci_references', 'manifest_id', 'oci_manifests(id)'),
  from('oci_references', 'manifest_id,repository,name', 'oci_manifests(id,repository,name)'),
  from('oci_references', 'blob_id', 'oci_blobs(id)'),
  from('oci_references', 'blob_id,repository', 'oci_blobs(id,repository)'),
  from('oci_stages', 'manifest_id', 'oci_manifests(id)'),
  from('oci_stages', 'manifest_id,repository,name,digest', 'oci_manifests(id,repository,name,digest)'),
  from('oci_tag_moves', 'manifest_id', 'oci_manifests(id)'),
  from('oci_tag_moves', 'manifest_id,repository,name', 'oci_manifests(id,repository,name)'),
  from('oci_tags', 'manifest_id', 'oci_manifests(id)'),
  from('oci_tags', 'manifest_id,repository,name', 'oci_manifests(id,repository,name)'),
  from('package_stages', 'artifact_id', 'packages(artifact_id)'),
  from('packages', 'artifact_id', file),
  from('packages', 'repository', repository),
  from('packages', 'artifact_id,repository', fileHere),
  from('personal_tokens', 'account_id', 'accounts(id)'),
  from('promotions', 'source_repository', repository),
  from('promotions', 'target', repository),
  from('promotions', 'copy_id,target', fileHere, deletedHere),
  from('reclaim_notes', 'repository', repository),
  from('removal_notes', 'repository', repository),
  from('removal_notes', 'name', 'removals(name)'),
  from('removed_paths', 'repository', repository),
  from('restored_repositories', 'repository', repository),
  from('search_entries', 'artifact_id', file),
  from('service_keys', 'account_id', 'service_accounts(id)'),
  from('sessions', 'account_id', 'accounts(id)'),
  from('storage_events', 'repository', repository),
  from('storage_policies', 'repository', repository),
  from('storage_policies', 'key_id', 'service_keys(id)'),
  from('uploads', 'repository', repository),
]
