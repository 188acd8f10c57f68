import { hash } from 'node:crypto'
import { publish, reserve } from '../src/content/claims.ts'
import type { Database, Transaction } from '../src/database/database.ts'
import { replaceAnnotations } from '../src/features/annotations/annotations.ts'
import { addRevision } from '../src/features/assets/revisions.ts'
import { publishArtifact } from '../src/features/uploads/artifact.ts'
import { labelsText, metadataText } from '../src/features/uploads/descriptor.ts'
import { type Sha256, toSha256 } from '../src/kernel/digest.ts'
import { newId } from '../src/kernel/ids.ts'
import { type BlobStore, unplanned } from '../src/ports/blob-store.ts'
import { catalogFile } from './scale-catalog.ts'

const repository = 'releases'
const actor = 'bench'
/** PostgreSQL keeps every version of a counter until the commit, and goes through all of them for the next one. */
const filesPerTransaction = { sqlite: 1_000, postgres: 50 }

/**
 * Publishes so many files by the rules of the service, many in a transaction, all with the same few bytes. What they
 * are called is told by `catalogFile`.
 */
export const fill = async (database: Database, store: BlobStore, count: number): Promise<void> => {
  const began = performance.now()
  const { digest, bytes } = await storeShared(store)
  for (let index = 0; index < count; ) {
    const end = Math.min(index + filesPerTransaction[database.engine], count)
    const from = index
    await database.transaction(
      async (tx) => {
        for (let each = from; each < end; each++) await publishOne(tx, each, digest, bytes)
      },
      { durability: 'relaxed' },
    )
    index = end
    if (index % 50_000 === 0) console.log(`… ${index} files after ${((performance.now() - began) / 1000).toFixed(0)} s`)
  }
}

/** The few bytes that all files have. */
export const storeShared = async (store: BlobStore): Promise<{ digest: Sha256; bytes: number }> => {
  const bytes = Buffer.from('shared by all')
  const digest = toSha256(hash('sha256', bytes))
  const place = await store.stage('shared', unplanned)
  await place.write(bytes)
  await place.publish(digest)
  return { digest, bytes: bytes.byteLength }
}

const publishOne = async (tx: Transaction, index: number, digest: Sha256, bytes: number): Promise<void> => {
  const file = catalogFile(index)
  const id = newId(Date.now())
  const now = new Date().toISOString()
  await reserve(tx, { id, repository, digest, bytes }, Number.MAX_SAFE_INTEGER)
  await publish(tx, id, digest, bytes, now)
  const labels = labelsText(file.labels)
  const metadata = metadataText(file.metadata)
  const row = { id, repository, name: file.name, labels, metadata, created_at: now, expires_at: now }
  await publishArtifact(tx, { ...row, size: bytes, sha256: digest }, actor, now)
  await addRevision(tx, { repository, path: file.path, artifactId: id, current: 0, sourceRevision: null, actor }, now)
  if (file.annotations !== null)
    await replaceAnnotations(tx, repository, id, { expectedRevision: 0, value: file.annotations }, actor, now)
}
