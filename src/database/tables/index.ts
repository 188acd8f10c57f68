import type { AccountsTable, SessionsTable } from './accounts.ts'
import type { AnnotationsTable } from './annotations.ts'
import type { ArtifactsTable, DeletedArtifactsTable } from './artifacts.ts'
import type { AssembliesTable, AssemblyPartsTable } from './assemblies.ts'
import type { AssetRevisionsTable, AssetsTable } from './assets.ts'
import type { BlobsTable, ReclaimCandidatesTable, ReclaimNotesTable } from './blobs.ts'
import type { ClaimsTable } from './claims.ts'
import type { CountersTable } from './counters.ts'
import type { AccessGroupsTable, GroupGrantsTable, GroupMembersTable } from './groups.ts'
import type { JobsTable } from './jobs.ts'
import type { JournalTable } from './journal.ts'
import type { LinkKeysTable } from './link-keys.ts'
import type { PersonalTokensTable } from './personal-tokens.ts'
import type { RepositoriesTable } from './repositories.ts'
import type { SearchEntriesTable } from './search-entries.ts'
import type { SecurityAuditTable } from './security-audit.ts'
import type { DelegationsTable, ServiceAccountsTable, ServiceKeysTable } from './service-accounts.ts'
import type { ThrottlesTable } from './throttles.ts'
import type { UploadsTable } from './uploads.ts'

/** Every table of the one schema, by name. Booleans are 0 or 1, times RFC 3339 text in UTC, sizes safe integers. */
export interface Tables {
  access_groups: AccessGroupsTable
  accounts: AccountsTable
  annotations: AnnotationsTable
  artifacts: ArtifactsTable
  asset_revisions: AssetRevisionsTable
  assemblies: AssembliesTable
  assembly_parts: AssemblyPartsTable
  assets: AssetsTable
  blobs: BlobsTable
  claims: ClaimsTable
  counters: CountersTable
  delegations: DelegationsTable
  deleted_artifacts: DeletedArtifactsTable
  group_grants: GroupGrantsTable
  group_members: GroupMembersTable
  jobs: JobsTable
  journal: JournalTable
  link_keys: LinkKeysTable
  personal_tokens: PersonalTokensTable
  reclaim_candidates: ReclaimCandidatesTable
  reclaim_notes: ReclaimNotesTable
  repositories: RepositoriesTable
  search_entries: SearchEntriesTable
  security_audit: SecurityAuditTable
  service_accounts: ServiceAccountsTable
  service_keys: ServiceKeysTable
  sessions: SessionsTable
  throttles: ThrottlesTable
  uploads: UploadsTable
}
