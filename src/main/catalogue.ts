import type { Operation } from '../contract/operation.ts'
import { type ProductSlice, resources } from './slices.ts'

/**
 * Every declared operation of the service, and of slices beside it; those of one resource in the order of their ids.
 */
export const catalogue = (more: readonly ProductSlice[] = []): Operation[] =>
  [...resources, more].flatMap((slices) =>
    slices
      .flatMap(({ operations }): readonly Operation[] => operations)
      .sort((one, other) => (one.id < other.id ? -1 : 1)),
  )
