import type { Tables } from '../tables/index.ts'

/** A column of text that is JSON, and what kind of it. */
export interface JsonColumn {
  readonly table: keyof Tables
  /** Names the row in words. */
  readonly key: string
  readonly column: string
  readonly form: 'array' | 'object'
  /** Whether all that is in it is text. */
  readonly ofStrings: boolean
}

const json = (
  table: JsonColumn['table'],
  key: string,
  column: string,
  form: JsonColumn['form'],
  ofStrings = false,
): JsonColumn => ({ table, key, column, form, ofStrings })

const described = (table: JsonColumn['table'], key = 'id'): JsonColumn[] => [
  json(table, key, 'labels', 'array', true),
  json(table, key, 'metadata', 'object', true),
]

/** Every column that holds JSON. One that does not makes whoever reads the row fail. */
export const jsonColumns: readonly JsonColumn[] = [
  ...described('annotations', 'artifact_id'),
  json('annotations', 'artifact_id', 'collections', 'array', true),
  ...described('annotation_revisions', 'artifact_id'),
  json('annotation_revisions', 'artifact_id', 'collections', 'array', true),
  ...described('artifacts'),
  ...described('deleted_artifacts'),
  ...described('uploads'),
  json('delegations', 'operator_key_id', 'actions', 'array', true),
  json('delegations', 'operator_key_id', 'ceiling', 'array'),
  json('freed_packages', 'artifact_id', 'manifest', 'object'),
  json('npm_cached_packages', 'id', 'tags', 'object', true),
  json('npm_packages', 'id', 'maintainers', 'array'),
  json('npm_packages', 'id', 'stars', 'array', true),
  json('npm_packages', 'id', 'summary', 'object'),
  json('npm_upstreams', 'repository', 'reserved', 'array', true),
  json('npm_versions', 'id', 'manifest', 'object'),
  json('npm_versions', 'id', 'attestations', 'array'),
  json('oci_immutable_tags', 'repository', 'patterns', 'array', true),
  json('oci_manifests', 'id', 'annotations', 'object', true),
  json('oci_manifests', 'id', 'platforms', 'array', true),
  json('packages', 'artifact_id', 'manifest', 'object'),
  json('service_accounts', 'id', 'bindings', 'array'),
  json('service_keys', 'id', 'bindings', 'array'),
  json('storage_events', 'repository', 'details', 'object'),
  json('storage_policies', 'repository', 'channels', 'array'),
  json('storage_policies', 'repository', 'protected_labels', 'array', true),
  json('webhooks', 'id', 'actions', 'array', true),
]
