import { findingsMax } from '../../../kernel/limits/upkeep.ts'
import { blobInVault, manifestName } from './layout.ts'
import { byPart, keptIn } from './named-blobs.ts'
import { type OpenedExport, rowsOf } from './opened.ts'
import { ExportDamaged } from './pieces.ts'
import type { Progress } from './progress.ts'
import { refuseUnlessStoreTakes, type StoringDeps } from './restore-blobs.ts'

/** Files that an export names and that are not where they should be: the first of them, in words. */
export class BytesMissing extends Error {
  override readonly name = 'BytesMissing'
  readonly faults: readonly string[]
  constructor(faults: readonly string[], count: number, where: string, advice: string) {
    super(
      `${count} files that the export names are missing ${where}, or have another length. Nothing was imported. ${advice}`,
    )
    this.faults = faults
  }
}

/** Reads every file of rows and looks for every file of bytes, so that a damaged export changes nothing. */
export const checkExport = async (opened: OpenedExport, deps: StoringDeps, progress: Progress): Promise<void> => {
  await checkRows(opened, progress)
  await checkBlobs(opened, deps, progress)
}

const damagedManifest = ({ vault }: OpenedExport, why: string): ExportDamaged =>
  new ExportDamaged(vault, manifestName, why)

const checkRows = async (opened: OpenedExport, progress: Progress): Promise<void> => {
  for (const table of opened.tables) {
    let counted = 0
    for (const piece of table.pieces) {
      counted += (await rowsOf(opened, table, piece)).length
      progress.tell(() => `checked ${piece.file}`)
    }
    if (counted !== table.rows)
      throw damagedManifest(opened, `it counts ${table.rows} rows of ${table.name}, its files have ${counted}`)
  }
}

const checkBlobs = async (
  opened: OpenedExport,
  { store, freeSpace }: StoringDeps,
  progress: Progress,
): Promise<void> => {
  const { vault, manifest, withBytes } = opened
  const looksForRoom = withBytes && (await store.space()) !== null
  const faults: string[] = []
  let [blobs, bytes, faulty, wanted] = [0, 0, 0, 0]
  for await (const [part, together] of byPart(opened.blobs())) {
    const kept = withBytes ? await keptIn(vault, part) : null
    for (const blob of together) {
      blobs += 1
      bytes += blob.bytes
      const there = kept === null ? await store.size(blob.name) : (kept.get(blobInVault(blob.digest)) ?? null)
      if (there !== blob.bytes) {
        faulty += 1
        const what = there === null ? 'is missing' : `has ${there} bytes instead of ${blob.bytes}`
        if (faults.length < findingsMax) faults.push(`blob ${blob.digest} ${what}`)
      }
      if (looksForRoom && (await store.size(blob.name)) !== blob.bytes) wanted += blob.bytes
      progress.tell(() => `checked ${blobs} of ${manifest.blobs.count} files`)
    }
  }
  if (faulty > 0 && withBytes)
    throw new BytesMissing(
      faults,
      faulty,
      `in ${vault.where}`,
      `Copy them again, or run svc export --refresh ${vault.where} where its database is.`,
    )
  if (faulty > 0) throw new BytesMissing(faults, faulty, 'in the store', 'Set SVC_BLOB_STORE to the one that has them.')
  if (blobs !== manifest.blobs.count || bytes !== manifest.blobs.bytes)
    throw damagedManifest(opened, 'it counts other files than its tables name')
  await refuseUnlessStoreTakes(freeSpace, wanted)
}
