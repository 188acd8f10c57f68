import { partBytesMin, partsMax } from '../../kernel/limits/transfers.ts'

/** How a blob is cut into parts: all of `partBytes`, only the last one shorter. */
export interface Plan {
  readonly bytes: number
  readonly partBytes: number
}

/** Parts of 8 MiB, doubled as often as it takes to need no more than 10,000 of them (specification, Upload part). */
export const planParts = (bytes: number): Plan => {
  let partBytes = partBytesMin
  while (partBytes * partsMax < bytes) partBytes *= 2
  return { bytes, partBytes }
}

/** Nothing has no parts. */
export const partCount = ({ bytes, partBytes }: Plan): number => Math.ceil(bytes / partBytes)

/** Bytes of one part; the index is one of the plan's. */
export const partLength = (plan: Plan, index: number): number =>
  index === partCount(plan) - 1 ? plan.bytes - index * plan.partBytes : plan.partBytes
