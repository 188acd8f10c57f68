import { connect, type Socket } from 'node:net'
import { cycled, type Orders } from './orders.ts'

/** What one connection does. */
export interface Manner {
  /** Said once it is connected. */
  readonly says: string | null
  /** Done again about every second. */
  readonly again?: (socket: Socket) => void
  /**
   * How much is taken of what comes: all of it, nothing, or so many bytes each time that {@link again} says `resume`.
   */
  readonly takes: 'all' | 'nothing' | number
}

export interface HeldConnections {
  /** Resolves when each was connected once. */
  readonly standing: Promise<void>
  /** How many were connected in all: more than there are, where some were closed and came again. */
  readonly connected: () => number
  readonly failures: () => string
  close(): void
}

/** How many are opened at a time, and pauses between: the server's backlog has 511 places. */
const openedAtOnce = 250
const openingPauseMs = 50
/** One that was closed comes again after this long. */
const reopenedAfterMs = 1_000
/** A second is divided into so many turns, so that not all do something in one moment. */
const rounds = 20

/** Holds connections open, each with the manner of its number; whichever is closed comes again a second later. */
export const holdConnections = (
  { port, from, count }: Pick<Orders, 'port' | 'from' | 'count'>,
  mannerOf: (index: number) => Manner,
): HeldConnections => {
  const open = new Map<number, Socket>()
  const wereThere = new Set<number>()
  const failures = new Map<string, number>()
  const { promise: standing, resolve } = Promise.withResolvers<void>()
  const wanted = Array.from({ length: count }, (_, index) => index)
  const reopening = new Set<NodeJS.Timeout>()
  let connected = 0

  const openOne = (index: number): void => {
    const { says, takes } = mannerOf(index)
    const onread = typeof takes === 'number' ? { buffer: Buffer.alloc(takes), callback: () => false } : undefined
    const socket = connect({
      ...{ host: '127.0.0.1', port, localAddress: cycled(from, index) },
      ...(onread === undefined ? {} : { onread }),
    })
    open.set(index, socket)
    if (takes === 'all') socket.resume()
    socket.on('connect', () => {
      connected += 1
      if (says !== null) socket.write(says)
      wereThere.add(index)
      if (wereThere.size === count) resolve()
    })
    socket.on('error', (error) => {
      const code = 'code' in error ? String(error.code) : error.message
      failures.set(code, (failures.get(code) ?? 0) + 1)
    })
    socket.on('close', () => {
      open.delete(index)
      const timer = setTimeout(() => {
        reopening.delete(timer)
        wanted.push(index)
      }, reopenedAfterMs)
      reopening.add(timer)
    })
  }
  const opening = setInterval(() => {
    for (const index of wanted.splice(0, openedAtOnce)) openOne(index)
  }, openingPauseMs)
  let round = 0
  const ticking = setInterval(() => {
    round = (round + 1) % rounds
    for (let index = round; index < count; index += rounds) {
      const socket = open.get(index)
      if (socket?.readyState === 'open') mannerOf(index).again?.(socket)
    }
  }, 1_000 / rounds)

  return {
    standing,
    connected: () => connected,
    failures: () => [...failures].map(([code, times]) => `, ${times} ${code}`).join(''),
    close() {
      clearInterval(opening)
      clearInterval(ticking)
      for (const socket of open.values()) socket.removeAllListeners('close').destroy()
      for (const timer of reopening) clearTimeout(timer)
    },
  }
}
