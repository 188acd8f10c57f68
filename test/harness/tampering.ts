const nobody = '00000000-0000-7000-8000-000000000000'

/**
 * A row that somebody left otherwise who wrote past the service: what it is, how it was done, what doctor says of it.
 */
export type Tampering = readonly [what: string, statements: readonly string[], ...said: RegExp[]]

const one = (table: string, key = 'artifact_id'): string => `${key} = (select max(${key}) from ${table})`

/** Done to the rows of a rich catalogue. */
export const tamperings = (engine: 'sqlite' | 'postgres'): readonly Tampering[] => [
  [
    'a version under another order',
    [`update packages set version_key = '0' where ${one('packages')}`],
    /the package .+ is not the version that its manifest says/,
  ],
  [
    'a folded name that is none',
    [`update packages set name_key = 'TOOL' where ${one('packages')}`],
    /is not the version that its manifest says/,
  ],
  [
    'a version that is said to be no pre-release',
    ['update packages set prerelease = 0 where prerelease = 1'],
    /is not the version that its manifest says/,
  ],
  [
    'another manifest',
    [`update packages set manifest = '{"name":"other","version":"1.0.0"}' where ${one('packages')}`],
    /is not the version that its manifest says/,
  ],
  [
    'a package in another repository than its file',
    [`update packages set repository = 'two' where ${one('packages')}`],
    /a row of packages names artifact_id, repository .+ two, which artifacts does not have/,
  ],
  [
    'stages of packages that no file has',
    [
      "insert into package_stages select artifact_id, 'never', repository, group_key, name_key, prerelease, version_key, '' from packages",
    ],
    /is not found by the stages/,
  ],
  [
    'a gap in the history of a path',
    ['delete from asset_revisions where revision = 2'],
    /asset_revisions: a revision of one notes\/read me\.txt is missing/,
  ],
  [
    'a path without a history',
    ["delete from asset_revisions where path = 'empty'"],
    /empty.+ does not show the newest revision/,
  ],
  [
    'a history without its path',
    ["delete from assets where path = 'empty'"],
    /a row of asset_revisions names repository, path one empty, which assets or removed_paths does not have/,
  ],
  [
    'a history without its beginning',
    ["delete from asset_revisions where revision = 1 and path = 'notes/read me.txt'"],
    /the oldest revisions of .+read me.+ are missing/,
  ],
  [
    'a removed path without the revision that says so',
    ['delete from asset_revisions where removed = 1'],
    /removed.+ was removed, and its history does not end with that/,
  ],
  [
    'a path that shows a file and is removed',
    [
      "insert into assets select repository, path, 1, artifact_id, 1 from asset_revisions where path = 'removed' and revision = 1",
    ],
    /removed.+ was removed, and its history does not end with that/,
  ],
  [
    'a path that shows the file of another repository',
    ["update assets set artifact_id = (select max(id) from artifacts where repository = 'two') where path = 'empty'"],
    /does not show the newest revision/,
  ],
  [
    'a gap in the history of attachments',
    ['delete from attachments where revision = 2', 'delete from attachment_revisions where revision = 2'],
    /attachment_revisions: a revision of .+ is missing/,
  ],
  [
    'an attachment in no place',
    ['update attachments set position = 5 where revision = 1'],
    /attachments: a position of .+ 1 is missing/,
  ],
  [
    'a reference to nobody',
    [`update artifact_references set artifact_id = '${nobody}'`],
    /a row of artifact_references names artifact_id/,
  ],
  [
    'annotations of nobody',
    [`update annotations set artifact_id = '${nobody}' where ${one('annotations')}`],
    /annotations of .+ belong to no file/,
  ],
  ['a stage in another repository', ["update artifact_stages set repository = 'two'"], /stands in another one/],
  [
    'a copy that is not there',
    [`update promotions set copy_id = '${nobody}'`],
    /a row of promotions names copy_id, target/,
  ],
  [
    'a file that is published and deleted',
    [
      'insert into artifacts select id, repository, name, size, sha256, labels, metadata, created_at, expires_at, published_at from deleted_artifacts',
    ],
    /is published and deleted at once/,
  ],
  [
    'a file whose claim is another',
    [`update artifacts set size = size + 1 where ${one('artifacts', 'id')}`],
    /is published without a live claim/,
  ],
  [
    'files in a deleted repository',
    ["update repositories set deleted_at = '2026' where id = 'two'"],
    /repository two is deleted, and there are artifacts in it/,
  ],
  [
    'a policy on the authority of nobody',
    ['update storage_policies set key_id = null'],
    /repository one: its storage policy is enabled on the authority of no key/,
  ],
  [
    'a policy that is disabled and due',
    ["update storage_policies set enabled = 0, next_run_at = '2026'"],
    /disabled, and has a key or a next run/,
  ],
  [
    'events beyond their counter',
    ["insert into storage_events values ('one', 900, '2026', 'info', 'x', '{}')"],
    /repository one: the storage events go to 900/,
  ],
  [
    'a journal beyond its counter',
    ["update repositories set journal_head = 1 where id = 'one'"],
    /repository one: the journal has \d+ lines/,
  ],
  [
    'a gap in a journal',
    ["delete from journal where repository = 'one' and sequence = 3"],
    /repository one: the journal has \d+ lines/,
  ],
  [
    'a line where a restore passed over its sequence',
    ["insert into journal_gaps select 'one', min(sequence), min(sequence) + 1 from journal where repository = 'one'"],
    /repository one: the journal has the line \d+, which a restore passed over/,
  ],
  [
    'a consumer that is ahead of its journal',
    ['update journal_cursors set sequence = 9999'],
    /webhook:x has come to 9999/,
  ],
  [
    'a gap in the security audit',
    ['delete from security_audit where sequence = 3'],
    /the security audit has \d+ lines/,
  ],
  [
    'a security audit beyond its counter',
    ["update counters set value = 1 where name = 'security_audit'"],
    /the security audit has \d+ lines/,
  ],
  [
    'an account that is not found by its name',
    ["update accounts set name_key = 'somebody' where name = 'writer'"],
    /accounts: writer is not found by its name/,
  ],
  [
    'a wrong count of accounts',
    ["update counters set value = 77 where name = 'accounts'"],
    /the counter of accounts says 77/,
  ],
  [
    'a wrong count of jobs',
    ["update counters set value = 77 where name = 'open_jobs'"],
    /the counter of open jobs says 77/,
  ],
  [
    'a key of no account',
    [`update service_keys set account_id = '${nobody}'`],
    /a row of service_keys names account_id/,
  ],
  [
    'a label that search does not know',
    [`update annotations set labels = '["otherwise"]'`],
    /search does not know the artifact/,
  ],
  ['paths that search has otherwise', ["update search_entries set paths = 'x'"], /search does not know the artifact/],
  [
    'a path that leads to another file than search knows',
    ['delete from assets where path = (select min(path) from assets)'],
    /search does not know the artifact/,
  ],
  ['text that search has otherwise', ["update search_entries set text = 'x'"], /search does not know the artifact/],
  [
    'a first revision that removes',
    ['update asset_revisions set removed = 1 where revision = 1'],
    /revision 1 of .+ cannot have come about/,
  ],
  [
    'a revision that half removes',
    ['update asset_revisions set removed = 7 where revision = 1'],
    /cannot have come about/,
  ],
  [
    'a removal of another file than was shown',
    ['update asset_revisions set artifact_id = (select max(id) from artifacts) where removed = 1'],
    /cannot have come about/,
  ],
  [
    'a revision that restores what is to come',
    ['update asset_revisions set source_revision = 99 where revision = 1'],
    /cannot have come about/,
  ],
  ['a removal at no time', ["update removed_paths set removed_at = 'soon'"], /it is not known when .+ was removed/],
  [
    'a deleted file of another digest',
    [`update deleted_artifacts set sha256 = '${'a'.repeat(64)}'`],
    /is not what its claim says/,
  ],
  ['a deleted file of another size', ['update deleted_artifacts set size = size + 1'], /is not what its claim says/],
  [
    'a deleted file that was deleted before',
    ["update deleted_artifacts set deleted_at = '2020-01-01T00:00:00.000Z'"],
    /is not what its claim says/,
  ],
  [
    'a deleted file that is said to be gone',
    ["update deleted_artifacts set released_at = '2020-01-01T00:00:00.000Z'"],
    /is not what its claim says/,
  ],
  [
    'an object of Git LFS whose claim is another',
    ['update lfs_objects set size = size + 1'],
    /the object .+ of Git LFS has no claim on its bytes that fits it/,
  ],
  [
    'an object that is deleted and counts as there',
    ["update lfs_objects set deleted_at = '2026' where deleted_at is null"],
    /the object .+ of Git LFS has no claim on its bytes that fits it/,
  ],
  [
    'bytes that are held for no object',
    ["update claims set holder = 'lfs-object' where id in (select max(id) from artifacts)"],
    /neither an object of Git LFS nor an upload/,
  ],
  [
    'a blob of images whose claim is another',
    ['update oci_blobs set size = size + 1'],
    /the blob .+ of images has no live claim on its bytes/,
  ],
  [
    'bytes that are held for no blob',
    ["update claims set holder = 'oci-blob' where id in (select max(id) from artifacts)"],
    /neither a blob of images nor an upload/,
  ],
  [
    'a blob that is in use and would go',
    ["update oci_blobs set unused_since = '2026' where unused_since is null"],
    /the blob .+ of images is kept although/,
  ],
  [
    'a blob that nothing names and that stays',
    ['update oci_blobs set unused_since = null where unused_since is not null'],
    /the blob .+ of images is kept although/,
  ],
  [
    'a tagged manifest that would go',
    ["update oci_manifests set unused_since = '2026' where unused_since is null"],
    /the manifest .+ is kept although/,
  ],
  [
    'an image that is on a stage no more and stays',
    ["delete from oci_stages where stage = 'kept'"],
    /the manifest .+ is kept although/,
  ],
  [
    'a manifest that nothing keeps and that stays',
    ['update oci_manifests set unused_since = null where unused_since is not null'],
    /the manifest .+ is kept although/,
  ],

  [
    'an image that counts from another time',
    ["update oci_manifests set tagged_at = '2026' where tagged_at is not null"],
    /is not counted by storage policies from its newest tag on/,
  ],
  [
    'a child of an index that counts by itself',
    ["update oci_manifests set tagged_at = '2026' where tagged_at is null"],
    /is not counted by storage policies from its newest tag on/,
  ],
  [
    'a manifest under another digest',
    ["update oci_manifests set digest = 'sha256:0' where id in (select max(id) from oci_manifests)"],
    /is found by another digest than its bytes have/,
  ],
  [
    'a manifest that leads to another layer',
    ["update oci_references set digest = 'sha256:0' where role = 'layer' and blob_id is not null"],
    /leads to other bytes than it names/,
  ],
  [
    'a manifest without a layer that is here',
    ["update oci_references set blob_id = null where role = 'layer' and blob_id is not null"],
    /is without bytes that it names and its repository has/,
  ],
  [
    'a tag that was moved behind its history',
    ["update oci_tags set manifest_id = (select min(id) from oci_manifests) where tag = 'v1'"],
    /the tag one\/team\/app:v1 is not where it was moved to last/,
  ],
  [
    'an image with more tags than it has',
    ["update oci_images set tags = tags + 1 where name = 'team/app'"],
    /the image one\/team\/app is not said to have the tags and manifests/,
  ],
  [
    'an image that something came to later',
    ["update oci_images set pushed_at = '2020-01-01T00:00:00.000Z' where name = 'team/app'"],
    /the image one\/team\/app is not said to have the tags and manifests/,
  ],
  [
    'an image without a manifest',
    ["insert into oci_images values ('one', 'empty', '2026', 0, 0, '2026')"],
    /the image one\/empty has no manifest/,
  ],
  [
    'an npm package that is said to have more versions',
    ["update npm_packages set versions = versions + 1 where name = 'gone'"],
    /the npm package one\/gone is not said to have the versions/,
  ],
  [
    'an npm package whose versions were numbered otherwise',
    ["update npm_packages set last_number = 0 where name = '@acme/app'"],
    /the npm package one\/@acme\/app is not said to have the versions/,
  ],
  [
    'a version that its documents do not show',
    ["update npm_pieces set times = '' where number = 1"],
    /the npm version one\/@acme\/app@1\.0\.0 is not shown as it should be/,
  ],
  [
    'a deleted version that documents show',
    ["update npm_versions set deleted_at = null where name = 'gone'"],
    /the npm version one\/gone@1\.0\.0 is not shown as it should be/,
    /the npm version one\/gone@1\.0\.0 has no claim on its tarball that is as it is/,
  ],
  [
    'a tag at a deleted version',
    ["update npm_tags set version_id = (select id from npm_versions where version = '1.2.0') where tag = 'stable'"],
    /the tag of npm one\/@acme\/app stable is at a version that was deleted/,
  ],
  [
    'a stage of a deleted version',
    [
      `update npm_stages set version = '1.2.0', version_id = (select id from npm_versions where version = '1.2.0')
        where stage = 'approved'`,
    ],
    /the stage approved is of one\/@acme\/app@1\.2\.0, which was deleted/,
  ],
  [
    'documents of another state',
    ["update npm_packages set revision = revision + 1 where name = '@acme/app'"],
    /the documents of the npm package one\/@acme\/app are of another state/,
  ],
  ['a deleted file that is not there, though its upload is', ['delete from deleted_artifacts'], /has no holder/],
  ...(engine === 'sqlite'
    ? ([
        [
          'what search knows of no file',
          ["insert into search_index (rowid, tokens) values (7, 'abc')"],
          /search knows something at 7, where no file is/,
        ],
        [
          'words of a file that the index does not have',
          ["insert or replace into search_index (rowid, tokens) select max(position), 'zz' from search_entries"],
          /search does not know the artifact/,
        ],
      ] satisfies Tampering[])
    : []),
]
