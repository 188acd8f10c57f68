CREATE TABLE "access_groups" (
  "id" text primary key,
  "name" text not null,
  "name_key" text not null unique,
  "created_at" text not null
) strict;

CREATE TABLE "accounts" (
  "id" text primary key,
  "name" text not null,
  "name_key" text not null unique,
  "administrator" integer not null,
  "enabled" integer not null,
  "password_hash" text not null,
  "created_at" text not null
) strict;

CREATE TABLE "annotation_revisions" (
  "artifact_id" text not null,
  "revision" integer not null,
  "labels" text not null,
  "metadata" text not null,
  "collections" text not null,
  "actor" text not null,
  "created_at" text not null,
  constraint "annotation_revisions_key" primary key ("artifact_id", "revision")
) strict;

CREATE TABLE "annotations" (
  "artifact_id" text primary key,
  "revision" integer not null,
  "labels" text not null,
  "metadata" text not null,
  "collections" text not null
) strict;

CREATE TABLE "artifact_references" (
  "artifact_id" text not null references "artifacts" ("id"),
  "owner" text not null,
  "key" text not null,
  "created_at" text not null,
  constraint "artifact_references_key" primary key ("artifact_id", "owner", "key")
) strict;

CREATE TABLE "artifact_stages" (
  "artifact_id" text not null references "artifacts" ("id"),
  "stage" text not null,
  "repository" text not null references "repositories" ("id"),
  "promoted_at" text not null,
  "actor" text not null,
  "comment" text,
  constraint "artifact_stages_key" primary key ("artifact_id", "stage")
) strict;

CREATE INDEX "artifact_stages_by_repository" on "artifact_stages" (
  "repository",
  "artifact_id",
  "stage"
);

CREATE INDEX "artifact_stages_by_stage" on "artifact_stages" (
  "repository",
  "stage",
  "artifact_id"
);

CREATE TABLE "artifacts" (
  "id" text primary key,
  "repository" text not null references "repositories" ("id"),
  "name" text not null,
  "size" integer not null,
  "sha256" text not null references "blobs" ("sha256"),
  "labels" text not null,
  "metadata" text not null,
  "created_at" text not null,
  "expires_at" text not null,
  "published_at" text not null
) strict;

CREATE INDEX "artifacts_by_repository" on "artifacts" (
  "repository",
  "id"
);

CREATE TABLE "assemblies" (
  "claim_id" text primary key,
  "place" text not null unique,
  "hashed_parts" integer not null,
  "hash_state" text,
  "stored_bytes" integer default 0 not null,
  "verified" integer default 0 not null
) strict;

CREATE TABLE "assembly_parts" (
  "claim_id" text not null references "assemblies" ("claim_id"),
  "part_index" integer not null,
  "sha256" text not null,
  "receipt" text not null,
  constraint "assembly_parts_key" primary key ("claim_id", "part_index")
) strict;

CREATE TABLE "asset_revisions" (
  "repository" text not null references "repositories" ("id"),
  "path" text not null,
  "revision" integer not null,
  "artifact_id" text not null references "artifacts" ("id"),
  "actor" text not null,
  "created_at" text not null,
  "source_revision" integer,
  "removed" integer default 0 not null,
  "media_type" text,
  constraint "asset_revisions_key" primary key ("repository", "path", "revision")
) strict;

CREATE INDEX "asset_revisions_by_artifact" on "asset_revisions" (
  "artifact_id"
);

CREATE TABLE "assets" (
  "repository" text not null references "repositories" ("id"),
  "path" text not null,
  "revision" integer not null,
  "artifact_id" text not null references "artifacts" ("id"),
  "oldest" integer default 1 not null,
  constraint "assets_key" primary key ("repository", "path")
) strict;

CREATE INDEX "assets_of_artifact" on "assets" (
  "artifact_id",
  "path"
);

CREATE TABLE "attachment_revisions" (
  "artifact_id" text not null,
  "revision" integer not null,
  "actor" text not null,
  "created_at" text not null,
  constraint "attachment_revisions_key" primary key ("artifact_id", "revision")
) strict;

CREATE TABLE "attachments" (
  "artifact_id" text not null,
  "revision" integer not null,
  "position" integer not null,
  "name" text not null,
  "kind" text not null,
  "target_id" text not null,
  "description" text not null,
  constraint "attachments_key" primary key ("artifact_id", "revision", "position"),
  constraint "attachments_revision" foreign key ("artifact_id", "revision") references "attachment_revisions" ("artifact_id", "revision")
) strict;

CREATE INDEX "attachments_by_target" on "attachments" (
  "target_id",
  "artifact_id"
);

CREATE TABLE "backup_agents" (
  "id" integer primary key,
  "holder" text not null,
  "lease_until" text not null,
  "last_seen_at" text not null,
  "version" text not null,
  "vault_id" text,
  "vault_available" integer not null,
  "encrypted" integer not null,
  "free_bytes" integer,
  "total_bytes" integer
) strict;

CREATE TABLE "backup_damage" (
  "vault_id" text not null,
  "name" text not null,
  "found_at" text not null,
  constraint "backup_damage_key" primary key ("vault_id", "name")
) strict;

CREATE TABLE "backup_jobs" (
  "id" text primary key,
  "kind" text not null,
  "state" text not null,
  "phase" text,
  "requested_at" text not null,
  "started_at" text,
  "finished_at" text,
  "error_code" text,
  "point_id" text,
  "bytes_copied" integer not null,
  "bytes_total" integer not null,
  "blobs_copied" integer not null,
  "blobs_total" integer not null,
  "requested_by" text,
  "idempotency_key" text
) strict;

CREATE UNIQUE INDEX "backup_jobs_asked_for" on "backup_jobs" (
  "requested_by",
  "kind",
  "idempotency_key"
) where "idempotency_key" is not null;

CREATE INDEX "backup_jobs_by_time" on "backup_jobs" (
  "requested_at",
  "id"
);

CREATE INDEX "backup_jobs_of_kind" on "backup_jobs" (
  "kind",
  "requested_at",
  "id"
);

CREATE INDEX "backup_jobs_open" on "backup_jobs" (
  "requested_at",
  "id",
  "state"
) where "finished_at" is null;

CREATE TABLE "backup_plan" (
  "id" integer primary key,
  "revision" integer not null,
  "enabled" integer not null,
  "hour" integer not null,
  "minute" integer not null,
  "timezone" text not null,
  "daily" integer not null,
  "weekly" integer not null,
  "monthly" integer not null,
  "counted_from" text not null
) strict;

CREATE TABLE "backup_points" (
  "id" text primary key,
  "vault_id" text not null,
  "snapshot_at" text not null,
  "completed_at" text not null,
  "blobs" integer not null,
  "content_bytes" integer not null,
  "new_bytes" integer not null,
  "table_count" integer not null,
  "row_count" integer not null,
  "pinned" integer not null,
  "verified_at" text,
  "verify_depth" text,
  "verify_error" text,
  "forgotten_at" text,
  "found_at" text,
  "missing_since" text
) strict;

CREATE INDEX "backup_points_by_time" on "backup_points" (
  "vault_id",
  "snapshot_at",
  "id"
);

CREATE TABLE "backup_rehearsals" (
  "id" text primary key,
  "vault_id" text not null,
  "point_id" text not null,
  "snapshot_at" text not null,
  "begun_at" text not null,
  "ended_at" text,
  "error_code" text,
  "row_count" integer not null,
  "blobs" integer not null,
  "answers" integer not null
) strict;

CREATE TABLE "backup_shares" (
  "vault_id" text not null,
  "share" integer not null,
  "read_at" text not null,
  constraint "backup_shares_key" primary key ("vault_id", "share")
) strict;

CREATE TABLE "blobs" (
  "sha256" text primary key,
  "size" integer not null,
  "state" text not null,
  "stored_at" text,
  "generation" text default '' not null,
  "inline" integer default 0 not null
) strict;

CREATE TABLE "claims" (
  "id" text primary key,
  "repository" text not null references "repositories" ("id"),
  "holder" text not null,
  "sha256" text,
  "size" integer not null,
  "state" text not null,
  "retired_at" text,
  "beside" integer default 0 not null
) strict;

CREATE INDEX "claims_by_digest" on "claims" (
  "sha256"
);

CREATE INDEX "claims_by_repository" on "claims" (
  "repository",
  "state"
);

CREATE INDEX "claims_pending" on "claims" (
  "id",
  "size"
) where "state" = 'pending';

CREATE INDEX "claims_retired" on "claims" (
  "retired_at"
) where "retired_at" is not null;

CREATE INDEX "claims_retired_by_repository" on "claims" (
  "repository",
  "retired_at"
) where "retired_at" is not null;

CREATE TABLE "counters" (
  "name" text primary key,
  "value" integer not null
) strict;

CREATE TABLE "delegations" (
  "operator_key_id" text not null references "service_keys" ("id"),
  "account_id" text not null references "service_accounts" ("id"),
  "actions" text not null,
  "ceiling" text not null,
  constraint "delegations_key" primary key ("operator_key_id", "account_id")
) strict;

CREATE INDEX "delegations_by_account" on "delegations" (
  "account_id"
);

CREATE TABLE "deleted_artifacts" (
  "id" text primary key,
  "repository" text not null references "repositories" ("id"),
  "name" text not null,
  "size" integer not null,
  "sha256" text not null,
  "labels" text not null,
  "metadata" text not null,
  "created_at" text not null,
  "expires_at" text not null,
  "published_at" text not null,
  "deleted_at" text not null,
  "released_at" text
) strict;

CREATE INDEX "deleted_artifacts_released" on "deleted_artifacts" (
  "released_at"
) where "released_at" is not null;

CREATE INDEX deleted_artifacts_restorable on deleted_artifacts (
  repository,
  deleted_at,
  id
)
  where released_at is null;

CREATE TABLE "download_gateways" (
  "id" text primary key,
  "slots" integer not null,
  "held" integer not null,
  "wanted" integer not null,
  "ends_at" text not null
) strict;

CREATE TABLE "download_queue" (
  "id" integer primary key check (id = 1),
  "ticket_secret" text not null
) strict;

CREATE TABLE "freed_packages" (
  "artifact_id" text primary key,
  "repository" text not null references "repositories" ("id"),
  "group_name" text not null,
  "group_key" text not null,
  "name" text not null,
  "name_key" text not null,
  "version" text not null,
  "version_key" text not null,
  "prerelease" integer not null,
  "registered_at" text not null,
  "manifest_bytes" integer not null,
  "manifest" text not null,
  "published_at" text default '' not null
) strict;

CREATE TABLE "group_grants" (
  "group_id" text not null references "access_groups" ("id"),
  "repository" text not null references "repositories" ("id"),
  "access" text not null,
  constraint "group_grants_key" primary key ("group_id", "repository")
) strict;

CREATE INDEX "group_grants_by_repository" on "group_grants" (
  "repository"
);

CREATE TABLE "group_members" (
  "group_id" text not null references "access_groups" ("id"),
  "account_id" text not null references "accounts" ("id"),
  constraint "group_members_key" primary key ("group_id", "account_id")
) strict;

CREATE INDEX "group_members_by_account" on "group_members" (
  "account_id"
);

CREATE TABLE "healed_blobs" (
  "sha256" text not null,
  "healed_at" text not null,
  "finding" text not null,
  constraint "healed_blobs_key" primary key ("sha256", "healed_at")
) strict;

CREATE TABLE "inline_bytes" (
  "generation" text primary key,
  "sha256" text not null,
  "bytes" blob not null
) strict;

CREATE TABLE "inline_sums" (
  "id" integer primary key check (id = 1),
  "files" integer not null,
  "bytes" integer not null
) strict;

CREATE TABLE "installation" (
  "id" integer primary key check (id = 1),
  "identity" text not null,
  "importing" text,
  "imported_through" text not null,
  "imported_pieces" integer not null
) strict;

CREATE TABLE "jobs" (
  "id" text primary key,
  "kind" text not null,
  "subject" text not null,
  "repository" text not null references "repositories" ("id"),
  "owner" text not null,
  "credential_id" text,
  "status" text not null,
  "generation" integer not null,
  "attempts" integer not null,
  "error_code" text,
  "lasting" integer not null,
  "created_at" text not null,
  "due_at" text,
  "holder" text,
  "ended_at" text,
  constraint "jobs_by_subject" unique ("kind", "subject")
) strict;

CREATE INDEX "jobs_by_owner" on "jobs" (
  "owner",
  "id"
);

CREATE INDEX "jobs_due" on "jobs" (
  "kind",
  "due_at"
) where "due_at" is not null;

CREATE INDEX "jobs_ended" on "jobs" (
  "ended_at"
) where "ended_at" is not null;

CREATE INDEX "jobs_open_by_owner" on "jobs" (
  "owner"
) where "ended_at" is null;

CREATE TABLE "journal" (
  "repository" text not null references "repositories" ("id"),
  "sequence" integer not null,
  "action" text not null,
  "artifact_id" text not null,
  "detail" text,
  "actor" text not null,
  "occurred_at" text not null,
  "mode" text,
  "peer_repository" text,
  "peer_artifact_id" text,
  "comment" text,
  "peer_image" text,
  constraint "journal_key" primary key ("repository", "sequence")
) strict;

CREATE INDEX "journal_promotions" on "journal" (
  "repository",
  "sequence"
) where action in (
  'stage.added',
  'stage.removed',
  'artifact.promoted',
  'artifact.received',
  
  'image.staged',
  'image.unstaged',
  'image.promoted',
  'image.received',
  
  'package.staged',
  'package.unstaged',
  'package.promoted',
  'package.received'
);

CREATE INDEX "journal_promotions_by_artifact" on "journal" (
  "repository",
  "artifact_id",
  "sequence"
) where action in (
  'stage.added',
  'stage.removed',
  'artifact.promoted',
  'artifact.received',
  
  'image.staged',
  'image.unstaged',
  'image.promoted',
  'image.received',
  
  'package.staged',
  'package.unstaged',
  'package.promoted',
  'package.received'
);

CREATE TABLE "journal_cursors" (
  "repository" text not null references "repositories" ("id"),
  "name" text not null,
  "sequence" integer not null,
  "moved_at" text not null,
  constraint "journal_cursors_key" primary key ("repository", "name")
) strict;

CREATE TABLE "journal_gaps" (
  "repository" text not null references "repositories" ("id"),
  "beyond" integer not null,
  "through" integer not null,
  constraint "journal_gaps_key" primary key ("repository", "beyond")
) strict;

CREATE TABLE "lfs_locks" (
  "id" text primary key,
  "repository" text not null references "repositories" ("id"),
  "sub_path" text not null,
  "path" text not null,
  "digest" text not null,
  "locked_at" text not null,
  "actor" text not null
) strict;

CREATE UNIQUE INDEX "lfs_locks_by_digest" on "lfs_locks" (
  "repository",
  "digest"
);

CREATE INDEX "lfs_locks_by_id" on "lfs_locks" (
  "repository",
  "sub_path",
  "id"
);

CREATE TABLE "lfs_objects" (
  "id" text primary key,
  "repository" text not null references "repositories" ("id"),
  "sha256" text not null,
  "size" integer not null,
  "pushed_at" text not null,
  "actor" text not null,
  "used_at" text not null,
  "deleted_at" text
) strict;

CREATE INDEX lfs_objects_by_id on lfs_objects (
  repository,
  id
) where deleted_at is null;

CREATE INDEX lfs_objects_deleted on lfs_objects (
  repository,
  deleted_at,
  id
) where deleted_at is not null;

CREATE UNIQUE INDEX lfs_objects_here on lfs_objects (
  repository,
  sha256
) where deleted_at is null;

CREATE TABLE "lfs_settings" (
  "repository" text primary key references "repositories" ("id"),
  "revision" integer not null,
  "locking" integer not null,
  "saved_at" text not null,
  "actor" text not null
) strict;

CREATE TABLE "link_keys" (
  "id" text primary key,
  "public_key" text not null,
  "created_at" text not null,
  "ends_at" text not null
) strict;

CREATE INDEX "link_keys_by_end" on "link_keys" (
  "ends_at"
);

CREATE TABLE "npm_cached_packages" (
  "id" text primary key,
  "repository" text not null references "repositories" ("id"),
  "name" text not null,
  "url" text not null,
  "etag" text,
  "sha256" text,
  "revision" integer not null,
  "fetched_at" text not null,
  "checked_at" text not null,
  "versions" integer not null,
  "left_out" integer not null,
  "tags" text not null,
  "bytes" integer not null,
  "failure" text,
  "failed_at" text
) strict;

CREATE UNIQUE INDEX "npm_cached_packages_by_name" on "npm_cached_packages" (
  "repository",
  "name"
);

CREATE INDEX npm_cached_packages_by_use on npm_cached_packages (
  repository,
  checked_at,
  bytes
)
  where bytes > 0;

CREATE TABLE "npm_cached_pieces" (
  "package_id" text not null references "npm_cached_packages" ("id"),
  "part" text not null,
  "number" integer not null,
  "bytes" blob not null,
  constraint "npm_cached_pieces_key" primary key ("package_id", "part", "number")
) strict;

CREATE TABLE "npm_cached_versions" (
  "id" text primary key,
  "package_id" text not null references "npm_cached_packages" ("id"),
  "repository" text not null,
  "name" text not null,
  "version" text not null,
  "sha256" text not null,
  "size" integer not null,
  "sha1" text not null,
  "sha512" text not null,
  "fetched_at" text not null,
  "actor" text not null
) strict;

CREATE UNIQUE INDEX "npm_cached_versions_by_version" on "npm_cached_versions" (
  "repository",
  "name",
  "version"
);

CREATE INDEX "npm_cached_versions_of_package" on "npm_cached_versions" (
  "package_id",
  "version"
);

CREATE TABLE "npm_documents" (
  "package_id" text primary key references "npm_packages" ("id"),
  "head" text not null,
  "times" text not null,
  "tail" text not null,
  "abbreviated_head" text not null
) strict;

CREATE TABLE "npm_fetches" (
  "repository" text not null,
  "name" text not null,
  "version" text not null,
  "holder" text not null,
  "leased_until" text not null,
  constraint "npm_fetches_key" primary key ("repository", "name", "version")
) strict;

CREATE INDEX "npm_fetches_by_end" on "npm_fetches" (
  "leased_until"
);

CREATE TABLE "npm_packages" (
  "id" text primary key,
  "repository" text not null references "repositories" ("id"),
  "name" text not null,
  "revision" integer not null,
  "created_at" text not null,
  "modified_at" text not null,
  "versions" integer not null,
  "last_number" integer not null,
  "maintainers" text not null,
  "stars" text not null,
  "summary" text,
  "found_by" text not null
) strict;

CREATE UNIQUE INDEX "npm_packages_by_name" on "npm_packages" (
  "repository",
  "name"
);

CREATE INDEX npm_packages_listed on npm_packages (
  repository,
  name
) where versions > 0;

CREATE TABLE "npm_pieces" (
  "package_id" text not null references "npm_packages" ("id"),
  "number" integer not null,
  "versions" text not null,
  "abbreviated" text not null,
  "times" text not null,
  constraint "npm_pieces_key" primary key ("package_id", "number")
) strict;

CREATE TABLE "npm_promotions" (
  "copy_id" text not null references "npm_versions" ("id"),
  "source_repository" text not null references "repositories" ("id"),
  "mode" text not null,
  "promoted_at" text not null,
  constraint "npm_promotions_key" primary key ("copy_id", "source_repository")
) strict;

CREATE INDEX "npm_promotions_by_source" on "npm_promotions" (
  "source_repository",
  "copy_id"
);

CREATE TABLE "npm_stages" (
  "version_id" text not null references "npm_versions" ("id"),
  "stage" text not null,
  "repository" text not null,
  "name" text not null,
  "version" text not null,
  "promoted_at" text not null,
  "actor" text not null,
  "comment" text,
  constraint "npm_stages_key" primary key ("version_id", "stage")
) strict;

CREATE INDEX "npm_stages_by_stage" on "npm_stages" (
  "repository",
  "stage",
  "name",
  "version"
);

CREATE INDEX "npm_stages_by_version" on "npm_stages" (
  "repository",
  "name",
  "version",
  "stage"
);

CREATE TABLE "npm_tags" (
  "package_id" text not null references "npm_packages" ("id"),
  "tag" text not null,
  "version_id" text not null references "npm_versions" ("id"),
  "moved_at" text not null,
  "actor" text not null,
  constraint "npm_tags_key" primary key ("package_id", "tag")
) strict;

CREATE INDEX "npm_tags_of_version" on "npm_tags" (
  "version_id",
  "tag"
);

CREATE TABLE "npm_taken_versions" (
  "repository" text not null references "repositories" ("id"),
  "name" text not null,
  "version" text not null,
  "released_at" text not null,
  constraint "npm_taken_versions_key" primary key ("repository", "name", "version")
) strict;

CREATE TABLE "npm_upstreams" (
  "repository" text primary key references "repositories" ("id"),
  "revision" integer not null,
  "url" text,
  "reserved" text not null,
  "fresh_seconds" integer not null,
  "saved_at" text not null,
  "actor" text not null
) strict;

CREATE TABLE "npm_versions" (
  "id" text primary key,
  "package_id" text not null references "npm_packages" ("id"),
  "repository" text not null,
  "name" text not null,
  "version" text not null,
  "number" integer not null,
  "piece" integer,
  "sha256" text not null,
  "size" integer not null,
  "sha1" text not null,
  "sha512" text not null,
  "files" integer not null,
  "unpacked_size" integer not null,
  "manifest" text not null,
  "readme" text,
  "attestations" text,
  "deprecated" text,
  "published_at" text not null,
  "actor" text not null,
  "deleted_at" text
) strict;

CREATE INDEX npm_versions_by_age on npm_versions (
  repository,
  name,
  published_at,
  id,
  deleted_at
)
  where deleted_at is null;

CREATE INDEX "npm_versions_by_number" on "npm_versions" (
  "package_id",
  "number"
);

CREATE INDEX npm_versions_by_piece on npm_versions (
  package_id,
  piece,
  number
) where piece is not null;

CREATE UNIQUE INDEX "npm_versions_by_version" on "npm_versions" (
  "repository",
  "name",
  "version"
);

CREATE INDEX npm_versions_deleted on npm_versions (
  package_id,
  number
) where deleted_at is not null;

CREATE INDEX npm_versions_of_repository_by_age on npm_versions (
  repository,
  published_at,
  id,
  deleted_at
)
  where deleted_at is null;

CREATE TABLE "oci_blobs" (
  "id" text primary key,
  "repository" text not null references "repositories" ("id"),
  "sha256" text not null,
  "sha512" text,
  "size" integer not null,
  "created_at" text not null,
  "unused_since" text,
  "sent_below" text,
  "counted_on_at" text default '' not null
) strict;

CREATE UNIQUE INDEX "oci_blobs_by_sha256" on "oci_blobs" (
  "sha256",
  "repository"
);

CREATE UNIQUE INDEX oci_blobs_by_sha512 on oci_blobs (
  sha512,
  repository
) where sha512 is not null;

CREATE INDEX oci_blobs_unused on oci_blobs (
  unused_since
) where unused_since is not null;

CREATE INDEX oci_blobs_unused_below on oci_blobs (
  repository,
  sent_below,
  unused_since
)
  where unused_since is not null;

CREATE TABLE "oci_images" (
  "repository" text not null references "repositories" ("id"),
  "name" text not null,
  "created_at" text not null,
  "tags" integer default 0 not null,
  "manifests" integer default 0 not null,
  "pushed_at" text default '' not null,
  constraint "oci_images_key" primary key ("repository", "name")
) strict;

CREATE TABLE "oci_immutable_tags" (
  "repository" text primary key references "repositories" ("id"),
  "revision" integer not null,
  "patterns" text not null,
  "saved_at" text not null,
  "actor" text not null
) strict;

CREATE TABLE "oci_manifests" (
  "id" text primary key,
  "repository" text not null,
  "name" text not null,
  "digest" text not null,
  "digest512" text,
  "blob_id" text not null references "oci_blobs" ("id"),
  "media_type" text not null,
  "artifact_type" text,
  "subject" text,
  "annotations" text,
  "pushed_at" text not null,
  "actor" text not null,
  "unused_since" text,
  "content_bytes" integer default 0 not null,
  "platforms" text,
  "tagged_at" text,
  "counted_on_at" text default '' not null,
  constraint "oci_manifests_image" foreign key ("repository", "name") references "oci_images" ("repository", "name")
) strict;

CREATE INDEX oci_manifests_by_age on oci_manifests (
  repository,
  name,
  tagged_at,
  id
)
  where tagged_at is not null;

CREATE INDEX "oci_manifests_by_blob" on "oci_manifests" (
  "blob_id"
);

CREATE UNIQUE INDEX "oci_manifests_by_digest" on "oci_manifests" (
  "repository",
  "name",
  "digest"
);

CREATE UNIQUE INDEX oci_manifests_by_digest512 on oci_manifests (
  repository,
  name,
  digest512
)
  where digest512 is not null;

CREATE INDEX oci_manifests_by_subject on oci_manifests (
  repository,
  name,
  subject,
  digest
)
  where subject is not null;

CREATE INDEX oci_manifests_by_subject_and_type on oci_manifests
  (
  repository,
  name,
  subject,
  artifact_type,
  digest
) where subject is not null;

CREATE INDEX oci_manifests_of_repository_by_age on oci_manifests (
  repository,
  tagged_at,
  id
)
  where tagged_at is not null;

CREATE INDEX oci_manifests_unused on oci_manifests (
  repository,
  unused_since
)
  where unused_since is not null;

CREATE TABLE "oci_promotions" (
  "copy_id" text not null references "oci_manifests" ("id"),
  "source_repository" text not null references "repositories" ("id"),
  "source_name" text not null,
  "moved_tag" text,
  "mode" text not null,
  "promoted_at" text not null,
  constraint "oci_promotions_key" primary key ("copy_id", "source_repository", "source_name")
) strict;

CREATE INDEX "oci_promotions_by_source" on "oci_promotions" (
  "source_repository",
  "source_name",
  "moved_tag",
  "promoted_at"
);

CREATE TABLE "oci_references" (
  "manifest_id" text not null references "oci_manifests" ("id"),
  "position" integer not null,
  "repository" text not null,
  "name" text not null,
  "role" text not null,
  "digest" text not null,
  "blob_id" text references "oci_blobs" ("id"),
  constraint "oci_references_key" primary key ("manifest_id", "position")
) strict;

CREATE INDEX oci_references_by_blob on oci_references (
  blob_id
) where blob_id is not null;

CREATE INDEX oci_references_by_manifest on oci_references (
  repository,
  name,
  digest
)
  where role = 'manifest';

CREATE INDEX oci_references_elsewhere on oci_references (
  repository,
  digest
)
  where blob_id is null and role <> 'manifest';

CREATE TABLE "oci_stages" (
  "manifest_id" text not null references "oci_manifests" ("id"),
  "stage" text not null,
  "repository" text not null,
  "name" text not null,
  "digest" text not null,
  "promoted_at" text not null,
  "actor" text not null,
  "comment" text,
  constraint "oci_stages_key" primary key ("manifest_id", "stage")
) strict;

CREATE INDEX "oci_stages_by_image" on "oci_stages" (
  "repository",
  "name",
  "digest",
  "stage"
);

CREATE INDEX "oci_stages_by_stage" on "oci_stages" (
  "repository",
  "stage",
  "name",
  "digest"
);

CREATE TABLE "oci_tag_moves" (
  "repository" text not null,
  "name" text not null,
  "tag" text not null,
  "revision" integer not null,
  "manifest_id" text not null references "oci_manifests" ("id"),
  "removed" integer not null,
  "moved_at" text not null,
  "actor" text not null,
  constraint "oci_tag_moves_key" primary key ("repository", "name", "tag", "revision")
) strict;

CREATE INDEX "oci_tag_moves_of_manifest" on "oci_tag_moves" (
  "manifest_id"
);

CREATE INDEX oci_tag_moves_removed on oci_tag_moves (
  repository,
  name,
  moved_at,
  tag
)
  where removed = 1;

CREATE TABLE "oci_tags" (
  "repository" text not null,
  "name" text not null,
  "tag" text not null,
  "manifest_id" text not null references "oci_manifests" ("id"),
  "moved_at" text not null,
  "actor" text not null,
  "algorithm" text default 'sha256' not null,
  constraint "oci_tags_key" primary key ("repository", "name", "tag")
) strict;

CREATE INDEX "oci_tags_by_time" on "oci_tags" (
  "repository",
  "name",
  "moved_at",
  "tag"
);

CREATE INDEX "oci_tags_of_manifest" on "oci_tags" (
  "manifest_id",
  "tag"
);

CREATE INDEX "oci_tags_of_manifest_by_time" on "oci_tags" (
  "manifest_id",
  "moved_at",
  "tag"
);

CREATE TABLE "package_stages" (
  "artifact_id" text not null references "packages" ("artifact_id"),
  "stage" text not null,
  "repository" text not null,
  "group_key" text not null,
  "name_key" text not null,
  "prerelease" integer not null,
  "version_key" text not null,
  "promoted_at" text not null,
  constraint "package_stages_key" primary key ("artifact_id", "stage")
) strict;

CREATE INDEX "package_stages_by_precedence" on "package_stages" (
  "repository",
  "group_key",
  "name_key",
  "stage",
  "prerelease",
  "version_key",
  "artifact_id",
  "promoted_at"
);

CREATE INDEX "package_stages_by_promotion" on "package_stages" (
  "repository",
  "group_key",
  "name_key",
  "stage",
  "promoted_at",
  "version_key",
  "prerelease",
  "artifact_id"
);

CREATE TABLE "packages" (
  "artifact_id" text primary key references "artifacts" ("id"),
  "repository" text not null references "repositories" ("id"),
  "group_name" text not null,
  "group_key" text not null,
  "name" text not null,
  "name_key" text not null,
  "version" text not null,
  "version_key" text not null,
  "prerelease" integer not null,
  "registered_at" text not null,
  "manifest_bytes" integer not null,
  "manifest" text not null,
  "published_at" text default '' not null
) strict;

CREATE INDEX "packages_by_age" on "packages" (
  "repository",
  "group_key",
  "name_key",
  "published_at",
  "artifact_id"
);

CREATE INDEX "packages_by_group" on "packages" (
  "repository",
  "group_key",
  "name_key",
  "version_key"
);

CREATE INDEX "packages_by_identity" on "packages" (
  "repository",
  "group_key",
  "name_key",
  lower(version_key)
);

CREATE INDEX "packages_by_name" on "packages" (
  "repository",
  "name_key",
  "group_key",
  "version_key"
);

CREATE UNIQUE INDEX "packages_by_precedence" on "packages" (
  "repository",
  "group_key",
  "name_key",
  "prerelease",
  "version_key"
);

CREATE INDEX "packages_by_version" on "packages" (
  "repository",
  "version_key",
  "name_key",
  "group_key"
);

CREATE INDEX "packages_of_group_by_version" on "packages" (
  "repository",
  "group_key",
  "version_key",
  "name_key"
);

CREATE INDEX "packages_of_name_by_version" on "packages" (
  "repository",
  "name_key",
  "version_key",
  "group_key"
);

CREATE INDEX "packages_of_repository_by_age" on "packages" (
  "repository",
  "published_at",
  "artifact_id"
);

CREATE TABLE "personal_tokens" (
  "id" text primary key,
  "account_id" text not null references "accounts" ("id"),
  "name" text not null,
  "prefix" text not null,
  "secret_sha256" text not null unique,
  "scope" text not null,
  "created_at" text not null,
  "expires_at" text not null,
  "last_used_at" text,
  "revoked_at" text,
  "by_sign_in" integer default 0 not null
) strict;

CREATE INDEX "personal_tokens_active" on "personal_tokens" (
  "account_id",
  "expires_at"
) where "revoked_at" is null;

CREATE INDEX "personal_tokens_by_account" on "personal_tokens" (
  "account_id",
  "id"
);

CREATE INDEX "personal_tokens_by_end" on "personal_tokens" (
  "expires_at"
);

CREATE TABLE "promotions" (
  "source_id" text not null,
  "source_repository" text not null references "repositories" ("id"),
  "target" text not null references "repositories" ("id"),
  "copy_id" text not null,
  "mode" text not null,
  "promoted_at" text not null,
  "source_revision" integer,
  "copy_revision" integer,
  constraint "promotions_key" primary key ("source_id", "target", "copy_id")
) strict;

CREATE INDEX "promotions_by_copy" on "promotions" (
  "copy_id"
);

CREATE TABLE "quarantine" (
  "name" text primary key,
  "size" integer not null,
  "seen_at" text not null
) strict;

CREATE TABLE "reclaim_candidates" (
  "sha256" text primary key,
  "since" text not null
) strict;

CREATE TABLE "reclaim_holds" (
  "id" text primary key,
  "purpose" text not null,
  "ends_at" text not null
) strict;

CREATE TABLE "reclaim_notes" (
  "sha256" text not null,
  "repository" text not null references "repositories" ("id"),
  "artifact_id" text not null,
  constraint "reclaim_notes_key" primary key ("sha256", "repository", "artifact_id")
) strict;

CREATE TABLE "removal_notes" (
  "name" text not null,
  "repository" text not null references "repositories" ("id"),
  "artifact_id" text not null,
  constraint "removal_notes_key" primary key ("name", "repository", "artifact_id")
) strict;

CREATE TABLE "removals" (
  "name" text primary key,
  "size" integer not null,
  "begun_at" text not null,
  "tries" integer not null,
  "due_at" text not null
) strict;

CREATE INDEX "removals_by_begin" on "removals" (
  "begun_at"
);

CREATE INDEX "removals_by_due" on "removals" (
  "due_at",
  "name"
);

CREATE TABLE "removed_paths" (
  "repository" text not null references "repositories" ("id"),
  "path" text not null,
  "revision" integer not null,
  "oldest" integer not null,
  "removed_at" text not null,
  constraint "removed_paths_key" primary key ("repository", "path")
) strict;

CREATE TABLE "repositories" (
  "id" text primary key,
  "created_at" text not null,
  "deleted_at" text,
  "journal_head" integer not null,
  "published_bytes" integer not null,
  "pending_bytes" integer not null,
  "retired_bytes" integer not null,
  "quota_bytes" integer,
  "grace_hours" integer,
  "cleanup_revision" integer default 0 not null,
  "warning_percent" integer default 80 not null,
  "critical_percent" integer default 95 not null,
  "told_usage" text default 'unlimited' not null,
  "storage_event_head" integer default 0 not null,
  "incarnation" integer default 1 not null,
  "journal_base" integer default 0 not null,
  "storage_event_base" integer default 0 not null
) strict;

CREATE TABLE "restored_repositories" (
  "repository" text primary key references "repositories" ("id"),
  "source" text not null,
  "point_id" text not null,
  "begun_at" text not null,
  "finished_at" text
) strict;

CREATE TABLE schema_migrations (
  
  number integer primary key,
  
  name text not null
  
) strict;

CREATE TABLE "search_entries" (
  "artifact_id" text primary key references "artifacts" ("id") on delete cascade,
  "repository" text not null,
  "position" integer not null,
  "text" text not null,
  "paths" text
) strict;

CREATE INDEX "search_entries_by_position" on "search_entries" (
  "position"
);

CREATE VIRTUAL TABLE search_index using fts5(
  tokens,
  content = '',
  contentless_delete = 1,
  
  detail = none,
  tokenize = 'ascii'
);

CREATE TABLE 'search_index_config'(
  k PRIMARY KEY,
  v
) WITHOUT ROWID;

CREATE TABLE 'search_index_data'(
  id INTEGER PRIMARY KEY,
  block BLOB
);

CREATE TABLE 'search_index_docsize'(
  id INTEGER PRIMARY KEY,
  sz BLOB,
  origin INTEGER
);

CREATE TABLE 'search_index_idx'(
  segid,
  term,
  pgno,
  PRIMARY KEY(segid, term)
) WITHOUT ROWID;

CREATE TABLE "security_audit" (
  "sequence" integer primary key,
  "occurred_at" text not null,
  "actor" text not null,
  "action" text not null,
  "subject" text not null,
  "client_address" text not null,
  "service_account_id" text,
  "subject_name" text
) strict;

CREATE INDEX "security_audit_by_service_account" on "security_audit" (
  "service_account_id",
  "sequence"
) where "service_account_id" is not null;

CREATE TABLE "service_accounts" (
  "id" text primary key,
  "name" text not null,
  "name_key" text not null unique,
  "enabled" integer not null,
  "revision" integer not null,
  "bindings" text not null,
  "created_at" text not null
) strict;

CREATE TABLE "service_keys" (
  "id" text primary key,
  "account_id" text not null references "service_accounts" ("id"),
  "name" text not null,
  "state" text not null,
  "secret_sha256" text not null,
  "bindings" text not null,
  "created_at" text not null,
  "expires_at" text not null,
  "activation_expires_at" text not null,
  "rotated_from" text,
  "superseded_at" text,
  "requested_by" text not null,
  "idempotency_key" text not null,
  "request_sha256" text not null,
  constraint "service_keys_by_request" unique ("requested_by", "idempotency_key")
) strict;

CREATE INDEX "service_keys_by_account" on "service_keys" (
  "account_id",
  "id"
);

CREATE TABLE "service_samples" (
  "taken_at" text primary key,
  "published_bytes" integer not null,
  "reserved_bytes" integer not null,
  "open_sessions" integer not null,
  "open_jobs" integer not null
) strict;

CREATE TABLE "sessions" (
  "id" text primary key,
  "account_id" text not null references "accounts" ("id"),
  "secret_sha256" text not null unique,
  "created_at" text not null,
  "expires_at" text not null,
  "opened_for" text
) strict;

CREATE INDEX "sessions_by_account" on "sessions" (
  "account_id",
  "id"
);

CREATE INDEX "sessions_by_end" on "sessions" (
  "expires_at"
);

CREATE UNIQUE INDEX "sessions_by_opened_for" on "sessions" (
  "opened_for"
);

CREATE TABLE "storage_events" (
  "repository" text not null references "repositories" ("id"),
  "sequence" integer not null,
  "occurred_at" text not null,
  "level" text not null,
  "code" text not null,
  "details" text not null,
  constraint "storage_events_key" primary key ("repository", "sequence")
) strict;

CREATE INDEX "storage_events_by_time" on "storage_events" (
  "occurred_at",
  "repository",
  "sequence"
);

CREATE TABLE "storage_policies" (
  "repository" text primary key references "repositories" ("id"),
  "revision" integer not null,
  "enabled" integer not null,
  "grouping" text not null,
  "keep_last" integer not null,
  "channels" text not null,
  "protected_labels" text not null,
  "min_age_hours" integer not null,
  "interval_minutes" integer not null,
  "key_id" text,
  "next_run_at" text,
  "last_run_at" text,
  "last_deleted" integer not null,
  "last_error" text,
  "last_deleted_images" integer default 0 not null,
  "last_deleted_npm_versions" integer default 0 not null
) strict;

CREATE INDEX "storage_policies_due" on "storage_policies" (
  "next_run_at",
  "repository"
) where "next_run_at" is not null;

CREATE TABLE "throttles" (
  "key" text primary key,
  "failures" integer not null,
  "last_failure_at" text not null,
  "blocked_until" text
) strict;

CREATE INDEX "throttles_by_age" on "throttles" (
  "last_failure_at"
);

CREATE TABLE "upkeep_runs" (
  "name" text primary key,
  "succeeded_at" text not null
) strict;

CREATE TABLE "uploads" (
  "id" text primary key,
  "repository" text not null references "repositories" ("id"),
  "kind" text not null,
  "owner" text not null,
  "idempotency_key" text,
  "name" text not null,
  "size" integer,
  "sha256" text,
  "labels" text not null,
  "metadata" text not null,
  "status" text not null,
  "created_at" text not null,
  "expires_at" text not null,
  "ended_at" text,
  "turn_holder" text,
  "turn_until" text
) strict;

CREATE INDEX uploads_appended_below on uploads (
  repository,
  name,
  expires_at
)
  where kind = 'appended' and status = 'pending';

CREATE UNIQUE INDEX "uploads_by_idempotency_key" on "uploads" (
  "repository",
  "owner",
  "idempotency_key"
) where "idempotency_key" is not null;

CREATE INDEX "uploads_cancelled_of_owner" on "uploads" (
  "owner",
  "ended_at"
) where "status" = 'cancelled';

CREATE INDEX "uploads_ended" on "uploads" (
  "ended_at"
) where "ended_at" is not null;

CREATE INDEX "uploads_open" on "uploads" (
  "expires_at"
) where "status" = 'pending';

CREATE INDEX "uploads_open_by_id" on "uploads" (
  "id"
) where "status" = 'pending';

CREATE INDEX "uploads_open_of_owner" on "uploads" (
  "owner",
  "id"
) where "status" = 'pending';

CREATE INDEX "uploads_turns" on "uploads" (
  "turn_until"
) where "turn_until" is not null;

CREATE TABLE "usage_samples" (
  "repository" text not null references "repositories" ("id"),
  "taken_at" text not null,
  "published_bytes" integer not null,
  "pending_bytes" integer not null,
  "retired_bytes" integer not null,
  "quota_bytes" integer,
  constraint "usage_samples_key" primary key ("repository", "taken_at")
) strict;

CREATE INDEX "usage_samples_by_age" on "usage_samples" (
  "taken_at"
);

CREATE TABLE "webhooks" (
  "id" text primary key,
  "repository" text not null,
  "host" text not null,
  "actions" text,
  "created_at" text not null,
  "named_at" text not null,
  "holder" text,
  "leased_until" text,
  "last_success_at" text,
  "failing_since" text,
  "failures" integer default 0 not null,
  "error_code" text,
  "next_try_at" text,
  "lost" integer default 0 not null
) strict;
