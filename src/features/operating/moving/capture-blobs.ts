import { readWhole } from '../../../content/checks/copies.ts'
import { atOnce } from '../../../kernel/at-once.ts'
import { Failure } from '../../../kernel/failure.ts'
import type { ReachFaultPoint } from '../../../kernel/fault-points.ts'
import { exportBlobsAtOnce } from '../../../kernel/limits/engines.ts'
import { findingsMax } from '../../../kernel/limits/upkeep.ts'
import type { BlobStore } from '../../../ports/blob-store.ts'
import type { Vault } from '../../../ports/vault.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { blobInVault, blobParts } from './layout.ts'
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

/** Afterwards the vault holds what is named, and no other blobs. Throws {@link SourceDamaged}, once everything was tried. */
export const copyBlobs = async (
  deps: CopyDeps,
  plan: Plan,
  named: AsyncIterable<NamedBlob>,
  checkHold: () => void,
  progress: Progress,
): Promise<void> => {
  const { vault, reach } = deps
  const faults: string[] = []
  let [faulty, done, doneBytes] = [0, 0, 0]
  const copy = async (blob: NamedBlob, held: number | undefined): Promise<void> => {
    checkHold()
    if (held !== blob.bytes) {
      const fault = await copyOut(deps, blob)
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
}

/** Afterwards the vault holds no blobs. */
export const dropBlobs = async (vault: Vault): Promise<void> => {
  for (const part of blobParts) await keepOnly(vault, part, new Set())
}

/** Removes what lies in a part of the blobs and is not to be there; what lay there, by name. */
const keepOnly = async (
  vault: Vault,
  part: string,
  wanted: ReadonlySet<VaultName>,
): Promise<ReadonlyMap<VaultName, number>> => {
  const held = await keptIn(vault, part)
  const unwanted = [...held.keys()].filter((name) => !wanted.has(name))
  if (unwanted.length > 0) await vault.remove(unwanted)
  return held
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
