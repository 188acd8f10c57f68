import { day, minute, second } from '../units.ts'

/** Bounds of work in the background. */

/** Jobs. */
export const openJobsPerCallerMax = 100 // spec
export const openJobsMax = 10_000 // spec
export const jobAttemptsMax = 5 // spec
/** Pauses between attempts triple from the first: some three minutes in all, enough for a restart of what failed. */
export const jobFirstPauseMs = 5 * second
/** How long a worker may be silent before another takes its job over. Renewed at a third of it. */
export const jobLeaseMs = 30 * second
/** Workers look for jobs this often; whoever makes one in the same process wakes them. */
export const jobsEveryMs = second
/** Jobs of one kind that a process runs at once: they read disks and hash. */
export const jobsAtOnce = 2
/** How long the record of an ended job can be read. */
export const endedJobsKeptMs = 7 * day

/** How far clocks may be apart before a lease that ends later than it could is called stuck. */
export const leaseToleranceMs = 5 * minute
