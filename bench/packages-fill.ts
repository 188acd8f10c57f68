import { publish, reserve } from '../src/content/claims/claims.ts'
import type { Database, Transaction } from '../src/database/database.ts'
import { type Row, rebuildDerived } from '../src/database/moving/rows.queries.ts'
import type { ArtifactsTable } from '../src/database/tables/artifacts.ts'
import { checkPackages } from '../src/features/catalog/packages/checks.ts'
import { parseManifest } from '../src/features/catalog/packages/manifest.ts'
import { packageRow } from '../src/features/catalog/packages/registration.ts'
import { publishArtifact } from '../src/features/lifecycle/publishing/publishing.ts'
import { timestamp } from '../src/kernel/clock.ts'
import type { Sha256 } from '../src/kernel/digest.ts'
import { newId } from '../src/kernel/ids.ts'
import { blobName } from '../src/ports/blob-name.ts'
import type { BlobStore } from '../src/ports/blob-store.ts'
import { insertFiles } from './insert-files.ts'
import type { CatalogPackage } from './packages-catalog.ts'
import { storeShared } from './scale-fill.ts'

const repository = 'releases'
const actor = 'bench'
const packagesPerTransaction = 5_000

interface Shared {
  readonly digest: Sha256
  readonly bytes: number
}

/**
 * Publishes a file by the rules of the service, and then package versions that have the same bytes: as the rows that an
 * import would bring, many to a statement, since a million registrations would take hours. Their lines in the journal
 * are as if forgotten, and search does not know them. In the end the doctor looks at them.
 */
export const fillPackages = async (
  database: Database,
  store: BlobStore,
  count: number,
  packageAt: (index: number) => CatalogPackage,
): Promise<void> => {
  const began = performance.now()
  const shared = await storeShared(store)
  await database.transaction((tx) => publishFile(tx, shared))
  // One a second until now, each promoted some minutes after it was published.
  const firstMs = Date.now() - count * 1_000
  for (let from = 0; from < count; from += packagesPerTransaction) {
    const to = Math.min(from + packagesPerTransaction, count)
    const rows = rowsOf(shared, from, to, firstMs, packageAt)
    await database.transaction((tx) => insertAll(tx, rows, (to - from) * shared.bytes), { durability: 'relaxed' })
    if (to % 100_000 === 0) console.log(`… ${to} packages after ${((performance.now() - began) / 1000).toFixed(0)} s`)
  }
  await database.transaction((tx) => rebuildDerived(tx, database.engine))
  for await (const { text } of checkPackages(database)) throw new Error(text)
}

const publishFile = async (tx: Transaction, { digest, bytes }: Shared): Promise<void> => {
  const id = newId(Date.now())
  const now = timestamp(Date.now())
  await reserve(tx, { id, repository, holder: 'artifact', digest, bytes }, Number.MAX_SAFE_INTEGER)
  await publish(tx, id, { name: blobName(digest, ''), bytes }, now)
  const row = { id, repository, name: 'shared', labels: '[]', metadata: '{}', created_at: now, expires_at: now }
  await publishArtifact(tx, { ...row, size: bytes, sha256: digest }, actor, now)
}

/** In an order in which every row finds what it refers to. */
type Rows = Readonly<Record<'claims' | 'artifacts' | 'packages' | 'artifact_stages' | 'package_stages', Row[]>>

const rowsOf = (
  { digest, bytes }: Shared,
  from: number,
  to: number,
  firstMs: number,
  packageAt: (index: number) => CatalogPackage,
): Rows => {
  const rows: Rows = { claims: [], artifacts: [], packages: [], artifact_stages: [], package_stages: [] }
  for (let index = from; index < to; index++) {
    const { group, name, version, stages: reached } = packageAt(index)
    const publishedMs = firstMs + index * 1_000
    const at = timestamp(publishedMs)
    const id = newId(Date.now())
    const claim = { id, repository, holder: 'artifact', sha256: digest, size: bytes, state: 'live', retired_at: null }
    rows.claims.push(claim)
    const artifact: ArtifactsTable = {
      ...{ id, repository, name: `${name}-${version}.upack`, size: bytes, sha256: digest },
      ...{ labels: '[]', metadata: '{}', created_at: at, expires_at: at, published_at: at },
    }
    rows.artifacts.push({ ...artifact })
    const manifest = parseManifest(Buffer.from(JSON.stringify({ group, name, version, title: `The ${name}` })))
    const row = packageRow(artifact, manifest, at)
    rows.packages.push({ ...row })
    for (const [step, stage] of reached.entries()) {
      const promoted_at = timestamp(publishedMs + (step + 1) * 300_000)
      rows.artifact_stages.push({ artifact_id: id, stage, repository, promoted_at, actor, comment: null })
      const { group_key, name_key, prerelease, version_key } = row
      const key = { repository, group_key, name_key, prerelease, version_key }
      rows.package_stages.push({ artifact_id: id, stage, ...key, promoted_at })
    }
  }
  return rows
}

const insertAll = (tx: Transaction, rows: Rows, bytes: number): Promise<void> =>
  insertFiles(tx, repository, bytes, [
    ['claims', rows.claims],
    ['artifacts', rows.artifacts],
    ['packages', rows.packages],
    ['artifact_stages', rows.artifact_stages],
    ['package_stages', rows.package_stages],
  ])
