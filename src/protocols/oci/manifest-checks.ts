import type { CheckedDeps } from '../../content/checks/checks.ts'
import { lookInto } from '../../content/checks/stored-bytes.ts'
import { type OpeningDeps, openStored } from '../../content/claims/stored-names.ts'
import { toSha256 } from '../../kernel/digest.ts'
import { Failure } from '../../kernel/failure.ts'
import { damage, type Finding } from '../../kernel/finding.ts'
import { checkPage, findingsMax } from '../../kernel/limits/upkeep.ts'
import { BlobMissing } from '../../ports/blob-store.ts'
import { type Manifest, readManifest } from './manifest.ts'
import {
  type CheckedManifest,
  checkedManifest,
  manifestsAfter,
  namesOf,
  type RecordedName,
} from './manifest-checks.queries.ts'
import { Refusal } from './refusals.ts'
import { imageTypes, indexTypes } from './vocabulary.ts'

/**
 * Proves that what rows say of manifests is what their bytes say: all else that is looked at compares rows with rows.
 * Opens each of them, one after another. Whose bytes are not there, the look at bytes tells.
 */
export async function* checkManifests(deps: CheckedDeps): AsyncGenerator<Finding> {
  const q = deps.database.reader
  let found = 0
  for (let after = ''; found < findingsMax; ) {
    const page = await manifestsAfter(q, after, checkPage)
    for (const row of page) {
      const said = await faultOf(deps, row)
      // Deleted meanwhile, with what it named.
      if (said === null || (await checkedManifest(q, row.id)) === undefined) continue
      found += 1
      yield damage(`repository ${row.repository}: the manifest ${row.id} of ${row.name} ${said}`)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < checkPage) return
    after = last.id
  }
}

const faultOf = async (deps: CheckedDeps, row: CheckedManifest): Promise<string | null> => {
  if (![...imageTypes, ...indexTypes].includes(row.media_type)) return 'is said to be of a type that no manifest has'
  const bytes = await bytesOf(deps, row)
  if (bytes === null) return null
  const manifest = readable(bytes, row.media_type)
  if (manifest === null) return null
  return typeof manifest === 'string' ? manifest : faultIn(manifest, row, await namesOf(deps.database.reader, row.id))
}

const bytesOf = async (deps: OpeningDeps, { sha256, size }: CheckedManifest): Promise<Buffer | null> => {
  const file = { digest: toSha256(sha256), bytes: size }
  try {
    return await lookInto(size, (range) => openStored(deps, file, range)).read(0, size)
  } catch (error) {
    if (error instanceof Failure && error.code === 'not_found') return null
    if (error instanceof Error && error.cause instanceof BlobMissing) return null
    throw error
  }
}

/** What the bytes say, or what is wrong. Null where they were taken when less was asked of a manifest. */
const readable = (bytes: Uint8Array, type: string): Manifest | string | null => {
  try {
    return readManifest(bytes, type)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return isReadable(bytes) ? 'is said to be of another type than its bytes say' : null
  }
}

/** By what the bytes themselves say that they are. */
const isReadable = (bytes: Uint8Array): boolean => {
  try {
    readManifest(bytes, '')
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

const faultIn = (manifest: Manifest, row: CheckedManifest, recorded: readonly RecordedName[]): string | null => {
  if ((manifest.subject?.text ?? null) !== row.subject) return 'is said to refer to something else than its bytes say'
  if (manifest.artifactType !== row.artifact_type) return 'is said to be an artifact of another type than its bytes say'
  const inBytes = manifest.names.map(({ role, digest }) => `${role} ${digest.text}`)
  const inRows = recorded.map(({ role, digest }) => `${role} ${digest}`)
  if (inBytes.toSorted().join() !== inRows.toSorted().join()) return 'is said to name something else than its bytes say'
  const needed = new Set(manifest.names.flatMap(({ digest, mayBeElsewhere }) => (mayBeElsewhere ? [] : digest.text)))
  if (recorded.some(({ role, digest, blob_id }) => role !== 'manifest' && blob_id === null && needed.has(digest)))
    return 'is without bytes that it needs'
  const sizes = new Map(manifest.names.map(({ digest, size }) => [digest.text, size]))
  // An index tells of what it leads to, and what older versions counted may be counted twice or not at all.
  const isExact = manifest.config !== null && sizes.size === recorded.length && recorded.every((name) => name.blob_id)
  if (isExact && row.content_bytes !== [...sizes.values()].reduce((sum, size) => sum + size, 0))
    return 'is said to take more or less than what it names'
  return null
}
