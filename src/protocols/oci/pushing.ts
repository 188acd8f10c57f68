import { hash } from 'node:crypto'
import type { Transaction } from '../../database/database.ts'
import type { TransferDeps } from '../../features/transfers/uploads/uploads.ts'
import { imageLine } from '../../journal/repository/image-lines.ts'
import { appendJournal } from '../../journal/repository/journal.ts'
import { newId } from '../../kernel/ids.ts'
import { missingToldMax } from '../../kernel/limits/oci.ts'
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
import { digestInvalid, manifestInvalid, Refusal } from './refusals.ts'
import { type ImageName, setTags } from './tags.ts'
import { type Algorithm, type Digest, toDigest } from './vocabulary.ts'

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
  const found = { sha256: digestOf('sha256', bytes), sha512: digestOf('sha512', bytes) }
  const digest = pushed.digest ?? found.sha256
  const { text } = found[digest.algorithm]
  if (text !== digest.text)
    throw digestInvalid(`The manifest has the digest ${text}; ${digest.text} was declared.`, { digest: digest.text })
  const platforms = await platformsOf(deps, scope.repository, manifest)
  const body = { digest, called: found.sha512, declaredBytes: bytes.byteLength, pieces: new OnePiece(bytes) }
  await receiveBlob(deps, scope, body, async (tx, blobId, now) => {
    const id = await putManifest(deps, tx, scope, { manifest, platforms, ...found, blobId, now })
    const tagged = { manifestId: id, algorithm: digest.algorithm }
    await setTags(tx, scope, tags, tagged, { actor: scope.owner, now })
  })
  return { digest, subject: manifest.subject }
}

/** Others may name a manifest by either, whatever it is pushed by. */
const digestOf = (algorithm: Algorithm, bytes: Uint8Array): Digest => toDigest(`${algorithm}:${hash(algorithm, bytes)}`)

interface Stored {
  readonly manifest: Manifest
  readonly platforms: readonly string[]
  readonly sha256: Digest
  readonly sha512: Digest
  readonly blobId: string
  readonly now: string
}

/** The manifest's row, which may be there; answers its id. */
const putManifest = async (
  { clock }: Pick<TransferDeps, 'clock'>,
  tx: Transaction,
  { repository, name, owner }: ImageScope & { readonly name: string },
  { manifest, platforms, sha256, sha512, blobId, now }: Stored,
): Promise<string> => {
  const here = { repository, name }
  const digest512 = sha512.text
  const there = await findManifest(tx, here, sha256)
  if (there !== undefined && there.media_type !== manifest.mediaType)
    throw manifestInvalid(`These bytes are here as ${there.media_type}: they cannot be ${manifest.mediaType} as well.`)
  const { blobs, contentBytes } = await resolve(tx, here, manifest.names)
  if (there !== undefined) {
    await putAgain(tx, here, there, digest512, now)
    return there.id
  }
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
    detail: imageLine(name, sha256.text),
    actor: owner,
    occurredAt: now,
  })
  return id
}

/**
 * A manifest that is there comes again, and what it names is still here: where nothing keeps it, it stays as long as a
 * new one. One from before every manifest was known by both digests is what others name by the second from now on.
 */
const putAgain = async (
  tx: Transaction,
  here: ImageName,
  there: FoundManifest,
  digest512: string,
  now: string,
): Promise<void> => {
  const { id, digest } = there
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
 * What a manifest names, found here. 400 with the first ones that are not here, or for one of another size than is
 * said, or, of what an index lists, of another media type.
 */
const resolve = async (
  tx: Transaction,
  here: { readonly repository: string; readonly name: string },
  names: readonly Named[],
): Promise<Resolved> => {
  const blobs = new Map<string, { id: string; size: number }>()
  const manifests = new Map<string, { size: number; media_type: string; content_bytes: number }>()
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
        manifests.set(row[column] ?? '', row)
  }
  const isMissing = ({ role, digest, mayBeElsewhere }: Named): boolean =>
    role === 'manifest' ? !manifests.has(digest.text) : !mayBeElsewhere && !blobs.has(digest.text)
  const missing = names.filter(isMissing)
  if (missing.length > 0)
    throw new Refusal(
      'invalid_request',
      missing.slice(0, missingToldMax).map(({ role, digest }) => ({
        code: 'MANIFEST_BLOB_UNKNOWN' as const,
        message: `The ${role} ${digest.text} is not here; push it first.`,
        detail: { digest: digest.text },
      })),
    )
  for (const { role, digest, size, mediaType } of names) {
    const child = role === 'manifest' ? manifests.get(digest.text) : undefined
    const stored = (child ?? blobs.get(digest.text))?.size ?? size
    const what = { digest: digest.text }
    if (stored !== size) throw manifestInvalid(`${digest.text} has ${stored} bytes; the manifest says ${size}.`, what)
    if (child !== undefined && child.media_type !== mediaType)
      throw manifestInvalid(`${digest.text} is ${child.media_type}; the manifest says ${mediaType}.`, what)
  }
  const bytes = new Map(
    names.map(({ digest, size }) => [digest.text, manifests.get(digest.text)?.content_bytes ?? size]),
  )
  return {
    blobs: new Map([...blobs].map(([digest, { id }]) => [digest, id])),
    contentBytes: Math.min(
      [...bytes.values()].reduce((sum, each) => sum + each, 0),
      Number.MAX_SAFE_INTEGER,
    ),
  }
}
