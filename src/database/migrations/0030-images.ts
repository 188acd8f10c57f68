import { type Kysely, sql } from 'kysely'
import type { ColumnTypes, Migration } from '../migration.ts'

/** Container images: names, blobs, manifests and what they name, tags and how they were moved. */
export const images: Migration = {
  number: 30,
  name: 'images',
  async up(q, types) {
    await createBlobs(q, types)
    await createManifests(q, types)
    await createReferences(q, types)
    await createTags(q, types)
  },
}

const createBlobs = async (q: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> => {
  await q.schema
    .createTable('oci_blobs')
    .addColumn('id', text, (c) => c.primaryKey())
    .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
    .addColumn('sha256', text, (c) => c.notNull())
    .addColumn('sha512', text)
    .addColumn('size', integer, (c) => c.notNull())
    .addColumn('created_at', text, (c) => c.notNull())
    .addColumn('unused_since', text)
    .execute()
  // By digest first: whoever mounts a blob looks for it in all repositories.
  await q.schema.createIndex('oci_blobs_by_sha256').unique().on('oci_blobs').columns(['sha256', 'repository']).execute()
  await sql`create unique index oci_blobs_by_sha512 on oci_blobs (sha512, repository) where sha512 is not null`.execute(
    q,
  )
  await sql`create index oci_blobs_unused on oci_blobs (unused_since) where unused_since is not null`.execute(q)
}

const createManifests = async (q: Kysely<unknown>, { text }: ColumnTypes): Promise<void> => {
  await q.schema
    .createTable('oci_images')
    .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('created_at', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('oci_images_key', ['repository', 'name'])
    .execute()
  await q.schema
    .createTable('oci_manifests')
    .addColumn('id', text, (c) => c.primaryKey())
    .addColumn('repository', text, (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('digest', text, (c) => c.notNull())
    .addColumn('digest512', text)
    .addColumn('blob_id', text, (c) => c.notNull().references('oci_blobs.id'))
    .addColumn('media_type', text, (c) => c.notNull())
    .addColumn('artifact_type', text)
    .addColumn('subject', text)
    .addColumn('annotations', text)
    .addColumn('pushed_at', text, (c) => c.notNull())
    .addColumn('actor', text, (c) => c.notNull())
    .addColumn('unused_since', text)
    .addForeignKeyConstraint('oci_manifests_image', ['repository', 'name'], 'oci_images', ['repository', 'name'])
    .execute()
  const index = (name: string) => q.schema.createIndex(`oci_manifests_${name}`).on('oci_manifests')
  await index('by_digest').unique().columns(['repository', 'name', 'digest']).execute()
  await index('by_blob').column('blob_id').execute()
  await sql`create unique index oci_manifests_by_digest512 on oci_manifests (repository, name, digest512)
    where digest512 is not null`.execute(q)
  await sql`create index oci_manifests_by_subject on oci_manifests (repository, name, subject, digest)
    where subject is not null`.execute(q)
  await sql`create index oci_manifests_by_subject_and_type on oci_manifests
    (repository, name, subject, artifact_type, digest) where subject is not null`.execute(q)
  await sql`create index oci_manifests_unused on oci_manifests (repository, unused_since)
    where unused_since is not null`.execute(q)
}

const createReferences = async (q: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> => {
  await q.schema
    .createTable('oci_references')
    .addColumn('manifest_id', text, (c) => c.notNull().references('oci_manifests.id'))
    .addColumn('position', integer, (c) => c.notNull())
    .addColumn('repository', text, (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('role', text, (c) => c.notNull())
    .addColumn('digest', text, (c) => c.notNull())
    .addColumn('blob_id', text, (c) => c.references('oci_blobs.id'))
    .addPrimaryKeyConstraint('oci_references_key', ['manifest_id', 'position'])
    .execute()
  await sql`create index oci_references_by_blob on oci_references (blob_id) where blob_id is not null`.execute(q)
  await sql`create index oci_references_by_manifest on oci_references (repository, name, digest)
    where role = 'manifest'`.execute(q)
}

const createTags = async (q: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> => {
  await q.schema
    .createTable('oci_tags')
    .addColumn('repository', text, (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('tag', text, (c) => c.notNull())
    .addColumn('manifest_id', text, (c) => c.notNull().references('oci_manifests.id'))
    .addColumn('moved_at', text, (c) => c.notNull())
    .addColumn('actor', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('oci_tags_key', ['repository', 'name', 'tag'])
    .execute()
  await q.schema.createIndex('oci_tags_of_manifest').on('oci_tags').columns(['manifest_id', 'tag']).execute()
  await q.schema
    .createTable('oci_tag_moves')
    .addColumn('repository', text, (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('tag', text, (c) => c.notNull())
    .addColumn('revision', integer, (c) => c.notNull())
    .addColumn('manifest_id', text, (c) => c.notNull().references('oci_manifests.id'))
    .addColumn('removed', integer, (c) => c.notNull())
    .addColumn('moved_at', text, (c) => c.notNull())
    .addColumn('actor', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('oci_tag_moves_key', ['repository', 'name', 'tag', 'revision'])
    .execute()
  await q.schema.createIndex('oci_tag_moves_of_manifest').on('oci_tag_moves').column('manifest_id').execute()
}
