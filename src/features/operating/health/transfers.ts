/** Files on their way, in one process or in several. */
export interface TransfersNow {
  readonly processes: number
  readonly in: Moved
  readonly out: Moved
  readonly slots: number
  readonly held: number
  readonly waiting: number
  readonly sessions: number
}

interface Moved {
  readonly active: number
  readonly bytes: number
}

const none: Moved = { active: 0, bytes: 0 }
export const nothing: TransfersNow = { processes: 0, in: none, out: none, slots: 0, held: 0, waiting: 0, sessions: 0 }

const both = (one: Moved, other: Moved): Moved => ({
  active: one.active + other.active,
  bytes: one.bytes + other.bytes,
})

/** Those of two processes, or of more. */
export const together = (one: TransfersNow, other: TransfersNow): TransfersNow => ({
  processes: one.processes + other.processes,
  in: both(one.in, other.in),
  out: both(one.out, other.out),
  slots: one.slots + other.slots,
  held: one.held + other.held,
  waiting: one.waiting + other.waiting,
  sessions: one.sessions + other.sessions,
})

/** As readiness tells of them. */
export const transfersView = (now: TransfersNow) => ({
  uploads: { admission: { active: now.in.active }, bandwidth: { bytes: String(now.in.bytes) } },
  downloads: {
    admission: { active: now.out.active, slots: now.slots, held: now.held, waiting: now.waiting },
    bandwidth: { bytes: String(now.out.bytes) },
    sessions: { open: now.sessions },
  },
})
