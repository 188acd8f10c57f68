import { npmNameMaxCharacters } from '../../../kernel/limits/npm.ts'
import { matchesPattern } from '../../../kernel/wildcard-pattern.ts'
import { isPackageName } from '../vocabulary.ts'

/**
 * Whether upstreams may have something of this name: also those with capitals, which nobody can publish any more.
 */
export const isAskableName = (name: string): boolean =>
  name.length <= npmNameMaxCharacters && isPackageName(name.toLowerCase())

/** Whether a name is one that the repository has for itself, however it is written. */
export const isReserved = (reserved: readonly string[], name: string): boolean =>
  reserved.some((pattern) => matchesPattern(pattern, name.toLowerCase()))
