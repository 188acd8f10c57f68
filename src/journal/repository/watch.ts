import type { Database } from '../../database/database.ts'
import { journalHeads } from './journal.queries.ts'
import { type JournalSeat, type JournalSeatBounds, JournalSeats } from './watch-seats.ts'

/**
 * Those who wait for journals to grow, in one process. What this process appends wakes them at once. For what others
 * append, one query at an interval asks for the heads of the journals that somebody waits for, and for nothing while
 * nobody waits. Nobody who waits holds a connection to the database.
 */
export interface JournalWatch {
  /**
   * Registers someone who is about to look: whatever is appended from now on wakes them, so who looks after registering
   * and before waiting misses nothing. 503 `busy` when too many wait.
   */
  register(repository: string, caller: string): Waiter
  /** How many wait. */
  readonly waiting: number
  /** Ends all waits at once, and every later one as soon as it begins. */
  end(): void
}

export interface Waiter {
  /**
   * Resolves when the journal has probably grown beyond the sequence (true), or when it is no use waiting any longer:
   * the time is up, the waiter left, or all waits ended (false). Throws when the database does not answer.
   */
  changed(beyond: number, forMs: number): Promise<boolean>
  /** Gives the seat back, and ends the wait that is under way or begins later. */
  leave(): void
}

export interface JournalWatchOptions extends JournalSeatBounds {
  readonly database: Database
  readonly everyMs: number
}

export const watchJournal = ({ database, everyMs, ...bounds }: JournalWatchOptions): JournalWatch => {
  const seats = new JournalSeats(bounds)
  let ended = false
  let looking = false
  let timer: NodeJS.Timeout | null = null

  const look = async (): Promise<void> => {
    timer = null
    const waiting = seats.waiting()
    if (waiting.length === 0) return
    looking = true
    try {
      const heads = await journalHeads(database.reader, [...new Set(waiting.map(({ repository }) => repository))])
      for (const { repository, wait } of waiting)
        if (wait !== null && (heads.get(repository) ?? 0) > wait.beyond) wait.end(true)
    } catch (error) {
      for (const { wait } of waiting) wait?.end(error instanceof Error ? error : new Error(String(error)))
    }
    looking = false
    lookLater()
  }

  /** The clock runs only while somebody waits. */
  const lookLater = (): void => {
    if (ended || looking || timer !== null || seats.count === 0) return
    timer = setTimeout(() => void look(), everyMs)
  }

  const deaf = database.listen((topic) => seats.tell(topic))

  const wait = (seat: JournalSeat, beyond: number, forMs: number): Promise<boolean> => {
    if (ended || seat.over) return Promise.resolve(false)
    if (seat.heard) {
      seat.heard = false
      return Promise.resolve(true)
    }
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    const timeUp = setTimeout(() => seat.wait?.end(false), forMs)
    seat.wait = {
      beyond,
      end(outcome) {
        clearTimeout(timeUp)
        seat.wait = null
        seat.heard = false
        if (outcome instanceof Error) reject(outcome)
        else resolve(outcome)
      },
    }
    lookLater()
    return promise
  }

  return {
    register(repository, caller) {
      const seat = seats.take(repository, caller)
      return {
        changed: (beyond, forMs) => wait(seat, beyond, forMs),
        leave: () => seats.giveBack(seat),
      }
    },
    get waiting() {
      return seats.count
    },
    end() {
      ended = true
      deaf()
      if (timer !== null) clearTimeout(timer)
      for (const seat of seats.waiting()) seat.wait?.end(false)
    },
  }
}
