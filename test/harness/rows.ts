import type { Transaction } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'
import type { Tables } from '../../src/database/tables/index.ts'
import type { TestService } from './service.ts'

/**
 * Looks into the database of a service, past the service. For what no operation shows, and for counters filled by hand.
 */
export const inDatabase = async <T>(
  service: Pick<TestService, 'databaseUrl'>,
  work: (q: Transaction) => Promise<T>,
): Promise<T> => {
  const database = await openDatabase({ url: service.databaseUrl, report: () => {} })
  try {
    return await database.transaction(work)
  } finally {
    await database[Symbol.asyncDispose]()
  }
}

/** Sets a server-wide total, so that a limit is reached without ten thousand requests; returns what it was. */
export const setCounter = (
  service: Pick<TestService, 'databaseUrl'>,
  name: Tables['counters']['name'],
  value: number,
): Promise<number> =>
  inDatabase(service, async (q) => {
    const { value: before } = await q
      .selectFrom('counters')
      .select('value')
      .where('name', '=', name)
      .executeTakeFirstOrThrow()
    await q.updateTable('counters').set({ value }).where('name', '=', name).execute()
    return before
  })

/** The security audit, oldest first. */
export const securityAudit = (service: Pick<TestService, 'databaseUrl'>) =>
  inDatabase(service, (q) => q.selectFrom('security_audit').selectAll().orderBy('sequence').execute())

const tables = {
  access_groups: true,
  accounts: true,
  artifact_references: true,
  artifact_stages: true,
  annotations: true,
  annotation_revisions: true,
  artifacts: true,
  assemblies: true,
  assembly_parts: true,
  asset_revisions: true,
  assets: true,
  attachment_revisions: true,
  attachments: true,
  backup_agents: true,
  backup_damage: true,
  backup_jobs: true,
  backup_plan: true,
  backup_points: true,
  backup_rehearsals: true,
  backup_shares: true,
  blobs: true,
  claims: true,
  counters: true,
  delegations: true,
  deleted_artifacts: true,
  download_gateways: true,
  download_queue: true,
  freed_packages: true,
  group_grants: true,
  group_members: true,
  healed_blobs: true,
  installation: true,
  inline_bytes: true,
  inline_sums: true,
  jobs: true,
  journal: true,
  journal_cursors: true,
  journal_gaps: true,
  service_samples: true,
  usage_samples: true,
  lfs_locks: true,
  lfs_objects: true,
  lfs_settings: true,
  link_keys: true,
  npm_cached_packages: true,
  npm_cached_pieces: true,
  npm_cached_versions: true,
  npm_documents: true,
  npm_fetches: true,
  npm_packages: true,
  npm_pieces: true,
  npm_promotions: true,
  npm_stages: true,
  npm_tags: true,
  npm_taken_versions: true,
  npm_upstreams: true,
  npm_versions: true,
  oci_blobs: true,
  oci_images: true,
  oci_immutable_tags: true,
  oci_manifests: true,
  oci_promotions: true,
  oci_references: true,
  oci_stages: true,
  oci_tag_moves: true,
  oci_tags: true,
  package_stages: true,
  packages: true,
  personal_tokens: true,
  promotions: true,
  quarantine: true,
  reclaim_candidates: true,
  reclaim_holds: true,
  reclaim_notes: true,
  removal_notes: true,
  removals: true,
  removed_paths: true,
  repositories: true,
  restored_repositories: true,
  search_entries: true,
  security_audit: true,
  service_accounts: true,
  service_keys: true,
  sessions: true,
  storage_events: true,
  storage_policies: true,
  throttles: true,
  upkeep_runs: true,
  uploads: true,
  webhooks: true,
} as const satisfies Record<keyof Tables, true>

export const tableNames = Object.keys(tables) as readonly (keyof Tables)[]

/** Every row of every table as one text, to be searched for what must not be there. */
export const everyRow = (service: Pick<TestService, 'databaseUrl'>): Promise<string> =>
  inDatabase(service, async (q) => {
    const found: string[] = []
    for (const table of tableNames)
      for (const row of await q.selectFrom(table).selectAll().execute()) found.push(`${table} ${JSON.stringify(row)}`)
    return found.join('\n')
  })
