/**
 * The places in publishing at which a crash leaves something different behind. Tests stop the process at each of them.
 *
 * - `publish.reserved`: the reservation is committed, no byte was taken
 * - `publish.staged`: all bytes are in the staging place and verified, nothing is durable
 * - `publish.announced`: the digest is in the claim; the bytes have no final name yet
 * - `publish.placed`: the bytes are durable under their digest, no row refers to them
 * - `publish.committed`: everything is durable, the client has no answer yet
 */
export const faultPoints = [
  'publish.reserved',
  'publish.staged',
  'publish.announced',
  'publish.placed',
  'publish.committed',
] as const

type FaultPoint = (typeof faultPoints)[number]

/** Called at each point. Does nothing outside of tests. */
export type ReachFaultPoint = (point: FaultPoint) => void

export const noFaults: ReachFaultPoint = () => {}
