create table access_groups (
  id text collate "C" not null,
  name text collate "C" not null,
  name_key text collate "C" not null,
  created_at text collate "C" not null
);

alter table access_groups add constraint access_groups_name_key_key UNIQUE (name_key);

alter table access_groups add constraint access_groups_pkey PRIMARY KEY (id);

create table accounts (
  id text collate "C" not null,
  name text collate "C" not null,
  name_key text collate "C" not null,
  administrator bigint not null,
  enabled bigint not null,
  password_hash text collate "C" not null,
  created_at text collate "C" not null
);

alter table accounts add constraint accounts_name_key_key UNIQUE (name_key);

alter table accounts add constraint accounts_pkey PRIMARY KEY (id);

create table annotation_revisions (
  artifact_id text collate "C" not null,
  revision bigint not null,
  labels text collate "C" not null,
  metadata text collate "C" not null,
  collections text collate "C" not null,
  actor text collate "C" not null,
  created_at text collate "C" not null
);

alter table annotation_revisions add constraint annotation_revisions_key PRIMARY KEY (artifact_id, revision);

create table annotations (
  artifact_id text collate "C" not null,
  revision bigint not null,
  labels text collate "C" not null,
  metadata text collate "C" not null,
  collections text collate "C" not null
);

alter table annotations add constraint annotations_pkey PRIMARY KEY (artifact_id);

create table artifact_references (
  artifact_id text collate "C" not null,
  owner text collate "C" not null,
  key text collate "C" not null,
  created_at text collate "C" not null
);

alter table artifact_references add constraint artifact_references_artifact_id_fkey FOREIGN KEY (artifact_id) REFERENCES artifacts(id);

alter table artifact_references add constraint artifact_references_key PRIMARY KEY (artifact_id, owner, key);

create table artifact_stages (
  artifact_id text collate "C" not null,
  stage text collate "C" not null,
  repository text collate "C" not null,
  promoted_at text collate "C" not null,
  actor text collate "C" not null,
  comment text collate "C"
);

alter table artifact_stages add constraint artifact_stages_artifact_id_fkey FOREIGN KEY (artifact_id) REFERENCES artifacts(id);

alter table artifact_stages add constraint artifact_stages_key PRIMARY KEY (artifact_id, stage);

alter table artifact_stages add constraint artifact_stages_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

CREATE INDEX artifact_stages_by_repository ON artifact_stages USING btree (repository, artifact_id, stage);

CREATE INDEX artifact_stages_by_stage ON artifact_stages USING btree (repository, stage, artifact_id);

create table artifacts (
  id text collate "C" not null,
  repository text collate "C" not null,
  name text collate "C" not null,
  size bigint not null,
  sha256 text collate "C" not null,
  labels text collate "C" not null,
  metadata text collate "C" not null,
  created_at text collate "C" not null,
  expires_at text collate "C" not null,
  published_at text collate "C" not null
);

alter table artifacts add constraint artifacts_pkey PRIMARY KEY (id);

alter table artifacts add constraint artifacts_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

alter table artifacts add constraint artifacts_sha256_fkey FOREIGN KEY (sha256) REFERENCES blobs(sha256);

CREATE INDEX artifacts_by_repository ON artifacts USING btree (repository, id);

create table assemblies (
  claim_id text collate "C" not null,
  place text collate "C" not null,
  hashed_parts bigint not null,
  hash_state text collate "C",
  stored_bytes bigint not null default 0,
  verified bigint not null
);

alter table assemblies add constraint assemblies_pkey PRIMARY KEY (claim_id);

alter table assemblies add constraint assemblies_place_key UNIQUE (place);

create table assembly_parts (
  claim_id text collate "C" not null,
  part_index bigint not null,
  sha256 text collate "C" not null,
  receipt text collate "C" not null
);

alter table assembly_parts add constraint assembly_parts_claim_id_fkey FOREIGN KEY (claim_id) REFERENCES assemblies(claim_id);

alter table assembly_parts add constraint assembly_parts_key PRIMARY KEY (claim_id, part_index);

create table asset_revisions (
  repository text collate "C" not null,
  path text collate "C" not null,
  revision bigint not null,
  artifact_id text collate "C" not null,
  actor text collate "C" not null,
  created_at text collate "C" not null,
  source_revision bigint,
  removed bigint not null default 0,
  media_type text collate "C"
);

alter table asset_revisions add constraint asset_revisions_artifact_id_fkey FOREIGN KEY (artifact_id) REFERENCES artifacts(id);

alter table asset_revisions add constraint asset_revisions_key PRIMARY KEY (repository, path, revision);

alter table asset_revisions add constraint asset_revisions_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

CREATE INDEX asset_revisions_by_artifact ON asset_revisions USING btree (artifact_id);

create table assets (
  repository text collate "C" not null,
  path text collate "C" not null,
  revision bigint not null,
  artifact_id text collate "C" not null,
  oldest bigint not null default 1
);

alter table assets add constraint assets_artifact_id_fkey FOREIGN KEY (artifact_id) REFERENCES artifacts(id);

alter table assets add constraint assets_key PRIMARY KEY (repository, path);

alter table assets add constraint assets_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

CREATE INDEX assets_of_artifact ON assets USING btree (artifact_id, path);

create table attachment_revisions (
  artifact_id text collate "C" not null,
  revision bigint not null,
  actor text collate "C" not null,
  created_at text collate "C" not null
);

alter table attachment_revisions add constraint attachment_revisions_key PRIMARY KEY (artifact_id, revision);

create table attachments (
  artifact_id text collate "C" not null,
  revision bigint not null,
  "position" bigint not null,
  name text collate "C" not null,
  kind text collate "C" not null,
  target_id text collate "C" not null,
  description text collate "C" not null
);

alter table attachments add constraint attachments_key PRIMARY KEY (artifact_id, revision, "position");

alter table attachments add constraint attachments_revision FOREIGN KEY (artifact_id, revision) REFERENCES attachment_revisions(artifact_id, revision);

CREATE INDEX attachments_by_target ON attachments USING btree (target_id, artifact_id);

create table backup_agents (
  id bigint not null,
  holder text collate "C" not null,
  lease_until text collate "C" not null,
  last_seen_at text collate "C" not null,
  version text collate "C" not null,
  vault_id text collate "C",
  vault_available bigint not null,
  encrypted bigint not null,
  free_bytes bigint,
  total_bytes bigint
);

alter table backup_agents add constraint backup_agents_pkey PRIMARY KEY (id);

create table backup_damage (
  vault_id text collate "C" not null,
  name text collate "C" not null,
  found_at text collate "C" not null
);

alter table backup_damage add constraint backup_damage_key PRIMARY KEY (vault_id, name);

create table backup_jobs (
  id text collate "C" not null,
  kind text collate "C" not null,
  state text collate "C" not null,
  phase text collate "C",
  requested_at text collate "C" not null,
  started_at text collate "C",
  finished_at text collate "C",
  error_code text collate "C",
  point_id text collate "C",
  bytes_copied bigint not null,
  bytes_total bigint not null,
  blobs_copied bigint not null,
  blobs_total bigint not null,
  requested_by text collate "C",
  idempotency_key text collate "C"
);

alter table backup_jobs add constraint backup_jobs_pkey PRIMARY KEY (id);

CREATE UNIQUE INDEX backup_jobs_asked_for ON backup_jobs USING btree (requested_by, kind, idempotency_key) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX backup_jobs_by_time ON backup_jobs USING btree (requested_at, id);

CREATE INDEX backup_jobs_of_kind ON backup_jobs USING btree (kind, requested_at, id);

CREATE INDEX backup_jobs_open ON backup_jobs USING btree (requested_at, id, state) WHERE (finished_at IS NULL);

create table backup_plan (
  id bigint not null,
  revision bigint not null,
  enabled bigint not null,
  hour bigint not null,
  minute bigint not null,
  timezone text collate "C" not null,
  daily bigint not null,
  weekly bigint not null,
  monthly bigint not null,
  counted_from text collate "C" not null
);

alter table backup_plan add constraint backup_plan_pkey PRIMARY KEY (id);

create table backup_points (
  id text collate "C" not null,
  vault_id text collate "C" not null,
  snapshot_at text collate "C" not null,
  completed_at text collate "C" not null,
  blobs bigint not null,
  content_bytes bigint not null,
  new_bytes bigint not null,
  table_count bigint not null,
  row_count bigint not null,
  pinned bigint not null,
  verified_at text collate "C",
  verify_depth text collate "C",
  verify_error text collate "C",
  forgotten_at text collate "C",
  found_at text collate "C",
  missing_since text collate "C"
);

alter table backup_points add constraint backup_points_pkey PRIMARY KEY (id);

CREATE INDEX backup_points_by_time ON backup_points USING btree (vault_id, snapshot_at, id);

create table backup_rehearsals (
  id text collate "C" not null,
  vault_id text collate "C" not null,
  point_id text collate "C" not null,
  snapshot_at text collate "C" not null,
  begun_at text collate "C" not null,
  ended_at text collate "C",
  error_code text collate "C",
  row_count bigint not null,
  blobs bigint not null,
  answers bigint not null
);

alter table backup_rehearsals add constraint backup_rehearsals_pkey PRIMARY KEY (id);

create table backup_shares (
  vault_id text collate "C" not null,
  share bigint not null,
  read_at text collate "C" not null
);

alter table backup_shares add constraint backup_shares_key PRIMARY KEY (vault_id, share);

create table blobs (
  sha256 text collate "C" not null,
  size bigint not null,
  state text collate "C" not null,
  stored_at text collate "C",
  generation text collate "C" not null,
  inline bigint not null default 0
);

alter table blobs add constraint blobs_pkey PRIMARY KEY (sha256);

create table claims (
  id text collate "C" not null,
  repository text collate "C" not null,
  holder text collate "C" not null,
  sha256 text collate "C",
  size bigint not null,
  state text collate "C" not null,
  retired_at text collate "C",
  beside bigint not null default 0
);

alter table claims add constraint claims_pkey PRIMARY KEY (id);

alter table claims add constraint claims_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

CREATE INDEX claims_by_digest ON claims USING btree (sha256);

CREATE INDEX claims_by_repository ON claims USING btree (repository, state);

CREATE INDEX claims_pending ON claims USING btree (id, size) WHERE (state = 'pending'::text);

CREATE INDEX claims_retired ON claims USING btree (retired_at) WHERE (retired_at IS NOT NULL);

CREATE INDEX claims_retired_by_repository ON claims USING btree (repository, retired_at) WHERE (retired_at IS NOT NULL);

create table counters (
  name text collate "C" not null,
  value bigint not null
);

alter table counters add constraint counters_pkey PRIMARY KEY (name);

create table delegations (
  operator_key_id text collate "C" not null,
  account_id text collate "C" not null,
  actions text collate "C" not null,
  ceiling text collate "C" not null
);

alter table delegations add constraint delegations_account_id_fkey FOREIGN KEY (account_id) REFERENCES service_accounts(id);

alter table delegations add constraint delegations_key PRIMARY KEY (operator_key_id, account_id);

alter table delegations add constraint delegations_operator_key_id_fkey FOREIGN KEY (operator_key_id) REFERENCES service_keys(id);

CREATE INDEX delegations_by_account ON delegations USING btree (account_id);

create table deleted_artifacts (
  id text collate "C" not null,
  repository text collate "C" not null,
  name text collate "C" not null,
  size bigint not null,
  sha256 text collate "C" not null,
  labels text collate "C" not null,
  metadata text collate "C" not null,
  created_at text collate "C" not null,
  expires_at text collate "C" not null,
  published_at text collate "C" not null,
  deleted_at text collate "C" not null,
  released_at text collate "C"
);

alter table deleted_artifacts add constraint deleted_artifacts_pkey PRIMARY KEY (id);

alter table deleted_artifacts add constraint deleted_artifacts_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

CREATE INDEX deleted_artifacts_released ON deleted_artifacts USING btree (released_at) WHERE (released_at IS NOT NULL);

CREATE INDEX deleted_artifacts_restorable ON deleted_artifacts USING btree (repository, deleted_at, id) WHERE (released_at IS NULL);

create table download_gateways (
  id text collate "C" not null,
  slots bigint not null,
  held bigint not null,
  wanted bigint not null,
  ends_at text collate "C" not null
);

alter table download_gateways add constraint download_gateways_pkey PRIMARY KEY (id);

create table download_queue (
  id bigint not null,
  ticket_secret text collate "C" not null
);

alter table download_queue add constraint download_queue_id_check CHECK ((id = 1));

alter table download_queue add constraint download_queue_pkey PRIMARY KEY (id);

create table freed_packages (
  artifact_id text collate "C" not null,
  repository text collate "C" not null,
  group_name text collate "C" not null,
  group_key text collate "C" not null,
  name text collate "C" not null,
  name_key text collate "C" not null,
  version text collate "C" not null,
  version_key text collate "C" not null,
  prerelease bigint not null,
  registered_at text collate "C" not null,
  manifest_bytes bigint not null,
  manifest text collate "C" not null,
  published_at text collate "C" not null default ''::text
);

alter table freed_packages add constraint freed_packages_pkey PRIMARY KEY (artifact_id);

alter table freed_packages add constraint freed_packages_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

create table group_grants (
  group_id text collate "C" not null,
  repository text collate "C" not null,
  access text collate "C" not null
);

alter table group_grants add constraint group_grants_group_id_fkey FOREIGN KEY (group_id) REFERENCES access_groups(id);

alter table group_grants add constraint group_grants_key PRIMARY KEY (group_id, repository);

alter table group_grants add constraint group_grants_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

CREATE INDEX group_grants_by_repository ON group_grants USING btree (repository);

create table group_members (
  group_id text collate "C" not null,
  account_id text collate "C" not null
);

alter table group_members add constraint group_members_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table group_members add constraint group_members_group_id_fkey FOREIGN KEY (group_id) REFERENCES access_groups(id);

alter table group_members add constraint group_members_key PRIMARY KEY (group_id, account_id);

CREATE INDEX group_members_by_account ON group_members USING btree (account_id);

create table healed_blobs (
  sha256 text collate "C" not null,
  healed_at text collate "C" not null,
  finding text collate "C" not null
);

alter table healed_blobs add constraint healed_blobs_key PRIMARY KEY (sha256, healed_at);

create table inline_bytes (
  generation text collate "C" not null,
  sha256 text collate "C" not null,
  bytes bytea not null
);

alter table inline_bytes add constraint inline_bytes_pkey PRIMARY KEY (generation);

create table inline_sums (
  id bigint not null,
  files bigint not null,
  bytes bigint not null
);

alter table inline_sums add constraint inline_sums_id_check CHECK ((id = 1));

alter table inline_sums add constraint inline_sums_pkey PRIMARY KEY (id);

create table installation (
  id bigint not null,
  identity text collate "C" not null,
  importing text collate "C",
  imported_through text collate "C" not null,
  imported_pieces bigint not null
);

alter table installation add constraint installation_id_check CHECK ((id = 1));

alter table installation add constraint installation_pkey PRIMARY KEY (id);

create table jobs (
  id text collate "C" not null,
  kind text collate "C" not null,
  subject text collate "C" not null,
  repository text collate "C" not null,
  owner text collate "C" not null,
  credential_id text collate "C",
  status text collate "C" not null,
  generation bigint not null,
  attempts bigint not null,
  error_code text collate "C",
  lasting bigint not null,
  created_at text collate "C" not null,
  due_at text collate "C",
  holder text collate "C",
  ended_at text collate "C"
);

alter table jobs add constraint jobs_by_subject UNIQUE (kind, subject);

alter table jobs add constraint jobs_pkey PRIMARY KEY (id);

alter table jobs add constraint jobs_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

CREATE INDEX jobs_by_owner ON jobs USING btree (owner, id);

CREATE INDEX jobs_due ON jobs USING btree (kind, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX jobs_ended ON jobs USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX jobs_open_by_owner ON jobs USING btree (owner) WHERE (ended_at IS NULL);

create table journal (
  repository text collate "C" not null,
  sequence bigint not null,
  action text collate "C" not null,
  artifact_id text collate "C" not null,
  detail text collate "C",
  actor text collate "C" not null,
  occurred_at text collate "C" not null,
  mode text collate "C",
  peer_repository text collate "C",
  peer_artifact_id text collate "C",
  comment text collate "C",
  peer_image text collate "C"
);

alter table journal add constraint journal_key PRIMARY KEY (repository, sequence);

alter table journal add constraint journal_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

CREATE INDEX journal_promotions ON journal USING btree (repository, sequence) WHERE (action = ANY (ARRAY['stage.added'::text, 'stage.removed'::text, 'artifact.promoted'::text, 'artifact.received'::text, 'image.staged'::text, 'image.unstaged'::text, 'image.promoted'::text, 'image.received'::text, 'package.staged'::text, 'package.unstaged'::text, 'package.promoted'::text, 'package.received'::text]));

CREATE INDEX journal_promotions_by_artifact ON journal USING btree (repository, artifact_id, sequence) WHERE (action = ANY (ARRAY['stage.added'::text, 'stage.removed'::text, 'artifact.promoted'::text, 'artifact.received'::text, 'image.staged'::text, 'image.unstaged'::text, 'image.promoted'::text, 'image.received'::text, 'package.staged'::text, 'package.unstaged'::text, 'package.promoted'::text, 'package.received'::text]));

create table journal_cursors (
  repository text collate "C" not null,
  name text collate "C" not null,
  sequence bigint not null,
  moved_at text collate "C" not null
);

alter table journal_cursors add constraint journal_cursors_key PRIMARY KEY (repository, name);

alter table journal_cursors add constraint journal_cursors_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

create table journal_gaps (
  repository text collate "C" not null,
  beyond bigint not null,
  through bigint not null
);

alter table journal_gaps add constraint journal_gaps_key PRIMARY KEY (repository, beyond);

alter table journal_gaps add constraint journal_gaps_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

create table lfs_locks (
  id text collate "C" not null,
  repository text collate "C" not null,
  sub_path text collate "C" not null,
  path text collate "C" not null,
  digest text collate "C" not null,
  locked_at text collate "C" not null,
  actor text collate "C" not null
);

alter table lfs_locks add constraint lfs_locks_pkey PRIMARY KEY (id);

alter table lfs_locks add constraint lfs_locks_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

CREATE UNIQUE INDEX lfs_locks_by_digest ON lfs_locks USING btree (repository, digest);

CREATE INDEX lfs_locks_by_id ON lfs_locks USING btree (repository, sub_path, id);

create table lfs_objects (
  id text collate "C" not null,
  repository text collate "C" not null,
  sha256 text collate "C" not null,
  size bigint not null,
  pushed_at text collate "C" not null,
  actor text collate "C" not null,
  used_at text collate "C" not null,
  deleted_at text collate "C"
);

alter table lfs_objects add constraint lfs_objects_pkey PRIMARY KEY (id);

alter table lfs_objects add constraint lfs_objects_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

CREATE INDEX lfs_objects_by_id ON lfs_objects USING btree (repository, id) WHERE (deleted_at IS NULL);

CREATE INDEX lfs_objects_deleted ON lfs_objects USING btree (repository, deleted_at, id) WHERE (deleted_at IS NOT NULL);

CREATE UNIQUE INDEX lfs_objects_here ON lfs_objects USING btree (repository, sha256) WHERE (deleted_at IS NULL);

create table lfs_settings (
  repository text collate "C" not null,
  revision bigint not null,
  locking bigint not null,
  saved_at text collate "C" not null,
  actor text collate "C" not null
);

alter table lfs_settings add constraint lfs_settings_pkey PRIMARY KEY (repository);

alter table lfs_settings add constraint lfs_settings_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

create table link_keys (
  id text collate "C" not null,
  public_key text collate "C" not null,
  created_at text collate "C" not null,
  ends_at text collate "C" not null
);

alter table link_keys add constraint link_keys_pkey PRIMARY KEY (id);

CREATE INDEX link_keys_by_end ON link_keys USING btree (ends_at);

create table npm_cached_packages (
  id text collate "C" not null,
  repository text collate "C" not null,
  name text collate "C" not null,
  url text collate "C" not null,
  etag text collate "C",
  sha256 text collate "C",
  revision bigint not null,
  fetched_at text collate "C" not null,
  checked_at text collate "C" not null,
  versions bigint not null,
  left_out bigint not null,
  tags text collate "C" not null,
  bytes bigint not null,
  failure text collate "C",
  failed_at text collate "C"
);

alter table npm_cached_packages add constraint npm_cached_packages_pkey PRIMARY KEY (id);

alter table npm_cached_packages add constraint npm_cached_packages_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

CREATE UNIQUE INDEX npm_cached_packages_by_name ON npm_cached_packages USING btree (repository, name);

CREATE INDEX npm_cached_packages_by_use ON npm_cached_packages USING btree (repository, checked_at, bytes) WHERE (bytes > 0);

create table npm_cached_pieces (
  package_id text collate "C" not null,
  part text collate "C" not null,
  number bigint not null,
  bytes bytea not null
);

alter table npm_cached_pieces add constraint npm_cached_pieces_key PRIMARY KEY (package_id, part, number);

alter table npm_cached_pieces add constraint npm_cached_pieces_package_id_fkey FOREIGN KEY (package_id) REFERENCES npm_cached_packages(id);

create table npm_cached_versions (
  id text collate "C" not null,
  package_id text collate "C" not null,
  repository text collate "C" not null,
  name text collate "C" not null,
  version text collate "C" not null,
  sha256 text collate "C" not null,
  size bigint not null,
  sha1 text collate "C" not null,
  sha512 text collate "C" not null,
  fetched_at text collate "C" not null,
  actor text collate "C" not null
);

alter table npm_cached_versions add constraint npm_cached_versions_package_id_fkey FOREIGN KEY (package_id) REFERENCES npm_cached_packages(id);

alter table npm_cached_versions add constraint npm_cached_versions_pkey PRIMARY KEY (id);

CREATE UNIQUE INDEX npm_cached_versions_by_version ON npm_cached_versions USING btree (repository, name, version);

CREATE INDEX npm_cached_versions_of_package ON npm_cached_versions USING btree (package_id, version);

create table npm_documents (
  package_id text collate "C" not null,
  head text collate "C" not null,
  times text collate "C" not null,
  tail text collate "C" not null,
  abbreviated_head text collate "C" not null
);

alter table npm_documents add constraint npm_documents_package_id_fkey FOREIGN KEY (package_id) REFERENCES npm_packages(id);

alter table npm_documents add constraint npm_documents_pkey PRIMARY KEY (package_id);

create table npm_fetches (
  repository text collate "C" not null,
  name text collate "C" not null,
  version text collate "C" not null,
  holder text collate "C" not null,
  leased_until text collate "C" not null
);

alter table npm_fetches add constraint npm_fetches_key PRIMARY KEY (repository, name, version);

CREATE INDEX npm_fetches_by_end ON npm_fetches USING btree (leased_until);

create table npm_packages (
  id text collate "C" not null,
  repository text collate "C" not null,
  name text collate "C" not null,
  revision bigint not null,
  created_at text collate "C" not null,
  modified_at text collate "C" not null,
  versions bigint not null,
  last_number bigint not null,
  maintainers text collate "C" not null,
  stars text collate "C" not null,
  summary text collate "C",
  found_by text collate "C" not null
);

alter table npm_packages add constraint npm_packages_pkey PRIMARY KEY (id);

alter table npm_packages add constraint npm_packages_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

CREATE UNIQUE INDEX npm_packages_by_name ON npm_packages USING btree (repository, name);

CREATE INDEX npm_packages_listed ON npm_packages USING btree (repository, name) WHERE (versions > 0);

create table npm_pieces (
  package_id text collate "C" not null,
  number bigint not null,
  versions text collate "C" not null,
  abbreviated text collate "C" not null,
  times text collate "C" not null
);

alter table npm_pieces add constraint npm_pieces_key PRIMARY KEY (package_id, number);

alter table npm_pieces add constraint npm_pieces_package_id_fkey FOREIGN KEY (package_id) REFERENCES npm_packages(id);

create table npm_promotions (
  copy_id text collate "C" not null,
  source_repository text collate "C" not null,
  mode text collate "C" not null,
  promoted_at text collate "C" not null
);

alter table npm_promotions add constraint npm_promotions_copy_id_fkey FOREIGN KEY (copy_id) REFERENCES npm_versions(id);

alter table npm_promotions add constraint npm_promotions_key PRIMARY KEY (copy_id, source_repository);

alter table npm_promotions add constraint npm_promotions_source_repository_fkey FOREIGN KEY (source_repository) REFERENCES repositories(id);

CREATE INDEX npm_promotions_by_source ON npm_promotions USING btree (source_repository, copy_id);

create table npm_stages (
  version_id text collate "C" not null,
  stage text collate "C" not null,
  repository text collate "C" not null,
  name text collate "C" not null,
  version text collate "C" not null,
  promoted_at text collate "C" not null,
  actor text collate "C" not null,
  comment text collate "C"
);

alter table npm_stages add constraint npm_stages_key PRIMARY KEY (version_id, stage);

alter table npm_stages add constraint npm_stages_version_id_fkey FOREIGN KEY (version_id) REFERENCES npm_versions(id);

CREATE INDEX npm_stages_by_stage ON npm_stages USING btree (repository, stage, name, version);

CREATE INDEX npm_stages_by_version ON npm_stages USING btree (repository, name, version, stage);

create table npm_tags (
  package_id text collate "C" not null,
  tag text collate "C" not null,
  version_id text collate "C" not null,
  moved_at text collate "C" not null,
  actor text collate "C" not null
);

alter table npm_tags add constraint npm_tags_key PRIMARY KEY (package_id, tag);

alter table npm_tags add constraint npm_tags_package_id_fkey FOREIGN KEY (package_id) REFERENCES npm_packages(id);

alter table npm_tags add constraint npm_tags_version_id_fkey FOREIGN KEY (version_id) REFERENCES npm_versions(id);

CREATE INDEX npm_tags_of_version ON npm_tags USING btree (version_id, tag);

create table npm_taken_versions (
  repository text collate "C" not null,
  name text collate "C" not null,
  version text collate "C" not null,
  released_at text collate "C" not null
);

alter table npm_taken_versions add constraint npm_taken_versions_key PRIMARY KEY (repository, name, version);

alter table npm_taken_versions add constraint npm_taken_versions_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

create table npm_upstreams (
  repository text collate "C" not null,
  revision bigint not null,
  url text collate "C",
  reserved text collate "C" not null,
  fresh_seconds bigint not null,
  saved_at text collate "C" not null,
  actor text collate "C" not null
);

alter table npm_upstreams add constraint npm_upstreams_pkey PRIMARY KEY (repository);

alter table npm_upstreams add constraint npm_upstreams_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

create table npm_versions (
  id text collate "C" not null,
  package_id text collate "C" not null,
  repository text collate "C" not null,
  name text collate "C" not null,
  version text collate "C" not null,
  number bigint not null,
  piece bigint,
  sha256 text collate "C" not null,
  size bigint not null,
  sha1 text collate "C" not null,
  sha512 text collate "C" not null,
  files bigint not null,
  unpacked_size bigint not null,
  manifest text collate "C" not null,
  readme text collate "C",
  attestations text collate "C",
  deprecated text collate "C",
  published_at text collate "C" not null,
  actor text collate "C" not null,
  deleted_at text collate "C"
);

alter table npm_versions add constraint npm_versions_package_id_fkey FOREIGN KEY (package_id) REFERENCES npm_packages(id);

alter table npm_versions add constraint npm_versions_pkey PRIMARY KEY (id);

CREATE INDEX npm_versions_by_age ON npm_versions USING btree (repository, name, published_at, id, deleted_at) WHERE (deleted_at IS NULL);

CREATE INDEX npm_versions_by_number ON npm_versions USING btree (package_id, number);

CREATE INDEX npm_versions_by_piece ON npm_versions USING btree (package_id, piece, number) WHERE (piece IS NOT NULL);

CREATE UNIQUE INDEX npm_versions_by_version ON npm_versions USING btree (repository, name, version);

CREATE INDEX npm_versions_deleted ON npm_versions USING btree (package_id, number) WHERE (deleted_at IS NOT NULL);

CREATE INDEX npm_versions_of_repository_by_age ON npm_versions USING btree (repository, published_at, id, deleted_at) WHERE (deleted_at IS NULL);

create table oci_blobs (
  id text collate "C" not null,
  repository text collate "C" not null,
  sha256 text collate "C" not null,
  sha512 text collate "C",
  size bigint not null,
  created_at text collate "C" not null,
  unused_since text collate "C",
  sent_below text collate "C",
  counted_on_at text collate "C" not null default ''::text
);

alter table oci_blobs add constraint oci_blobs_pkey PRIMARY KEY (id);

alter table oci_blobs add constraint oci_blobs_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

CREATE UNIQUE INDEX oci_blobs_by_sha256 ON oci_blobs USING btree (sha256, repository);

CREATE UNIQUE INDEX oci_blobs_by_sha512 ON oci_blobs USING btree (sha512, repository) WHERE (sha512 IS NOT NULL);

CREATE INDEX oci_blobs_unused ON oci_blobs USING btree (unused_since) WHERE (unused_since IS NOT NULL);

CREATE INDEX oci_blobs_unused_below ON oci_blobs USING btree (repository, sent_below, unused_since) WHERE (unused_since IS NOT NULL);

create table oci_images (
  repository text collate "C" not null,
  name text collate "C" not null,
  created_at text collate "C" not null,
  tags bigint not null default 0,
  manifests bigint not null default 0,
  pushed_at text collate "C" not null default ''::text
);

alter table oci_images add constraint oci_images_key PRIMARY KEY (repository, name);

alter table oci_images add constraint oci_images_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

create table oci_immutable_tags (
  repository text collate "C" not null,
  revision bigint not null,
  patterns text collate "C" not null,
  saved_at text collate "C" not null,
  actor text collate "C" not null
);

alter table oci_immutable_tags add constraint oci_immutable_tags_pkey PRIMARY KEY (repository);

alter table oci_immutable_tags add constraint oci_immutable_tags_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

create table oci_manifests (
  id text collate "C" not null,
  repository text collate "C" not null,
  name text collate "C" not null,
  digest text collate "C" not null,
  digest512 text collate "C",
  blob_id text collate "C" not null,
  media_type text collate "C" not null,
  artifact_type text collate "C",
  subject text collate "C",
  annotations text collate "C",
  pushed_at text collate "C" not null,
  actor text collate "C" not null,
  unused_since text collate "C",
  content_bytes bigint not null default 0,
  platforms text collate "C",
  tagged_at text collate "C",
  counted_on_at text collate "C" not null default ''::text
);

alter table oci_manifests add constraint oci_manifests_blob_id_fkey FOREIGN KEY (blob_id) REFERENCES oci_blobs(id);

alter table oci_manifests add constraint oci_manifests_image FOREIGN KEY (repository, name) REFERENCES oci_images(repository, name);

alter table oci_manifests add constraint oci_manifests_pkey PRIMARY KEY (id);

CREATE INDEX oci_manifests_by_age ON oci_manifests USING btree (repository, name, tagged_at, id) WHERE (tagged_at IS NOT NULL);

CREATE INDEX oci_manifests_by_blob ON oci_manifests USING btree (blob_id);

CREATE UNIQUE INDEX oci_manifests_by_digest ON oci_manifests USING btree (repository, name, digest);

CREATE UNIQUE INDEX oci_manifests_by_digest512 ON oci_manifests USING btree (repository, name, digest512) WHERE (digest512 IS NOT NULL);

CREATE INDEX oci_manifests_by_subject ON oci_manifests USING btree (repository, name, subject, digest) WHERE (subject IS NOT NULL);

CREATE INDEX oci_manifests_by_subject_and_type ON oci_manifests USING btree (repository, name, subject, artifact_type, digest) WHERE (subject IS NOT NULL);

CREATE INDEX oci_manifests_of_repository_by_age ON oci_manifests USING btree (repository, tagged_at, id) WHERE (tagged_at IS NOT NULL);

CREATE INDEX oci_manifests_unused ON oci_manifests USING btree (repository, unused_since) WHERE (unused_since IS NOT NULL);

create table oci_promotions (
  copy_id text collate "C" not null,
  source_repository text collate "C" not null,
  source_name text collate "C" not null,
  moved_tag text collate "C",
  mode text collate "C" not null,
  promoted_at text collate "C" not null
);

alter table oci_promotions add constraint oci_promotions_copy_id_fkey FOREIGN KEY (copy_id) REFERENCES oci_manifests(id);

alter table oci_promotions add constraint oci_promotions_key PRIMARY KEY (copy_id, source_repository, source_name);

alter table oci_promotions add constraint oci_promotions_source_repository_fkey FOREIGN KEY (source_repository) REFERENCES repositories(id);

CREATE INDEX oci_promotions_by_source ON oci_promotions USING btree (source_repository, source_name, moved_tag, promoted_at);

create table oci_references (
  manifest_id text collate "C" not null,
  "position" bigint not null,
  repository text collate "C" not null,
  name text collate "C" not null,
  role text collate "C" not null,
  digest text collate "C" not null,
  blob_id text collate "C"
);

alter table oci_references add constraint oci_references_blob_id_fkey FOREIGN KEY (blob_id) REFERENCES oci_blobs(id);

alter table oci_references add constraint oci_references_key PRIMARY KEY (manifest_id, "position");

alter table oci_references add constraint oci_references_manifest_id_fkey FOREIGN KEY (manifest_id) REFERENCES oci_manifests(id);

CREATE INDEX oci_references_by_blob ON oci_references USING btree (blob_id) WHERE (blob_id IS NOT NULL);

CREATE INDEX oci_references_by_manifest ON oci_references USING btree (repository, name, digest) WHERE (role = 'manifest'::text);

CREATE INDEX oci_references_elsewhere ON oci_references USING btree (repository, digest) WHERE ((blob_id IS NULL) AND (role <> 'manifest'::text));

create table oci_stages (
  manifest_id text collate "C" not null,
  stage text collate "C" not null,
  repository text collate "C" not null,
  name text collate "C" not null,
  digest text collate "C" not null,
  promoted_at text collate "C" not null,
  actor text collate "C" not null,
  comment text collate "C"
);

alter table oci_stages add constraint oci_stages_key PRIMARY KEY (manifest_id, stage);

alter table oci_stages add constraint oci_stages_manifest_id_fkey FOREIGN KEY (manifest_id) REFERENCES oci_manifests(id);

CREATE INDEX oci_stages_by_image ON oci_stages USING btree (repository, name, digest, stage);

CREATE INDEX oci_stages_by_stage ON oci_stages USING btree (repository, stage, name, digest);

create table oci_tag_moves (
  repository text collate "C" not null,
  name text collate "C" not null,
  tag text collate "C" not null,
  revision bigint not null,
  manifest_id text collate "C" not null,
  removed bigint not null,
  moved_at text collate "C" not null,
  actor text collate "C" not null
);

alter table oci_tag_moves add constraint oci_tag_moves_key PRIMARY KEY (repository, name, tag, revision);

alter table oci_tag_moves add constraint oci_tag_moves_manifest_id_fkey FOREIGN KEY (manifest_id) REFERENCES oci_manifests(id);

CREATE INDEX oci_tag_moves_of_manifest ON oci_tag_moves USING btree (manifest_id);

CREATE INDEX oci_tag_moves_removed ON oci_tag_moves USING btree (repository, name, moved_at, tag) WHERE (removed = 1);

create table oci_tags (
  repository text collate "C" not null,
  name text collate "C" not null,
  tag text collate "C" not null,
  manifest_id text collate "C" not null,
  moved_at text collate "C" not null,
  actor text collate "C" not null,
  algorithm text collate "C" not null default 'sha256'::text
);

alter table oci_tags add constraint oci_tags_key PRIMARY KEY (repository, name, tag);

alter table oci_tags add constraint oci_tags_manifest_id_fkey FOREIGN KEY (manifest_id) REFERENCES oci_manifests(id);

CREATE INDEX oci_tags_by_time ON oci_tags USING btree (repository, name, moved_at, tag);

CREATE INDEX oci_tags_of_manifest ON oci_tags USING btree (manifest_id, tag);

CREATE INDEX oci_tags_of_manifest_by_time ON oci_tags USING btree (manifest_id, moved_at, tag);

create table package_stages (
  artifact_id text collate "C" not null,
  stage text collate "C" not null,
  repository text collate "C" not null,
  group_key text collate "C" not null,
  name_key text collate "C" not null,
  prerelease bigint not null,
  version_key text collate "C" not null,
  promoted_at text collate "C" not null
);

alter table package_stages add constraint package_stages_artifact_id_fkey FOREIGN KEY (artifact_id) REFERENCES packages(artifact_id);

alter table package_stages add constraint package_stages_key PRIMARY KEY (artifact_id, stage);

CREATE INDEX package_stages_by_precedence ON package_stages USING btree (repository, group_key, name_key, stage, prerelease, version_key, artifact_id, promoted_at);

CREATE INDEX package_stages_by_promotion ON package_stages USING btree (repository, group_key, name_key, stage, promoted_at, version_key, prerelease, artifact_id);

create table packages (
  artifact_id text collate "C" not null,
  repository text collate "C" not null,
  group_name text collate "C" not null,
  group_key text collate "C" not null,
  name text collate "C" not null,
  name_key text collate "C" not null,
  version text collate "C" not null,
  version_key text collate "C" not null,
  prerelease bigint not null,
  registered_at text collate "C" not null,
  manifest_bytes bigint not null,
  manifest text collate "C" not null,
  published_at text collate "C" not null default ''::text
);

alter table packages add constraint packages_artifact_id_fkey FOREIGN KEY (artifact_id) REFERENCES artifacts(id);

alter table packages add constraint packages_pkey PRIMARY KEY (artifact_id);

alter table packages add constraint packages_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

CREATE INDEX packages_by_age ON packages USING btree (repository, group_key, name_key, published_at, artifact_id);

CREATE INDEX packages_by_group ON packages USING btree (repository, group_key, name_key, version_key);

CREATE INDEX packages_by_identity ON packages USING btree (repository, group_key, name_key, lower(version_key));

CREATE INDEX packages_by_name ON packages USING btree (repository, name_key, group_key, version_key);

CREATE UNIQUE INDEX packages_by_precedence ON packages USING btree (repository, group_key, name_key, prerelease, version_key);

CREATE INDEX packages_by_version ON packages USING btree (repository, version_key, name_key, group_key);

CREATE INDEX packages_of_group_by_version ON packages USING btree (repository, group_key, version_key, name_key);

CREATE INDEX packages_of_name_by_version ON packages USING btree (repository, name_key, version_key, group_key);

CREATE INDEX packages_of_repository_by_age ON packages USING btree (repository, published_at, artifact_id);

create table personal_tokens (
  id text collate "C" not null,
  account_id text collate "C" not null,
  name text collate "C" not null,
  prefix text collate "C" not null,
  secret_sha256 text collate "C" not null,
  scope text collate "C" not null,
  created_at text collate "C" not null,
  expires_at text collate "C" not null,
  last_used_at text collate "C",
  revoked_at text collate "C",
  by_sign_in bigint not null default 0
);

alter table personal_tokens add constraint personal_tokens_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table personal_tokens add constraint personal_tokens_pkey PRIMARY KEY (id);

alter table personal_tokens add constraint personal_tokens_secret_sha256_key UNIQUE (secret_sha256);

CREATE INDEX personal_tokens_active ON personal_tokens USING btree (account_id, expires_at) WHERE (revoked_at IS NULL);

CREATE INDEX personal_tokens_by_account ON personal_tokens USING btree (account_id, id);

CREATE INDEX personal_tokens_by_end ON personal_tokens USING btree (expires_at);

create table promotions (
  source_id text collate "C" not null,
  source_repository text collate "C" not null,
  target text collate "C" not null,
  copy_id text collate "C" not null,
  mode text collate "C" not null,
  promoted_at text collate "C" not null,
  source_revision bigint,
  copy_revision bigint
);

alter table promotions add constraint promotions_key PRIMARY KEY (source_id, target, copy_id);

alter table promotions add constraint promotions_source_repository_fkey FOREIGN KEY (source_repository) REFERENCES repositories(id);

alter table promotions add constraint promotions_target_fkey FOREIGN KEY (target) REFERENCES repositories(id);

CREATE INDEX promotions_by_copy ON promotions USING btree (copy_id);

create table quarantine (
  name text collate "C" not null,
  size bigint not null,
  seen_at text collate "C" not null
);

alter table quarantine add constraint quarantine_pkey PRIMARY KEY (name);

create table reclaim_candidates (
  sha256 text collate "C" not null,
  since text collate "C" not null
);

alter table reclaim_candidates add constraint reclaim_candidates_pkey PRIMARY KEY (sha256);

create table reclaim_holds (
  id text collate "C" not null,
  purpose text collate "C" not null,
  ends_at text collate "C" not null
);

alter table reclaim_holds add constraint reclaim_holds_pkey PRIMARY KEY (id);

create table reclaim_notes (
  sha256 text collate "C" not null,
  repository text collate "C" not null,
  artifact_id text collate "C" not null
);

alter table reclaim_notes add constraint reclaim_notes_key PRIMARY KEY (sha256, repository, artifact_id);

alter table reclaim_notes add constraint reclaim_notes_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

create table removal_notes (
  name text collate "C" not null,
  repository text collate "C" not null,
  artifact_id text collate "C" not null
);

alter table removal_notes add constraint removal_notes_key PRIMARY KEY (name, repository, artifact_id);

alter table removal_notes add constraint removal_notes_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

create table removals (
  name text collate "C" not null,
  size bigint not null,
  begun_at text collate "C" not null,
  tries bigint not null,
  due_at text collate "C" not null
);

alter table removals add constraint removals_pkey PRIMARY KEY (name);

CREATE INDEX removals_by_begin ON removals USING btree (begun_at);

CREATE INDEX removals_by_due ON removals USING btree (due_at, name);

create table removed_paths (
  repository text collate "C" not null,
  path text collate "C" not null,
  revision bigint not null,
  oldest bigint not null,
  removed_at text collate "C" not null
);

alter table removed_paths add constraint removed_paths_key PRIMARY KEY (repository, path);

alter table removed_paths add constraint removed_paths_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

create table repositories (
  id text collate "C" not null,
  created_at text collate "C" not null,
  deleted_at text collate "C",
  journal_head bigint not null,
  published_bytes bigint not null,
  pending_bytes bigint not null,
  retired_bytes bigint not null,
  quota_bytes bigint,
  grace_hours bigint,
  cleanup_revision bigint not null default 0,
  warning_percent bigint not null default 80,
  critical_percent bigint not null default 95,
  told_usage text collate "C" not null default 'unlimited'::text,
  storage_event_head bigint not null default 0,
  incarnation bigint not null default 1,
  journal_base bigint not null default 0,
  storage_event_base bigint not null default 0
);

alter table repositories add constraint repositories_pkey PRIMARY KEY (id);

create table restored_repositories (
  repository text collate "C" not null,
  source text collate "C" not null,
  point_id text collate "C" not null,
  begun_at text collate "C" not null,
  finished_at text collate "C"
);

alter table restored_repositories add constraint restored_repositories_pkey PRIMARY KEY (repository);

alter table restored_repositories add constraint restored_repositories_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

create table schema_migrations (
  number bigint not null,
  name text collate "C" not null
);

alter table schema_migrations add constraint schema_migrations_pkey PRIMARY KEY (number);

create table search_entries (
  artifact_id text collate "C" not null,
  repository text collate "C" not null,
  "position" bigint not null,
  text text collate "C" not null,
  exact integer[] not null,
  tokens integer[] not null,
  paths text collate "C"
);

alter table search_entries add constraint search_entries_artifact_id_fkey FOREIGN KEY (artifact_id) REFERENCES artifacts(id) ON DELETE CASCADE;

alter table search_entries add constraint search_entries_pkey PRIMARY KEY (artifact_id);

CREATE INDEX search_entries_by_repository ON search_entries USING btree (repository, artifact_id);

CREATE INDEX search_entries_by_token ON search_entries USING gin (tokens) WITH (fastupdate=off);

create table security_audit (
  sequence bigint not null,
  occurred_at text collate "C" not null,
  actor text collate "C" not null,
  action text collate "C" not null,
  subject text collate "C" not null,
  client_address text collate "C" not null,
  service_account_id text collate "C",
  subject_name text collate "C"
);

alter table security_audit add constraint security_audit_pkey PRIMARY KEY (sequence);

CREATE INDEX security_audit_by_service_account ON security_audit USING btree (service_account_id, sequence) WHERE (service_account_id IS NOT NULL);

create table service_accounts (
  id text collate "C" not null,
  name text collate "C" not null,
  name_key text collate "C" not null,
  enabled bigint not null,
  revision bigint not null,
  bindings text collate "C" not null,
  created_at text collate "C" not null
);

alter table service_accounts add constraint service_accounts_name_key_key UNIQUE (name_key);

alter table service_accounts add constraint service_accounts_pkey PRIMARY KEY (id);

create table service_keys (
  id text collate "C" not null,
  account_id text collate "C" not null,
  name text collate "C" not null,
  state text collate "C" not null,
  secret_sha256 text collate "C" not null,
  bindings text collate "C" not null,
  created_at text collate "C" not null,
  expires_at text collate "C" not null,
  activation_expires_at text collate "C" not null,
  rotated_from text collate "C",
  superseded_at text collate "C",
  requested_by text collate "C" not null,
  idempotency_key text collate "C" not null,
  request_sha256 text collate "C" not null
);

alter table service_keys add constraint service_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES service_accounts(id);

alter table service_keys add constraint service_keys_by_request UNIQUE (requested_by, idempotency_key);

alter table service_keys add constraint service_keys_pkey PRIMARY KEY (id);

CREATE INDEX service_keys_by_account ON service_keys USING btree (account_id, id);

create table service_samples (
  taken_at text collate "C" not null,
  published_bytes bigint not null,
  reserved_bytes bigint not null,
  open_sessions bigint not null,
  open_jobs bigint not null
);

alter table service_samples add constraint service_samples_pkey PRIMARY KEY (taken_at);

create table sessions (
  id text collate "C" not null,
  account_id text collate "C" not null,
  secret_sha256 text collate "C" not null,
  created_at text collate "C" not null,
  expires_at text collate "C" not null,
  opened_for text collate "C"
);

alter table sessions add constraint sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table sessions add constraint sessions_pkey PRIMARY KEY (id);

alter table sessions add constraint sessions_secret_sha256_key UNIQUE (secret_sha256);

CREATE INDEX sessions_by_account ON sessions USING btree (account_id, id);

CREATE INDEX sessions_by_end ON sessions USING btree (expires_at);

CREATE UNIQUE INDEX sessions_by_opened_for ON sessions USING btree (opened_for);

create table storage_events (
  repository text collate "C" not null,
  sequence bigint not null,
  occurred_at text collate "C" not null,
  level text collate "C" not null,
  code text collate "C" not null,
  details text collate "C" not null
);

alter table storage_events add constraint storage_events_key PRIMARY KEY (repository, sequence);

alter table storage_events add constraint storage_events_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

CREATE INDEX storage_events_by_time ON storage_events USING btree (occurred_at, repository, sequence);

create table storage_policies (
  repository text collate "C" not null,
  revision bigint not null,
  enabled bigint not null,
  "grouping" text collate "C" not null,
  keep_last bigint not null,
  channels text collate "C" not null,
  protected_labels text collate "C" not null,
  min_age_hours bigint not null,
  interval_minutes bigint not null,
  key_id text collate "C",
  next_run_at text collate "C",
  last_run_at text collate "C",
  last_deleted bigint not null,
  last_error text collate "C",
  last_deleted_images bigint not null default 0,
  last_deleted_npm_versions bigint not null default 0
);

alter table storage_policies add constraint storage_policies_pkey PRIMARY KEY (repository);

alter table storage_policies add constraint storage_policies_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

CREATE INDEX storage_policies_due ON storage_policies USING btree (next_run_at, repository) WHERE (next_run_at IS NOT NULL);

create table throttles (
  key text collate "C" not null,
  failures bigint not null,
  last_failure_at text collate "C" not null,
  blocked_until text collate "C"
);

alter table throttles add constraint throttles_pkey PRIMARY KEY (key);

CREATE INDEX throttles_by_age ON throttles USING btree (last_failure_at);

create table upkeep_runs (
  name text collate "C" not null,
  succeeded_at text collate "C" not null
);

alter table upkeep_runs add constraint upkeep_runs_pkey PRIMARY KEY (name);

create table uploads (
  id text collate "C" not null,
  repository text collate "C" not null,
  kind text collate "C" not null,
  owner text collate "C" not null,
  idempotency_key text collate "C",
  name text collate "C" not null,
  size bigint,
  sha256 text collate "C",
  labels text collate "C" not null,
  metadata text collate "C" not null,
  status text collate "C" not null,
  created_at text collate "C" not null,
  expires_at text collate "C" not null,
  ended_at text collate "C",
  turn_holder text collate "C",
  turn_until text collate "C"
);

alter table uploads add constraint uploads_pkey PRIMARY KEY (id);

alter table uploads add constraint uploads_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

CREATE INDEX uploads_appended_below ON uploads USING btree (repository, name, expires_at) WHERE ((kind = 'appended'::text) AND (status = 'pending'::text));

CREATE UNIQUE INDEX uploads_by_idempotency_key ON uploads USING btree (repository, owner, idempotency_key) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX uploads_cancelled_of_owner ON uploads USING btree (owner, ended_at) WHERE (status = 'cancelled'::text);

CREATE INDEX uploads_ended ON uploads USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX uploads_open ON uploads USING btree (expires_at) WHERE (status = 'pending'::text);

CREATE INDEX uploads_open_by_id ON uploads USING btree (id) WHERE (status = 'pending'::text);

CREATE INDEX uploads_open_of_owner ON uploads USING btree (owner, id) WHERE (status = 'pending'::text);

CREATE INDEX uploads_turns ON uploads USING btree (turn_until) WHERE (turn_until IS NOT NULL);

create table usage_samples (
  repository text collate "C" not null,
  taken_at text collate "C" not null,
  published_bytes bigint not null,
  pending_bytes bigint not null,
  retired_bytes bigint not null,
  quota_bytes bigint
);

alter table usage_samples add constraint usage_samples_key PRIMARY KEY (repository, taken_at);

alter table usage_samples add constraint usage_samples_repository_fkey FOREIGN KEY (repository) REFERENCES repositories(id);

CREATE INDEX usage_samples_by_age ON usage_samples USING btree (taken_at);

create table webhooks (
  id text collate "C" not null,
  repository text collate "C" not null,
  host text collate "C" not null,
  actions text collate "C",
  created_at text collate "C" not null,
  named_at text collate "C" not null,
  holder text collate "C",
  leased_until text collate "C",
  last_success_at text collate "C",
  failing_since text collate "C",
  failures bigint not null default 0,
  error_code text collate "C",
  next_try_at text collate "C",
  lost bigint not null default 0
);

alter table webhooks add constraint webhooks_pkey PRIMARY KEY (id);
