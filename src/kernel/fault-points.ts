/**
 * The places in publishing at which a crash leaves something different behind. Tests stop the process at each of them.
 *
 * - `reclaim.marked`: blobs that nobody claims are marked, their bytes are there
 * - `reclaim.removed`: their bytes are gone, their rows are there
 * - `part.verified`: a part's bytes are written in place and right, not yet durable
 * - `part.placed`: they are durable, no row counts them
 * - `part.recorded`: the part is stored, the client has no answer yet
 * - `publish.reserved`: the reservation is committed, no byte was taken
 * - `publish.staged`: all bytes are in the staging place and verified, the whole is not durable
 * - `publish.announced`: the digest is in the claim; the bytes have no final name yet
 * - `publish.placed`: the bytes are durable under their digest, no row refers to them
 * - `publish.committed`: everything is durable, the client has no answer yet
 */
export const faultPoints = [
  'reclaim.marked',
  'reclaim.removed',
  'part.verified',
  'part.placed',
  'part.recorded',
  'publish.reserved',
  'publish.staged',
  'publish.announced',
  'publish.placed',
  'publish.committed',
] as const

export type FaultPoint = (typeof faultPoints)[number]

/** Called at each point. Does nothing outside of tests. */
export type ReachFaultPoint = (point: FaultPoint) => void

export const noFaults: ReachFaultPoint = () => {}
