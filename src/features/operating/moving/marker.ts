import Type from 'typebox'
import { Value } from 'typebox/value'
import { fields, Uuid } from '../../../contract/schemas.ts'
import { invalid } from '../../../kernel/failure.ts'
import { exportManifestBytesMax } from '../../../kernel/limits/engines.ts'
import type { Vault } from '../../../ports/vault.ts'
import { markerName } from './layout.ts'

/** What names a vault as that of an export, from its first moment on. */
const Marker = fields({
  format: Type.Literal('svc-export'),
  /** The database that the export is of. */
  source: Uuid,
})

export const markerOf = (source: string): Uint8Array =>
  Buffer.from(`${JSON.stringify({ format: 'svc-export', source })}\n`)

/** Which database has begun an export there, or null where none has. 400 where something else is in its place. */
export const sourceIn = async (vault: Vault): Promise<string | null> => {
  const bytes = await vault.read(markerName, exportManifestBytesMax)
  if (bytes === null) return null
  let parsed: unknown = null
  try {
    parsed = JSON.parse(Buffer.from(bytes).toString())
  } catch {
    // Said below.
  }
  if (Value.Check(Marker, parsed)) return parsed.source
  throw invalid(vault.whereIs(markerName), 'is not what svc export writes')
}
