import { shareAll } from '../../../content/claims/claims.ts'
import type { Transaction } from '../../../database/database.ts'
import { toSha256 } from '../../../kernel/digest.ts'
import { Failure } from '../../../kernel/failure.ts'
import { newId } from '../../../kernel/ids.ts'
import { manifestsAtOnce, promotedBlobsMax, promotedReferencesMax } from '../../../kernel/limits/oci.ts'
import { inPieces } from '../../../kernel/pieces.ts'
import { attachBlobs } from '../blobs.queries.ts'
import { keptBy, settleKept } from '../keeping.queries.ts'
import { countNew, insertImage, keepAnew, manifestsAmong } from '../manifests.queries.ts'
import type { ImageName } from '../tags.ts'
import {
  blobsLackingIn,
  copyManifestRows,
  countReferences,
  insertBlobs,
  type Lacking,
  shareSha512,
  useBlobsOf,
} from './copying.queries.ts'
import type { Known } from './gathering.queries.ts'

/** A manifest and its copy, which came to be now or was there. */
export interface Copied {
  readonly source: Known
  readonly id: string
  readonly created: boolean
}

interface Copying {
  /** The repository of the manifests. */
  readonly from: string
  readonly to: ImageName
  readonly actor: string
  readonly now: string
  readonly nowMs: number
  readonly capacityBytes: number
  /** Called when the bytes are claimed. */
  readonly shared: () => void
}

/** Rows that go into one statement. */
const rowsAtOnce = 500

/**
 * Copies manifests of one repository to an image of another one, with all that they name: claims on the same bytes,
 * each once in the target (I1), rows, and what keeps what. What is there already stays as it is. 507 `storage_quota`,
 * 409 `promotion_limit`. The caller holds the locks of both repositories.
 */
export const copyManifests = async (
  tx: Transaction,
  manifests: readonly Known[],
  copying: Copying,
): Promise<readonly Copied[]> => {
  const { from, to, now, nowMs } = copying
  const there = await copiesAmong(tx, to, manifests)
  const copies = manifests.map((source): Copied => {
    const copy = there.get(source.digest)
    return copy === undefined ? { source, id: newId(nowMs), created: true } : { source, id: copy.id, created: false }
  })
  const created = copies.filter((copy) => copy.created)
  await refuseTooManyReferences(tx, idsOf(created.map(({ source }) => source)))
  await shareBlobs(tx, idsOf(manifests), copying)
  copying.shared()
  for (const some of inPieces(idsOf(manifests), manifestsAtOnce)) {
    const learnt = await shareSha512(tx, from, to.repository, some)
    if (learnt.length > 0) await attachBlobs(tx, learnt)
  }
  const called = copies.filter(
    ({ source }) => source.digest512 !== null && there.get(source.digest)?.digest512 === null,
  )
  for (const { source, id, created: isNew } of copies)
    if (!isNew) {
      const digest512 = there.get(source.digest)?.digest512 ?? source.digest512
      await keepAnew(tx, id, { digest512, now })
    }
  if (created.length > 0) {
    await insertImage(tx, to, now)
    for (const some of inPieces(created, manifestsAtOnce)) await copyManifestRows(tx, some, copying)
    await countNew(tx, to, created.length, now)
    for (const some of inPieces(idsOf(created), manifestsAtOnce)) await useBlobsOf(tx, some)
  }
  await settle(tx, to, [...created, ...called], now)
  return copies
}

const idsOf = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id)

/** Those of some manifests that an image has, by digest. */
const copiesAmong = async (tx: Transaction, to: ImageName, manifests: readonly Known[]) => {
  const there = new Map<string, Known>()
  for (const some of inPieces(manifests, manifestsAtOnce)) {
    const digests = some.map(({ digest }) => digest)
    for (const copy of await manifestsAmong(tx, to, 'digest', digests)) there.set(copy.digest, copy)
  }
  return there
}

/** Each is a row to be copied, whether or not there is anything to claim for it. */
const refuseTooManyReferences = async (tx: Transaction, manifestIds: readonly string[]): Promise<void> => {
  let count = 0
  for (const some of inPieces(manifestIds, manifestsAtOnce)) {
    count += await countReferences(tx, some, promotedReferencesMax - count + 1)
    if (count > promotedReferencesMax)
      throw new Failure(
        'promotion_limit',
        `What would go along with this image names more than ${promotedReferencesMax} layers and manifests: promote what it lists one by one.`,
      )
  }
}

/** Claims what the target lacks of the blobs of some manifests, also of those that it has without some layers. */
const shareBlobs = async (
  tx: Transaction,
  manifestIds: readonly string[],
  { to: { repository }, now, nowMs, capacityBytes }: Copying,
): Promise<void> => {
  const lacking = new Map<string, Lacking & { readonly id: string }>()
  for (const some of inPieces(manifestIds, manifestsAtOnce))
    for (const blob of await blobsLackingIn(tx, repository, some, promotedBlobsMax + 1)) {
      lacking.set(blob.sha256, { ...blob, id: newId(nowMs) })
      if (lacking.size > promotedBlobsMax)
        throw new Failure(
          'promotion_limit',
          `More than ${promotedBlobsMax} layers would go along with this image: promote what it lists one by one.`,
        )
    }
  const blobs = [...lacking.values()]
  const wanted = blobs.map(({ id, sha256, size }) => ({ id, digest: toSha256(sha256), bytes: size }))
  await shareAll(tx, { repository, holder: 'oci-blob' }, wanted, capacityBytes)
  for (const some of inPieces(blobs, rowsAtOnce)) {
    await insertBlobs(tx, repository, some, now)
    await attachBlobs(tx, idsOf(some))
  }
}

/** What the copies keep, and what keeps them. */
const settle = async (tx: Transaction, to: ImageName, copies: readonly Copied[], now: string): Promise<void> => {
  const kept = await keptBy(
    tx,
    to,
    copies.map(({ source, id }) => ({ ...source, id })),
  )
  await settleKept(tx, [...new Set([...idsOf(copies), ...kept])], now)
}
