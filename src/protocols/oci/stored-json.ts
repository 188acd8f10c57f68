import { lookInto } from '../../content/checks/stored-bytes.ts'
import { type OpeningDeps, openStored } from '../../content/claims/stored-names.ts'
import { toSha256 } from '../../kernel/digest.ts'
import { isBeyond } from '../../kernel/json-pieces.ts'
import { openedBytesMax, openedPiecesMax } from '../../kernel/limits/oci.ts'

export type Fields = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The fields of a JSON object; none of anything else. */
export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})

/**
 * A stored JSON object that is looked into; null where the bytes are none, or too many to look into, or made of too
 * much. Throws as `openStored` does.
 */
export const storedFields = async (
  deps: OpeningDeps,
  { sha256, size }: { readonly sha256: string; readonly size: number },
): Promise<Fields | null> => {
  if (size > openedBytesMax) return null
  const file = { digest: toSha256(sha256), bytes: size }
  const bytes = await lookInto(size, (range) => openStored(deps, file, range)).read(0, size)
  const text = bytes.toString()
  if (isBeyond(text, openedPiecesMax)) return null
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
