import { hash } from 'node:crypto'
import type { Database, Transaction } from '../src/database/database.ts'
import { type Row, rebuildDerived } from '../src/database/moving/rows.queries.ts'
import { timestamp } from '../src/kernel/clock.ts'
import { toSha256 } from '../src/kernel/digest.ts'
import { newId } from '../src/kernel/ids.ts'
import { blobName } from '../src/ports/blob-name.ts'
import { type BlobStore, unplanned } from '../src/ports/blob-store.ts'
import { checkImages } from '../src/protocols/oci/checks.ts'
import { insertFiles } from './insert-files.ts'

const repository = 'releases'
const actor = 'bench'
const perTransaction = 5_000

/** An image for no platform yet: it names nothing, so that one blob is enough for all. */
const mediaType = 'application/vnd.oci.image.index.v1+json'
const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, manifests: [] }))

/**
 * So many tags `t00000000…` of one image called `crowded`, and so many images `i00000000…` with one tag each, as the
 * rows that an import would bring: a million pushes would take hours. In the end the doctor looks at them.
 */
export const fillImages = async (database: Database, store: BlobStore, count: number): Promise<void> => {
  const began = performance.now()
  const sha256 = toSha256(hash('sha256', bytes))
  const place = await store.stage('shared', unplanned)
  await place.write(bytes)
  await place.publish(blobName(sha256, ''))
  const at = timestamp(Date.now())
  const blob = newId(Date.now())
  const crowded = newId(Date.now())
  const manifest = (id: string, name: string): Row => ({
    ...{ id, repository, name, digest: `sha256:${sha256}`, digest512: null, blob_id: blob, media_type: mediaType },
    ...{ artifact_type: null, subject: null, annotations: null, content_bytes: 0, platforms: null },
    ...{ pushed_at: at, actor, unused_since: null, tagged_at: at },
  })
  const tag = (name: string, called: string, id: string): Row => ({
    ...{ repository, name, tag: called, manifest_id: id, algorithm: 'sha256', moved_at: at, actor },
  })
  const move = (name: string, called: string, id: string): Row => ({
    ...{ repository, name, tag: called, revision: 1, manifest_id: id, removed: 0, moved_at: at, actor },
  })
  const image = (name: string, tags: number): Row => ({
    ...{ repository, name, created_at: at, tags, manifests: 1, pushed_at: at },
  })
  const size = bytes.byteLength
  const claim = { id: blob, repository, holder: 'oci-blob', sha256, size, state: 'live', retired_at: null }
  const held = {
    id: blob,
    repository,
    sha256,
    sha512: null,
    size,
    created_at: at,
    unused_since: null,
    counted_on_at: at,
  }
  await database.transaction(async (tx) => {
    await tx.insertInto('blobs').values({ sha256, size, state: 'stored', stored_at: at, generation: '' }).execute()
    await insertFiles(tx, repository, size, [
      ['claims', [claim]],
      ['oci_blobs', [held]],
      ['oci_images', [image('crowded', count)]],
      ['oci_manifests', [manifest(crowded, 'crowded')]],
    ])
  })
  for (let from = 0; from < count; from += perTransaction) {
    const numbers = Array.from({ length: Math.min(perTransaction, count - from) }, (_, index) => from + index)
    const images = numbers.map((number) => ({ id: newId(Date.now()), name: `i${eight(number)}` }))
    const tags = numbers.map((number) => `t${eight(number)}`)
    const insert = (tx: Transaction): Promise<void> =>
      insertFiles(tx, repository, 0, [
        ['oci_images', images.map(({ name }) => image(name, 1))],
        ['oci_manifests', images.map(({ id, name }) => manifest(id, name))],
        [
          'oci_tags',
          [
            ...tags.map((called) => tag('crowded', called, crowded)),
            ...images.map(({ id, name }) => tag(name, '1', id)),
          ],
        ],
        [
          'oci_tag_moves',
          [
            ...tags.map((called) => move('crowded', called, crowded)),
            ...images.map(({ id, name }) => move(name, '1', id)),
          ],
        ],
      ])
    await database.transaction(insert, { durability: 'relaxed' })
    if ((from + perTransaction) % 100_000 === 0)
      console.log(`… ${from + perTransaction} after ${((performance.now() - began) / 1000).toFixed(0)} s`)
  }
  await database.transaction((tx) => rebuildDerived(tx, database.engine))
  for await (const { text } of checkImages({ database, clock: { now: Date.now } })) throw new Error(text)
}

const eight = (number: number): string => String(number).padStart(8, '0')
