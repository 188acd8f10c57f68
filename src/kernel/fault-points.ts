/**
 * The places at which a crash leaves something different behind. Tests stop the process at each of them.
 *
 * - `reclaim.given-up`: the rows of blobs that nobody claims are removals now, their bytes are there
 * - `reclaim.removed`: their bytes are gone, the removals are there
 * - `part.received`: a part's bytes are written in place, not yet durable nor known to be right
 * - `part.placed`: they are durable, no row counts them
 * - `part.recorded`: the part is stored, the client has no answer yet
 * - `publish.reserved`: the reservation is committed, no byte was taken
 * - `publish.staged`: all bytes are in the staging place and verified, the whole is not durable
 * - `publish.announced`: the digest is in the claim; the bytes have no final name yet
 * - `publish.placed`: the bytes are durable under their digest, no row refers to them
 * - `publish.committed`: everything is durable, the client has no answer yet
 * - `inline.read`: small files that are to be kept in the database are read, nothing is changed
 * - `inline.placed`: small files that were kept in the database are in the store, their rows do not say so
 * - `inline.moved`: their rows say where they are now
 * - `image.untagged`: some tags of a manifest that is being deleted are gone, it and others are there
 * - `lock.told`: a file of a Git repository is locked or unlocked, and the journal tells of it; nothing is committed
 * - `lock.committed`: that is committed, the client has no answer yet
 * - `npm.told`: a change of an npm package is made, its documents and its journal tell of it, nothing is committed
 * - `npm.unpublished`: some versions of a package are gone, others that are to go are there
 * - `npm.committed`: all of a change is committed, the client has no answer yet
 * - `npm-upstream.came`: the document of a package has come from an upstream, nothing of it is kept
 * - `npm-upstream.told`: it is kept in all its pieces, nothing is committed
 * - `npm-upstream.committed`: that is committed, the client has no answer yet
 * - `promotion.locked`: a promotion holds its locks and has changed nothing; it commits all that follows at once, or
 *   nothing
 * - `promotion.copied`: the copy is there, with its claim and its annotations
 * - `promotion.told`: the journal of the source tells of it, that of the target does not
 * - `promotion.staged`: both tell, and the copy has its package version and its stages; those of a moved source are
 *   gone
 * - `promotion.moved`: a moved source is put aside
 * - `promotion.committed`: all of it is committed, the client has no answer yet
 * - `image-promotion.shared`: the layers of a promoted image are claimed in the target, no manifest is there
 * - `image-promotion.copied`: its manifests are there, untagged
 * - `image-promotion.told`: all of it is there and told, nothing is committed
 * - `image-promotion.committed`: all of it is committed, the client has no answer yet
 * - `npm-promotion.copied`: the copy of a promoted npm version is there, with its claim and its tags
 * - `npm-promotion.told`: both journals tell, a moved source is gone, nothing is committed
 * - `npm-promotion.committed`: all of it is committed, the client has no answer yet
 * - `policy.images`: a storage policy has deleted a batch of images, nothing is committed
 * - `policy.batch`: that is committed; other batches, and the record of the run, are not
 * - `export.piece`: some rows of a table are in the folder of an export
 * - `export.rows`: the rows of all tables are there, no byte is
 * - `export.blob`: some bytes are there as well
 * - `export.copied`: everything is there but the manifest
 * - `backup.table`: some tables of a backup are in the vault
 * - `backup.blob`: a large file is there as well, nothing says so
 * - `backup.pack`: a pack of small files is
 * - `backup.copied`: everything is there but the manifest
 * - `backup.sealed`: the point is there, the database does not know of it
 * - `backup.recorded`: it does; what only the capture needed is still in the vault
 * - `retention.forgotten`: the manifest of a point is gone, what only it named is not
 * - `retention.swept`: some of that is
 * - `heal.placed`: bytes are right again, nobody was told of it
 * - `import.begun`: the database says that it is being imported into, nothing else has happened
 * - `import.blob`: some bytes are in the store, the database does not know how far it is
 * - `import.blobs`: some bytes are in the store, and it knows
 * - `import.piece`: all bytes and some rows are there
 * - `import.rows`: everything is there, and the database still says that it is being imported into
 */
export const faultPoints = [
  'reclaim.given-up',
  'reclaim.removed',
  'part.received',
  'part.placed',
  'part.recorded',
  'publish.reserved',
  'publish.staged',
  'publish.announced',
  'publish.placed',
  'publish.committed',
  'inline.read',
  'inline.placed',
  'inline.moved',
  'image.untagged',
  'lock.told',
  'lock.committed',
  'npm.told',
  'npm.unpublished',
  'npm.committed',
  'npm-upstream.came',
  'npm-upstream.told',
  'npm-upstream.committed',
  'promotion.locked',
  'promotion.copied',
  'promotion.told',
  'promotion.staged',
  'promotion.moved',
  'promotion.committed',
  'image-promotion.shared',
  'image-promotion.copied',
  'image-promotion.told',
  'image-promotion.committed',
  'npm-promotion.copied',
  'npm-promotion.told',
  'npm-promotion.committed',
  'policy.images',
  'policy.batch',
  'export.piece',
  'export.rows',
  'export.blob',
  'export.copied',
  'backup.table',
  'backup.blob',
  'backup.pack',
  'backup.copied',
  'backup.sealed',
  'backup.recorded',
  'retention.forgotten',
  'retention.swept',
  'heal.placed',
  'import.begun',
  'import.blob',
  'import.blobs',
  'import.piece',
  'import.rows',
] as const

export type FaultPoint = (typeof faultPoints)[number]

/** Called at each point. Does nothing outside of tests. */
export type ReachFaultPoint = (point: FaultPoint) => void

export const noFaults: ReachFaultPoint = () => {}
