import { createHash } from 'node:crypto'
import { readWhole } from '../../../content/checks/copies.ts'
import { atOnce } from '../../../kernel/at-once.ts'
import { Failure } from '../../../kernel/failure.ts'
import type { ReachFaultPoint } from '../../../kernel/fault-points.ts'
import { exportBlobsAtOnce } from '../../../kernel/limits/engines.ts'
import { findingsMax } from '../../../kernel/limits/upkeep.ts'
import type { BlobStore } from '../../../ports/blob-store.ts'
import { type Vault, VaultFailure } from '../../../ports/vault.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { blobInVault, blobPartOf, blobParts, isBlob } from './layout.ts'
import { byPart, keptIn, type NamedBlob } from './named-blobs.ts'
import type { Progress } from './progress.ts'

export interface CopyDeps {
  readonly vault: Vault
  readonly store: Pick<BlobStore, 'size' | 'open'>
  readonly reach: ReachFaultPoint
}

/** Bytes that rows call stored and that are not there, or not what they are called: the first of them, in words. */
export class SourceDamaged extends Error {
  override readonly name = 'SourceDamaged'
  readonly faults: readonly string[]
  constructor(faults: readonly string[], count: number) {
    super(
      `${count} stored files are missing or damaged, so the export is not finished. svc doctor and svc scrub tell more; --without-bytes exports the catalog alone.`,
    )
    this.faults = faults
  }
}

interface Plan {
  readonly blobs: number
  readonly bytes: number
  /** Blobs that the vault holds already. */
  readonly kept: number
}

/** Counts what is to be copied, and refuses before it begins when the vault has no room for it. */
export const planCopies = async (vault: Vault, named: AsyncIterable<NamedBlob>, copying: boolean): Promise<Plan> => {
  const plan = { blobs: 0, bytes: 0, kept: 0 }
  let missingBytes = 0
  for await (const [part, blobs] of byPart(named)) {
    const held = copying ? await keptIn(vault, part) : null
    for (const { digest, bytes } of blobs) {
      plan.blobs += 1
      plan.bytes += bytes
      if (held === null) continue
      if (held.get(blobInVault(digest)) === bytes) plan.kept += 1
      else missingBytes += bytes
    }
  }
  const freeBytes = copying ? await vault.freeBytes() : null
  if (freeBytes !== null && missingBytes > freeBytes)
    throw new Failure(
      'insufficient_space',
      `${vault.where}: ${missingBytes} bytes are to be copied there, and only ${freeBytes} are free. Make room and go on with the same command.`,
    )
  return plan
}

export interface Copied {
  /** Blobs that were in the vault already and whose bytes were read again. */
  readonly readAgain: number
  /** How many of these were not what they are called, and are new. */
  readonly replaced: number
}

/**
 * Afterwards the vault holds what is named, and no other blobs. What is there with its length is kept as it is, unless
 * its part is to be read again: then what is not what it is called is copied anew. Throws {@link SourceDamaged}, once
 * everything was tried.
 */
export const copyBlobs = async (
  deps: CopyDeps,
  plan: Plan,
  named: AsyncIterable<NamedBlob>,
  readsAgain: (part: string) => boolean,
  checkHold: () => void,
  progress: Progress,
): Promise<Copied> => {
  const { vault, reach } = deps
  const faults: string[] = []
  let [faulty, done, doneBytes, readAgain, replaced] = [0, 0, 0, 0, 0]
  const copy = async (blob: NamedBlob, held: number | undefined): Promise<void> => {
    checkHold()
    const again = held === blob.bytes && readsAgain(blobPartOf(blob.digest))
    if (again) readAgain += 1
    const damaged = again && !(await isWhole(vault, blob))
    if (held !== blob.bytes || damaged) {
      const fault = await copyOut(deps, blob)
      if (damaged && fault === null) replaced += 1
      if (fault !== null) {
        faulty += 1
        if (faults.length < findingsMax) faults.push(`blob ${blob.digest}: ${fault}`)
      }
      reach('export.blob')
    }
    done += 1
    doneBytes += blob.bytes
    progress.tell(() => `${done} of ${plan.blobs} files, ${doneBytes} of ${plan.bytes} bytes`)
  }
  const unnamed = new Set(blobParts)
  for await (const [part, blobs] of byPart(named)) {
    unnamed.delete(part)
    const held = await keepOnly(vault, part, new Set(blobs.map(({ digest }) => blobInVault(digest))))
    await atOnce(blobs, exportBlobsAtOnce, (blob) => copy(blob, held.get(blobInVault(blob.digest))))
  }
  for (const part of unnamed) await keepOnly(vault, part, new Set())
  if (faulty > 0) throw new SourceDamaged(faults, faulty)
  return { readAgain, replaced }
}

/** Afterwards the vault holds no blobs. */
export const dropBlobs = async (vault: Vault): Promise<void> => {
  for (const part of blobParts) await keepOnly(vault, part, new Set())
}

/** Removes the blobs that lie in a part and are not to be there; what lay there, by name. Files of others stay. */
const keepOnly = async (
  vault: Vault,
  part: string,
  wanted: ReadonlySet<VaultName>,
): Promise<ReadonlyMap<VaultName, number>> => {
  const held = await keptIn(vault, part)
  const unwanted = [...held.keys()].filter((name) => isBlob(name) && !wanted.has(name))
  if (unwanted.length > 0) await vault.remove(unwanted)
  return held
}

/** Whether the vault gives back the bytes that a blob is named by. What it cannot read it does not have. */
const isWhole = async (vault: Vault, { digest }: NamedBlob): Promise<boolean> => {
  const hash = createHash('sha256')
  try {
    for await (const piece of vault.open(blobInVault(digest))) hash.update(piece)
  } catch (error) {
    if (error instanceof VaultFailure) return false
    throw error
  }
  return hash.digest('hex') === digest
}

/** Thrown to keep bytes from getting their name. */
class NotWhole extends Error {}

/** Copies one blob; what is wrong with it, or null. */
const copyOut = async ({ vault, store }: CopyDeps, blob: NamedBlob): Promise<string | null> => {
  let fault: string | null = null
  try {
    await vault.write(blobInVault(blob.digest), async (take) => {
      fault = await readWhole(store, blob, take)
      if (fault !== null) throw new NotWhole(fault)
    })
  } catch (error) {
    if (!(error instanceof NotWhole)) throw error
  }
  return fault
}
