import type { Operation } from '../contract/operation.ts'
import { resources } from './slices.ts'

/** Every declared operation of the service; those of one resource in the order of their ids. */
export const catalogue = (): Operation[] =>
  resources.flatMap((slices) =>
    slices
      .flatMap(({ operations }): readonly Operation[] => operations)
      .sort((one, other) => (one.id < other.id ? -1 : 1)),
  )
