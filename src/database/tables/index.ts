import type { AccountsTable, SessionsTable } from './accounts.ts'
import type { AnnotationRevisionsTable, AnnotationsTable } from './annotations.ts'
import type { ArtifactsTable, DeletedArtifactsTable } from './artifacts.ts'
import type { AssembliesTable, AssemblyPartsTable } from './assemblies.ts'
import type { AssetRevisionsTable, AssetsTable, RemovedPathsTable } from './assets.ts'
import type { AttachmentRevisionsTable, AttachmentsTable } from './attachments.ts'
import type {
  BackupAgentsTable,
  BackupDamageTable,
  BackupJobsTable,
  BackupPlanTable,
  BackupPointsTable,
  BackupRehearsalsTable,
  BackupSharesTable,
  HealedBlobsTable,
  RestoredRepositoriesTable,
} from './backups.ts'
import type {
  BlobsTable,
  InlineBytesTable,
  InlineSumsTable,
  ReclaimCandidatesTable,
  ReclaimNotesTable,
  RemovalNotesTable,
  RemovalsTable,
} from './blobs.ts'
import type { ClaimsTable } from './claims.ts'
import type { CountersTable } from './counters.ts'
import type { DownloadGatewaysTable, DownloadQueueTable } from './download-queue.ts'
import type { AccessGroupsTable, GroupGrantsTable, GroupMembersTable } from './groups.ts'
import type {
  OciBlobsTable,
  OciImagesTable,
  OciImmutableTagsTable,
  OciManifestsTable,
  OciPromotionsTable,
  OciReferencesTable,
  OciStagesTable,
  OciTagMovesTable,
  OciTagsTable,
} from './images.ts'
import type { InstallationTable, ReclaimHoldsTable } from './installation.ts'
import type { JobsTable } from './jobs.ts'
import type { JournalTable } from './journal.ts'
import type { JournalCursorsTable } from './journal-cursors.ts'
import type { JournalGapsTable } from './journal-gaps.ts'
import type { LfsLocksTable, LfsObjectsTable, LfsSettingsTable } from './lfs.ts'
import type { LinkKeysTable } from './link-keys.ts'
import type {
  NpmDocumentsTable,
  NpmPackagesTable,
  NpmPiecesTable,
  NpmPromotionsTable,
  NpmStagesTable,
  NpmTagsTable,
  NpmTakenVersionsTable,
  NpmVersionsTable,
} from './npm.ts'
import type {
  NpmCachedPackagesTable,
  NpmCachedPiecesTable,
  NpmCachedVersionsTable,
  NpmFetchesTable,
  NpmUpstreamsTable,
} from './npm-upstreams.ts'
import type { FreedPackagesTable, PackageStagesTable, PackagesTable } from './packages.ts'
import type { PersonalTokensTable } from './personal-tokens.ts'
import type { PromotionsTable } from './promotions.ts'
import type { QuarantineTable } from './quarantine.ts'
import type { ArtifactReferencesTable } from './references.ts'
import type { RepositoriesTable } from './repositories.ts'
import type { ServiceSamplesTable, UsageSamplesTable } from './samples.ts'
import type { SearchEntriesTable } from './search-entries.ts'
import type { SecurityAuditTable } from './security-audit.ts'
import type { DelegationsTable, ServiceAccountsTable, ServiceKeysTable } from './service-accounts.ts'
import type { ArtifactStagesTable } from './stages.ts'
import type { StorageEventsTable } from './storage-events.ts'
import type { StoragePoliciesTable } from './storage-policies.ts'
import type { ThrottlesTable } from './throttles.ts'
import type { UpkeepRunsTable } from './upkeep-runs.ts'
import type { UploadsTable } from './uploads.ts'
import type { WebhooksTable } from './webhooks.ts'

/** Every table of the one schema, by name. Booleans are 0 or 1, times RFC 3339 text in UTC, sizes safe integers. */
export interface Tables {
  access_groups: AccessGroupsTable
  accounts: AccountsTable
  artifact_references: ArtifactReferencesTable
  artifact_stages: ArtifactStagesTable
  annotations: AnnotationsTable
  annotation_revisions: AnnotationRevisionsTable
  artifacts: ArtifactsTable
  asset_revisions: AssetRevisionsTable
  assemblies: AssembliesTable
  assembly_parts: AssemblyPartsTable
  assets: AssetsTable
  attachment_revisions: AttachmentRevisionsTable
  attachments: AttachmentsTable
  backup_agents: BackupAgentsTable
  backup_damage: BackupDamageTable
  backup_jobs: BackupJobsTable
  backup_plan: BackupPlanTable
  backup_points: BackupPointsTable
  backup_rehearsals: BackupRehearsalsTable
  backup_shares: BackupSharesTable
  healed_blobs: HealedBlobsTable
  restored_repositories: RestoredRepositoriesTable
  blobs: BlobsTable
  inline_bytes: InlineBytesTable
  inline_sums: InlineSumsTable
  claims: ClaimsTable
  counters: CountersTable
  delegations: DelegationsTable
  deleted_artifacts: DeletedArtifactsTable
  download_gateways: DownloadGatewaysTable
  download_queue: DownloadQueueTable
  freed_packages: FreedPackagesTable
  group_grants: GroupGrantsTable
  group_members: GroupMembersTable
  installation: InstallationTable
  jobs: JobsTable
  journal: JournalTable
  journal_cursors: JournalCursorsTable
  journal_gaps: JournalGapsTable
  usage_samples: UsageSamplesTable
  service_samples: ServiceSamplesTable
  lfs_locks: LfsLocksTable
  lfs_objects: LfsObjectsTable
  lfs_settings: LfsSettingsTable
  link_keys: LinkKeysTable
  npm_cached_packages: NpmCachedPackagesTable
  npm_cached_pieces: NpmCachedPiecesTable
  npm_cached_versions: NpmCachedVersionsTable
  npm_documents: NpmDocumentsTable
  npm_fetches: NpmFetchesTable
  npm_packages: NpmPackagesTable
  npm_pieces: NpmPiecesTable
  npm_promotions: NpmPromotionsTable
  npm_stages: NpmStagesTable
  npm_tags: NpmTagsTable
  npm_taken_versions: NpmTakenVersionsTable
  npm_upstreams: NpmUpstreamsTable
  npm_versions: NpmVersionsTable
  oci_blobs: OciBlobsTable
  oci_images: OciImagesTable
  oci_immutable_tags: OciImmutableTagsTable
  oci_manifests: OciManifestsTable
  oci_promotions: OciPromotionsTable
  oci_references: OciReferencesTable
  oci_stages: OciStagesTable
  oci_tag_moves: OciTagMovesTable
  oci_tags: OciTagsTable
  package_stages: PackageStagesTable
  packages: PackagesTable
  personal_tokens: PersonalTokensTable
  promotions: PromotionsTable
  quarantine: QuarantineTable
  reclaim_candidates: ReclaimCandidatesTable
  reclaim_holds: ReclaimHoldsTable
  reclaim_notes: ReclaimNotesTable
  removals: RemovalsTable
  removal_notes: RemovalNotesTable
  removed_paths: RemovedPathsTable
  repositories: RepositoriesTable
  search_entries: SearchEntriesTable
  security_audit: SecurityAuditTable
  service_accounts: ServiceAccountsTable
  service_keys: ServiceKeysTable
  sessions: SessionsTable
  storage_events: StorageEventsTable
  storage_policies: StoragePoliciesTable
  throttles: ThrottlesTable
  upkeep_runs: UpkeepRunsTable
  uploads: UploadsTable
  webhooks: WebhooksTable
}
