import { type Wire, wireAt } from '../../src/contract/wire.ts'
import { rest } from '../../src/http/pipeline/rest.ts'
import { slices } from '../../src/main/slices.ts'

interface Placed {
  readonly path: string
}

/** The wire of an operation, by its template. */
export const wireOf = ({ path }: Placed): Wire =>
  wireAt(
    slices.flatMap(({ wire }) => wire ?? []),
    path,
    rest,
  )

/**
 * Whether others decided how an operation speaks: its clients pass over parameters that they do not know, sign in by
 * Basic, and hear of failures in its own words.
 */
export const isOfOthers = (operation: Placed): boolean => wireOf(operation) !== rest

/** The challenge of a 401, for a credential that was refused for this reason. */
export const challengeAt = (operation: Placed, reason: string): RegExp =>
  challenges[wireOf(operation).name] ?? new RegExp(`^Bearer .*error="${reason}"`)

const challenges: Readonly<Record<string, RegExp>> = {
  oci: /^Bearer realm="/,
  npm: /^Bearer realm="/,
  lfs: /^Basic realm="/,
}
