import type { Transaction } from '../../../database/database.ts'
import type { UploadsTable } from '../../../database/tables/uploads.ts'
import type { Sha256 } from '../../../kernel/digest.ts'
import { Failure } from '../../../kernel/failure.ts'
import { artifactNameMaxCharacters } from '../../../kernel/limits/catalog.ts'
import { lastCharacters } from '../../../kernel/names.ts'
import { type ContentAt, contentAt } from '../../catalog/assets/content.ts'
import { failed, type Preconditions, refuseUnlessAsExpected } from '../../catalog/assets/preconditions.ts'
import { addRevision, otherRevision } from '../../catalog/assets/revisions.ts'
import { publishArtifact } from '../../lifecycle/publishing/publishing.ts'
import type { UploadScope } from '../uploads/session.ts'
import type { TransferDeps } from '../uploads/uploads.ts'
import { receiveWhole, type WholeFile } from '../whole/whole.ts'

export interface RawFile extends Omit<WholeFile, 'name' | 'kind'> {
  readonly path: string
  /** What it is said to be; kept with the revision. */
  readonly mediaType: string | null
  /** `If-None-Match: *`: only a path that has nothing yet. */
  readonly onlyNew: boolean
  readonly expects: Preconditions
}

export interface RawResult {
  readonly path: string
  readonly revision: number
  /** A new revision came to be. False when the path held these very bytes already. */
  readonly created: boolean
  readonly artifact: { readonly id: string; readonly size: string; readonly sha256: string }
}

/** Another request stored the same bytes at the same path while ours came in: the outcome that both wanted. */
class SameBytesMeanwhile extends Error {
  readonly current: ContentAt

  constructor(current: ContentAt) {
    super('the same bytes are there already')
    this.current = current
  }
}

/**
 * Stores a file under a path in one request. A checksum or length that differs is 422 and stores nothing, a writer who
 * was faster with other bytes 409 `revision_mismatch`. Bytes equal to the current revision change nothing.
 */
export const putRaw = async (deps: TransferDeps, scope: UploadScope, file: RawFile): Promise<RawResult> => {
  const { reader } = deps.database
  const before = await contentAt(reader, scope.repository, file.path)
  if (file.onlyNew && before !== undefined) throw exists(file.path)
  refuseUnlessAsExpected(file.path, file.expects, before)
  const name = lastCharacters(file.path.slice(file.path.lastIndexOf('/') + 1), artifactNameMaxCharacters)
  try {
    return await receiveWhole(
      deps,
      scope,
      { ...file, name, kind: 'artifact' },
      {
        there: async () =>
          before === undefined || file.onlyNew || file.digest !== before.sha256
            ? null
            : { digest: file.digest, bytes: before.size },
        early: async (content) => {
          const now = await contentAt(reader, scope.repository, file.path)
          if (file.onlyNew || now?.sha256 !== content.digest) return refuseChange(file, before, now)
          return unchanged(file.path, now)
        },
        commit: (tx, row, content, now) => commit(tx, row, file, before, content, now),
      },
    )
  } catch (error) {
    if (!(error instanceof SameBytesMeanwhile)) throw error
    // Somebody else may have replaced them by now; our answer is about our bytes.
    return unchanged(file.path, error.current)
  }
}

const exists = (path: string): Failure =>
  new Failure('already_exists', `${JSON.stringify(path)} exists, and If-None-Match: * asks for a new one.`)

/**
 * Null when the path is as it was when the request began; otherwise the 409 that fits, or 412 for who expected
 * something.
 */
const refuseChange = (file: RawFile, before: ContentAt, now: ContentAt): null => {
  if (file.onlyNew && now !== undefined) throw exists(file.path)
  if (now?.revision === before?.revision) return null
  const { ifMatch, ifUnmodifiedSince } = file.expects
  if (ifMatch !== undefined || ifUnmodifiedSince !== undefined)
    throw failed(file.path, 'was replaced while the file came in')
  throw otherRevision(file.path, now?.revision ?? 0)
}

const commit = async (
  tx: Transaction,
  row: UploadsTable,
  file: RawFile,
  before: ContentAt,
  content: { digest: Sha256; bytes: number },
  now: string,
): Promise<RawResult> => {
  // Publishing the claim has locked the repository's row: the path cannot change until we commit.
  const current = await contentAt(tx, row.repository, file.path)
  if (current?.sha256 === content.digest && !file.onlyNew) throw new SameBytesMeanwhile(current)
  refuseChange(file, before, current)
  await publishArtifact(tx, { ...row, size: content.bytes, sha256: content.digest }, row.owner, now, file.path)
  const asset = await addRevision(
    tx,
    {
      repository: row.repository,
      path: file.path,
      artifactId: row.id,
      current,
      knownThere: true,
      sourceRevision: null,
      mediaType: file.mediaType,
      actor: row.owner,
    },
    now,
  )
  return {
    path: asset.path,
    revision: asset.revision,
    created: true,
    artifact: { id: row.id, size: String(content.bytes), sha256: content.digest },
  }
}

const unchanged = (path: string, current: ContentAt): RawResult => {
  if (current === undefined) throw otherRevision(path, 0)
  const { revision, artifact_id, size, sha256 } = current
  return { path, revision, created: false, artifact: { id: artifact_id, size: String(size), sha256 } }
}
