import { gathered } from '../../../content/checks/copies.ts'
import type { Vault } from '../../../ports/vault.ts'
import { claimToRestore } from './claiming.ts'
import { blobInVault } from './layout.ts'
import type { NamedBlob } from './named-blobs.ts'
import { type OpenedExport, openExport, rowsOf } from './opened.ts'
import { ExportDamaged } from './pieces.ts'
import type { Progress } from './progress.ts'
import type { Restorable } from './restorable.ts'
import { type RestoreDeps, type Restored, restore } from './restore.ts'
import { checkExport } from './restore-checks.ts'

/** Puts an export into an empty database, and its bytes into the store. */
export const restoreExport = async (
  { vault, ...deps }: RestoreDeps & { readonly vault: Vault },
  progress: Progress,
): Promise<Restored> => {
  const claim = await claimToRestore(vault)
  try {
    return await restore(restorable(await openExport(vault, deps.database)), deps, progress)
  } finally {
    await claim[Symbol.asyncDispose]()
  }
}

const restorable = (opened: OpenedExport): Restorable => {
  const { manifest, withBytes, tables, vault } = opened
  const bytesOf = ({ digest }: NamedBlob): AsyncIterable<Uint8Array> => vault.open(blobInVault(digest))
  return {
    digest: manifest.digest,
    kind: 'export',
    withBytes,
    counted: manifest.blobs,
    tables,
    blobs: () => opened.blobs(),
    rowsOf: ({ name }, index) => {
      const table = tables.find((each) => each.name === name)
      const piece = table?.pieces[index]
      if (table === undefined || piece === undefined) throw new RangeError(`no piece ${index} of ${name}`)
      return rowsOf(opened, table, piece)
    },
    bytesOf,
    wholeOf: async (blob, work) => work(await gathered(blob, bytesOf(blob))),
    damaged: ({ digest }, why) => new ExportDamaged(vault, blobInVault(digest), why),
    check: (deps, progress) => checkExport(opened, deps, progress),
  }
}
