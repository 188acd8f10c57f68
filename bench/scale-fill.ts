import { hash } from 'node:crypto'
import type { Database, Transaction } from '../src/database/database.ts'
import { type Row, rebuildDerived } from '../src/database/moving/rows.queries.ts'
import type { JournalTable } from '../src/database/tables/journal.ts'
import { checkAnnotations } from '../src/features/catalog/annotations/checks.ts'
import { labelsText, metadataText } from '../src/features/catalog/artifacts/views.ts'
import { checkAssets } from '../src/features/catalog/assets/checks.ts'
import { makeAllKnown } from '../src/features/catalog/search/entries.ts'
import { checkJournals } from '../src/journal/repository/checks.ts'
import { timestamp } from '../src/kernel/clock.ts'
import { type Sha256, toSha256 } from '../src/kernel/digest.ts'
import { newId } from '../src/kernel/ids.ts'
import type { JournalAction } from '../src/kernel/journal-actions.ts'
import { blobName } from '../src/ports/blob-name.ts'
import { type BlobStore, unplanned } from '../src/ports/blob-store.ts'
import { insertFiles } from './insert-files.ts'
import { catalogFile } from './scale-catalog.ts'

const repository = 'releases'
const actor = 'bench'
const filesPerTransaction = 5_000

/**
 * Publishes so many files, every fourth of them annotated anew and every tenth referenced, all with the same few bytes.
 * What they are called is told by `catalogFile`. They come as the rows that an import would bring, many to a statement,
 * and search learns of them as it does then, since a million publishes would take hours. In the end the doctor looks at
 * them.
 */
export const fill = async (database: Database, store: BlobStore, count: number): Promise<void> => {
  const began = performance.now()
  const shared = await storeShared(store)
  const tell = (what: string): void =>
    console.log(`… ${what} after ${((performance.now() - began) / 1000).toFixed(0)} s`)
  await database.transaction((tx) => tx.insertInto('blobs').values(blobRow(shared)).execute())
  let head = 0
  for (let from = 0; from < count; from += filesPerTransaction) {
    const to = Math.min(from + filesPerTransaction, count)
    const rows = rowsOf(shared, from, to, head)
    await database.transaction((tx) => insertAll(tx, rows, (to - from) * shared.bytes), { durability: 'relaxed' })
    head += rows.journal.length
    if (to % 100_000 === 0) tell(`${to} files`)
  }
  await makeAllKnown(database.patient)
  tell('known to search')
  await database.patient.transaction((tx) => rebuildDerived(tx, database.engine))
  for (const check of [checkAssets(database.reader), checkAnnotations(database), checkJournals(database.reader)])
    for await (const { text } of check) throw new Error(text)
}

interface Shared {
  readonly digest: Sha256
  readonly bytes: number
}

/** The few bytes that all files have. */
export const storeShared = async (store: BlobStore): Promise<Shared> => {
  const bytes = Buffer.from('shared by all')
  const digest = toSha256(hash('sha256', bytes))
  const place = await store.stage('shared', unplanned)
  await place.write(bytes)
  await place.publish(blobName(digest, ''))
  return { digest, bytes: bytes.byteLength }
}

const blobRow = ({ digest, bytes }: Shared) => ({
  sha256: digest,
  size: bytes,
  state: 'stored' as const,
  stored_at: timestamp(Date.now()),
  generation: '',
})

/** In an order in which every row finds what it refers to. */
type Rows = Readonly<
  Record<'claims' | 'artifacts' | 'asset_revisions' | 'assets' | 'annotations' | 'artifact_references', Row[]> & {
    journal: JournalTable[]
  }
>

const rowsOf = ({ digest, bytes }: Shared, from: number, to: number, head: number): Rows => {
  const rows: Rows = {
    ...{ claims: [], artifacts: [], asset_revisions: [], assets: [] },
    ...{ annotations: [], artifact_references: [], journal: [] },
  }
  for (let index = from; index < to; index++) {
    const file = catalogFile(index)
    const { path } = file
    const id = newId(Date.now())
    const at = timestamp(Date.now())
    rows.claims.push({
      ...{ id, repository, holder: 'artifact', sha256: digest, size: bytes, state: 'live', retired_at: null },
    })
    rows.artifacts.push({
      ...{ id, repository, name: file.name, size: bytes, sha256: digest },
      ...{ labels: labelsText(file.labels), metadata: metadataText(file.metadata) },
      ...{ created_at: at, expires_at: at, published_at: at },
    })
    const current = { repository, path, revision: 1, artifact_id: id }
    rows.asset_revisions.push({ ...current, actor, created_at: at, source_revision: null })
    rows.assets.push(current)
    const told = (action: JournalAction, detail: string | null): void => {
      const sequence = head + rows.journal.length + 1
      rows.journal.push({
        ...{ repository, sequence, action, artifact_id: id, detail, actor, occurred_at: at },
        ...{ mode: null, peer_repository: null, peer_artifact_id: null, peer_image: null, comment: null },
      })
    }
    told('artifact.publish', null)
    told('asset.replace', path)
    if (file.referenceKey !== null) {
      rows.artifact_references.push({ artifact_id: id, owner: actor, key: file.referenceKey, created_at: at })
      told('reference.add', null)
    }
    if (file.annotations === null) continue
    const { labels, metadata, collections } = file.annotations
    rows.annotations.push({
      ...{ artifact_id: id, revision: 1, labels: labelsText(labels), metadata: metadataText(metadata) },
      collections: JSON.stringify(collections),
    })
    told('annotation.replace', null)
  }
  return rows
}

const insertAll = async (tx: Transaction, { journal, ...rows }: Rows, bytes: number): Promise<void> => {
  await insertFiles(tx, repository, bytes, [
    ['claims', rows.claims],
    ['artifacts', rows.artifacts],
    ['asset_revisions', rows.asset_revisions],
    ['assets', rows.assets],
    ['annotations', rows.annotations],
    ['artifact_references', rows.artifact_references],
    ['journal', journal.map((line) => ({ ...line }))],
  ])
  const head = journal.at(-1)?.sequence ?? 0
  await tx.updateTable('repositories').set({ journal_head: head }).where('id', '=', repository).execute()
}
