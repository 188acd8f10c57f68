import { hash } from 'node:crypto'
import type { Transaction } from '../../database/database.ts'
import type { TransferDeps } from '../../features/transfers/uploads/uploads.ts'
import { imageLine } from '../../journal/repository/image-lines.ts'
import { appendJournal } from '../../journal/repository/journal.ts'
import { newId } from '../../kernel/ids.ts'
import { OnePiece } from '../../kernel/one-piece.ts'
import { blobsAmong, markUsed } from './blobs.queries.ts'
import { type ImageScope, receiveBlob } from './blobs.ts'
import { platformsOf } from './configs.ts'
import { keptBy, settleKept } from './keeping.queries.ts'
import { type Manifest, type Named, readManifest } from './manifest.ts'
import {
  type FoundManifest,
  findManifest,
  insertImage,
  insertManifest,
  insertReferences,
  keepAnew,
  manifestsAmong,
} from './manifests.queries.ts'
import { digestInvalid, Refusal } from './refusals.ts'
import { type ImageName, setTags } from './tags.ts'
import { type Digest, sha256Digest } from './vocabulary.ts'

/** A manifest as it comes. */
export interface PushedManifest {
  readonly bytes: Uint8Array
  readonly contentType: string
  /** What it was said to be; null where it comes by tag. */
  readonly digest: Digest | null
  readonly tags: readonly string[]
}

export interface Pushed {
  /** As the client calls it, or its SHA-256. */
  readonly digest: Digest
  readonly subject: Digest | null
}

/** Rows that go into one statement. */
const rowsAtOnce = 500

/**
 * Stores a manifest below a name, byte by byte as it came, and moves tags to it: one transaction for bytes, rows, tags
 * and the journal (I1, I4). Of what is there already only the tags change. 400 for what is no manifest, has another
 * digest, or names what is not here.
 */
export const pushManifest = async (
  deps: TransferDeps,
  scope: ImageScope & { readonly name: string },
  pushed: PushedManifest,
): Promise<Pushed> => {
  const { bytes, contentType, tags } = pushed
  const manifest = readManifest(bytes, contentType)
  const sha256 = sha256Digest(hash('sha256', bytes))
  const digest = pushed.digest ?? sha256
  const found = digest.algorithm === 'sha256' ? sha256.hex : hash('sha512', bytes)
  if (found !== digest.hex)
    throw digestInvalid(`The manifest has the digest ${digest.algorithm}:${found}; ${digest.text} was declared.`, {
      digest: digest.text,
    })
  const platforms = await platformsOf(deps, scope.repository, manifest)
  const body = { digest, declaredBytes: bytes.byteLength, pieces: new OnePiece(bytes) }
  await receiveBlob(deps, scope, body, async (tx, blobId, now) => {
    const id = await putManifest(deps, tx, scope, { manifest, platforms, sha256, digest, blobId, now })
    const tagged = { manifestId: id, algorithm: digest.algorithm }
    await setTags(tx, scope, tags, tagged, { actor: scope.owner, now })
  })
  return { digest, subject: manifest.subject }
}

interface Stored {
  readonly manifest: Manifest
  readonly platforms: readonly string[]
  readonly sha256: Digest
  readonly digest: Digest
  readonly blobId: string
  readonly now: string
}

/** The manifest's row, which may be there; answers its id. */
const putManifest = async (
  { clock }: Pick<TransferDeps, 'clock'>,
  tx: Transaction,
  { repository, name, owner }: ImageScope & { readonly name: string },
  { manifest, platforms, sha256, digest, blobId, now }: Stored,
): Promise<string> => {
  const here = { repository, name }
  const digest512 = digest.algorithm === 'sha512' ? digest.text : null
  const there = await findManifest(tx, here, sha256)
  if (there !== undefined) {
    await putAgain(tx, here, there, digest512, now)
    return there.id
  }
  const { blobs, contentBytes } = await resolve(tx, here, manifest.names)
  const id = newId(clock.now())
  await insertImage(tx, here, now)
  const { mediaType, artifactType, subject, annotations } = manifest
  await insertManifest(tx, {
    ...{ id, repository, name, digest: sha256.text, digest512, blob_id: blobId, media_type: mediaType },
    artifact_type: artifactType,
    subject: subject?.text ?? null,
    annotations: subject === null ? null : JSON.stringify(annotations),
    content_bytes: contentBytes,
    platforms: platforms.length === 0 ? null : JSON.stringify(platforms),
    ...{ pushed_at: now, actor: owner, unused_since: now, tagged_at: null },
  })
  const references = manifest.names.map(({ role, digest: named }, position) => ({
    ...{ manifest_id: id, position, repository, name, role, digest: named.text },
    blob_id: blobs.get(named.text) ?? null,
  }))
  for (let at = 0; at < references.length; at += rowsAtOnce)
    await insertReferences(tx, references.slice(at, at + rowsAtOnce))
  await markUsed(tx, [blobId, ...new Set(blobs.values())])
  await settleKept(tx, [id, ...(await keptBy(tx, here, [{ id, digest: sha256.text, digest512 }]))], now)
  await appendJournal(tx, {
    repository,
    action: 'image.push',
    artifactId: id,
    detail: imageLine(name, digest.text),
    actor: owner,
    occurredAt: now,
  })
  return id
}

/**
 * A manifest that is there comes again: where nothing keeps it, it stays as long as a new one. Called by another digest
 * than before, it is what an index lists and others refer to under that.
 */
const putAgain = async (
  tx: Transaction,
  here: ImageName,
  there: FoundManifest,
  called512: string | null,
  now: string,
): Promise<void> => {
  const { id, digest } = there
  const digest512 = there.digest512 ?? called512
  await keepAnew(tx, id, { digest512, now })
  if (digest512 !== there.digest512)
    await settleKept(tx, [id, ...(await keptBy(tx, here, [{ id, digest, digest512 }]))], now)
}

/** What a manifest leads to. */
interface Resolved {
  /** Ids of its blobs, by the digests that it names them by. */
  readonly blobs: ReadonlyMap<string, string>
  /** Of all that it names, each once; of what an index lists, what that leads to. */
  readonly contentBytes: number
}

/**
 * What a manifest names, found here. 400 with each that is not here, or has another size than is said.
 */
const resolve = async (
  tx: Transaction,
  here: { readonly repository: string; readonly name: string },
  names: readonly Named[],
): Promise<Resolved> => {
  const blobs = new Map<string, { id: string; size: number }>()
  const manifests = new Map<string, number>()
  for (const algorithm of ['sha256', 'sha512'] as const) {
    const those = names.filter(({ digest }) => digest.algorithm === algorithm)
    const sought = those.filter(({ role }) => role !== 'manifest').map(({ digest }) => digest.hex)
    for (let at = 0; at < sought.length; at += rowsAtOnce)
      for (const row of await blobsAmong(tx, here.repository, algorithm, sought.slice(at, at + rowsAtOnce)))
        blobs.set(`${algorithm}:${row[algorithm]}`, row)
    const column = algorithm === 'sha256' ? 'digest' : 'digest512'
    const children = those.filter(({ role }) => role === 'manifest').map(({ digest }) => digest.text)
    for (let at = 0; at < children.length; at += rowsAtOnce)
      for (const row of await manifestsAmong(tx, here, column, children.slice(at, at + rowsAtOnce)))
        manifests.set(row[column] ?? '', row.content_bytes)
  }
  const isMissing = ({ role, digest, mayBeElsewhere }: Named): boolean =>
    role === 'manifest' ? !manifests.has(digest.text) : !mayBeElsewhere && !blobs.has(digest.text)
  const missing = names.filter(isMissing)
  if (missing.length > 0)
    throw new Refusal(
      'invalid_request',
      missing.map(({ role, digest }) => ({
        code: 'MANIFEST_BLOB_UNKNOWN' as const,
        message: `The ${role} ${digest.text} is not here; push it first.`,
        detail: { digest: digest.text },
      })),
    )
  for (const { digest, size } of names) {
    const stored = blobs.get(digest.text)
    if (stored !== undefined && stored.size !== size)
      throw new Refusal('invalid_request', [
        {
          code: 'MANIFEST_INVALID',
          message: `${digest.text} has ${stored.size} bytes; the manifest says ${size}.`,
          detail: { digest: digest.text },
        },
      ])
  }
  const bytes = new Map(names.map(({ digest, size }) => [digest.text, manifests.get(digest.text) ?? size]))
  return {
    blobs: new Map([...blobs].map(([digest, { id }]) => [digest, id])),
    contentBytes: Math.min(
      [...bytes.values()].reduce((sum, each) => sum + each, 0),
      Number.MAX_SAFE_INTEGER,
    ),
  }
}
