import { exportPage, exportPageOfLongRows } from '../../kernel/limits/engines.ts'
import type { Tables } from '../tables/index.ts'

export type TableName = keyof Tables

/** Goes along when a catalog moves to another database. */
export interface MovedTable {
  readonly moves: true
  /** Its primary key, in whose order rows are read. */
  readonly key: readonly string[]
  /** Rows read at a time. */
  readonly page: number
  /**
   * What does not go along, or changes; null where all rows go as they are. Done in `rows.queries.ts` and `rows.ts`.
   */
  readonly except: string | null
}

interface StayingTable {
  readonly moves: false
  readonly why: string
}

export type TableDecision = MovedTable | StayingTable

const by = (...key: string[]): MovedTable => ({ moves: true, key, page: exportPage, except: null })
const staying = (why: string): StayingTable => ({ moves: false, why })

/**
 * What happens to each table when a catalog is exported and imported. The one list of it: a table that is missing here
 * does not compile. In an order in which every row finds what it refers to.
 *
 * What is derived from other rows goes along as plain rows where it is a table like others, such as `package_stages`.
 * What an engine keeps in a form of its own has its place in {@link derivedTables}.
 */
export const tableDecisions = {
  installation: staying('it is about one database'),
  accounts: by('id'),
  sessions: by('id'),
  personal_tokens: by('id'),
  access_groups: by('id'),
  group_members: by('group_id', 'account_id'),
  repositories: { ...by('id'), except: 'pending bytes are 0, since uploads that are under way stay' },
  group_grants: by('group_id', 'repository'),
  service_accounts: by('id'),
  service_keys: by('id'),
  delegations: by('operator_key_id', 'account_id'),
  security_audit: by('sequence'),
  counters: { ...by('name'), except: 'less what uploads that are under way reserve; no job is open' },
  link_keys: by('id'),
  throttles: staying('who typed a wrong password in the last hours is forgotten'),
  download_queue: staying('each database signs its own queue tickets'),
  download_gateways: staying('it tells which processes run'),
  uploads: { ...by('id'), except: 'those that are under way: their bytes are in staging' },
  assemblies: staying('it tells where the parts of uploads lie that are under way'),
  assembly_parts: staying('it tells of parts of uploads that are under way'),
  jobs: { ...by('id'), except: 'open ones: they complete uploads that are under way' },
  blobs: { ...by('sha256'), except: 'those that only uploads under way hold' },
  inline_bytes: { ...by('generation'), page: exportPageOfLongRows, except: 'those of blobs that stay' },
  inline_sums: staying('it is counted anew'),
  claims: { ...by('id'), except: 'those of uploads that are under way' },
  artifacts: by('id'),
  deleted_artifacts: by('id'),
  annotations: { ...by('artifact_id'), page: exportPageOfLongRows },
  annotation_revisions: { ...by('artifact_id', 'revision'), page: exportPageOfLongRows },
  search_entries: staying('search knows files anew from what is said of them'),
  assets: by('repository', 'path'),
  asset_revisions: by('repository', 'path', 'revision'),
  removed_paths: by('repository', 'path'),
  journal: by('repository', 'sequence'),
  journal_cursors: by('repository', 'name'),
  journal_gaps: by('repository', 'beyond'),
  usage_samples: by('repository', 'taken_at'),
  service_samples: staying('it tells of the service that was there'),
  webhooks: by('id'),
  storage_policies: by('repository'),
  storage_events: by('repository', 'sequence'),
  artifact_references: by('artifact_id', 'owner', 'key'),
  attachment_revisions: by('artifact_id', 'revision'),
  attachments: by('artifact_id', 'revision', 'position'),
  artifact_stages: by('artifact_id', 'stage'),
  packages: { ...by('artifact_id'), page: exportPageOfLongRows },
  freed_packages: { ...by('artifact_id'), page: exportPageOfLongRows },
  package_stages: by('artifact_id', 'stage'),
  promotions: by('source_id', 'target', 'copy_id'),
  oci_images: by('repository', 'name'),
  oci_blobs: by('id'),
  oci_manifests: { ...by('id'), page: exportPageOfLongRows },
  oci_references: by('manifest_id', 'position'),
  oci_tags: by('repository', 'name', 'tag'),
  oci_tag_moves: by('repository', 'name', 'tag', 'revision'),
  oci_stages: by('manifest_id', 'stage'),
  oci_promotions: by('copy_id', 'source_repository', 'source_name'),
  oci_immutable_tags: by('repository'),
  backup_plan: by('id'),
  backup_points: by('id'),
  backup_jobs: staying('it tells what was done beside one database'),
  backup_agents: staying('it tells which process runs'),
  backup_shares: staying('it tells what was read from beside one database'),
  backup_damage: staying('a copy looks at the vault for itself'),
  backup_rehearsals: staying('it tells what was tried beside one database'),
  healed_blobs: staying('it tells of one store'),
  restored_repositories: staying('it tells a command beside one database how far it is'),
  lfs_objects: by('id'),
  lfs_locks: by('id'),
  lfs_settings: by('repository'),
  npm_packages: by('id'),
  npm_versions: { ...by('id'), page: exportPageOfLongRows },
  npm_taken_versions: by('repository', 'name', 'version'),
  npm_tags: by('package_id', 'tag'),
  npm_stages: by('version_id', 'stage'),
  npm_promotions: by('copy_id', 'source_repository'),
  npm_documents: { ...by('package_id'), page: exportPageOfLongRows },
  npm_pieces: { ...by('package_id', 'number'), page: exportPageOfLongRows },
  npm_upstreams: by('repository'),
  npm_cached_packages: by('id'),
  npm_cached_pieces: { ...by('package_id', 'part', 'number'), page: exportPageOfLongRows },
  npm_cached_versions: by('id'),
  npm_fetches: staying('it tells what processes of one database fetch'),
  reclaim_candidates: by('sha256'),
  reclaim_notes: by('sha256', 'repository', 'artifact_id'),
  removals: by('name'),
  removal_notes: by('name', 'repository', 'artifact_id'),
  quarantine: staying('it tells of one store'),
  upkeep_runs: staying('it tells of the processes of one database'),
  reclaim_holds: staying('it tells who holds reclaim back in this database'),
} as const satisfies Record<TableName, TableDecision>

/**
 * Beginnings of the names of tables that an engine keeps for an index of its own, such as those of a full-text search.
 * They stay, and `rebuildDerived` in `rows.queries.ts` makes them anew, unless inserting the rows that they are made
 * from does.
 */
export const derivedTables: readonly string[] = ['search_index']

export interface MovingTable extends MovedTable {
  readonly name: TableName
}

/** Those that go along, in an order in which every row finds what it refers to. */
export const movingTables = (): MovingTable[] =>
  Object.entries<TableDecision>(tableDecisions).flatMap(([name, decision]) =>
    decision.moves && isTableName(name) ? [{ ...decision, name }] : [],
  )

export const isTableName = (name: string): name is TableName => Object.hasOwn(tableDecisions, name)
