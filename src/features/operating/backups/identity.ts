import Type from 'typebox'
import { Value } from 'typebox/value'
import { fields, Uuid } from '../../../contract/schemas.ts'
import { newId } from '../../../kernel/ids.ts'
import { KiB } from '../../../kernel/units.ts'
import type { BackupVault } from '../../../ports/backup-vault.ts'
import { VaultFailure } from '../../../ports/vault.ts'
import { BackupDamaged } from './data-files.ts'
import { vaultName } from './layout.ts'
import { pointsIn } from './lying.ts'
import { type Manifest, readManifest } from './manifest.ts'

/** What names a vault, from its first moment on: two of the same name hold the same points. */
const Identity = fields({ format: Type.Literal('svc-vault'), formatVersion: Type.Literal(1), id: Uuid })

const identityBytesMax = 4 * KiB

/** What a vault is called; null for one that was never begun. Where that was lost its points say so. */
export const vaultIdentity = async (vault: BackupVault): Promise<string | null> => {
  const bytes = await vault.read(vaultName, identityBytesMax)
  return bytes === null ? await identityByPoints(vault) : identityIn(vault, bytes)
}

const identityByPoints = async (vault: BackupVault): Promise<string | null> => {
  let newest: Manifest | null = null
  for await (const { id } of pointsIn({ vault })) {
    const manifest = await readManifest(vault, id).catch(nullIfDamaged)
    if (manifest !== null && (newest === null || manifest.snapshotAt > newest.snapshotAt)) newest = manifest
  }
  return newest?.vault ?? null
}

const nullIfDamaged = (error: unknown): null => {
  if (error instanceof BackupDamaged) return null
  throw error
}

const identityIn = (vault: BackupVault, bytes: Uint8Array): string => {
  let found: unknown = null
  try {
    found = JSON.parse(Buffer.from(bytes).toString())
  } catch {
    // Said below.
  }
  if (Value.Check(Identity, found)) return found.id
  throw new VaultFailure('damaged', vault.where, `${vaultName} is not what svc writes there; name another place`)
}

/** The same, and begins it where it was not. What it is called is written down again where that was lost. */
export const beginVault = async (vault: BackupVault, nowMs: number): Promise<string> => {
  const bytes = await vault.read(vaultName, identityBytesMax)
  if (bytes !== null) return identityIn(vault, bytes)
  const id = (await identityByPoints(vault)) ?? newId(nowMs)
  const text = JSON.stringify({ format: 'svc-vault', formatVersion: 1, id })
  await vault.create(vaultName, Buffer.from(`${text}\n`))
  // Another may have been faster.
  const begun = await vaultIdentity(vault)
  if (begun === null) throw new VaultFailure('damaged', vault.where, 'what was written there is not there')
  return begun
}
