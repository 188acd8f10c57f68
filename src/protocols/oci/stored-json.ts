import { lookInto } from '../../content/checks/stored-bytes.ts'
import { type OpeningDeps, openStored } from '../../content/claims/stored-names.ts'
import { toSha256 } from '../../kernel/digest.ts'
import { openedBytesMax } from '../../kernel/limits/oci.ts'

export type Fields = Readonly<Record<string, unknown>>

/** The fields of a JSON object; none of anything else. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}

/**
 * A stored JSON object that is looked into; null where the bytes are none, or too many to look into. Throws as
 * `openStored` does.
 */
export const storedFields = async (
  deps: OpeningDeps,
  { sha256, size }: { readonly sha256: string; readonly size: number },
): Promise<Fields | null> => {
  if (size > openedBytesMax) return null
  const file = { digest: toSha256(sha256), bytes: size }
  const bytes = await lookInto(size, (range) => openStored(deps, file, range)).read(0, size)
  try {
    const value: unknown = JSON.parse(bytes.toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}
