import type { Database } from '../../database/database.ts'
import { Failure } from '../../kernel/failure.ts'
import { journalHeads } from './journal.queries.ts'
import { topicOf } from './journal.ts'

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

export interface JournalWatchOptions {
  readonly database: Database
  readonly everyMs: number
  readonly waitingMax: number
  readonly waitingPerCallerMax: number
}

interface Wait {
  readonly beyond: number
  end(changed: boolean | Error): void
}

interface Seat {
  readonly repository: string
  readonly caller: string
  /** Something was appended since the last look. */
  heard: boolean
  over: boolean
  wait: Wait | null
}

export const watchJournal = ({
  database,
  everyMs,
  waitingMax,
  waitingPerCallerMax,
}: JournalWatchOptions): JournalWatch => {
  const seats = new Set<Seat>()
  const byTopic = new Map<string, Set<Seat>>()
  const byCaller = new Map<string, number>()
  let ended = false
  let looking = false
  let timer: NodeJS.Timeout | null = null

  const look = async (): Promise<void> => {
    timer = null
    const waiting = [...seats].filter(({ wait }) => wait !== null)
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
    if (ended || looking || timer !== null || seats.size === 0) return
    timer = setTimeout(() => void look(), everyMs)
  }

  const deaf = database.listen((topic) => {
    for (const seat of byTopic.get(topic) ?? []) {
      seat.heard = true
      seat.wait?.end(true)
    }
  })

  const take = (repository: string, caller: string): Seat => {
    const own = byCaller.get(caller) ?? 0
    if (seats.size >= waitingMax) throw tooMany(`${waitingMax} requests wait for changes`)
    if (own >= waitingPerCallerMax) throw tooMany(`${waitingPerCallerMax} requests of yours wait for changes`)
    const seat: Seat = { repository, caller, heard: false, over: false, wait: null }
    const topic = topicOf(repository)
    seats.add(seat)
    byCaller.set(caller, own + 1)
    byTopic.set(topic, (byTopic.get(topic) ?? new Set()).add(seat))
    return seat
  }

  const giveBack = (seat: Seat): void => {
    if (!seats.delete(seat)) return
    seat.over = true
    const topic = topicOf(seat.repository)
    const neighbours = byTopic.get(topic)
    neighbours?.delete(seat)
    if (neighbours?.size === 0) byTopic.delete(topic)
    const left = (byCaller.get(seat.caller) ?? 1) - 1
    if (left === 0) byCaller.delete(seat.caller)
    else byCaller.set(seat.caller, left)
    seat.wait?.end(false)
  }

  const wait = (seat: Seat, beyond: number, forMs: number): Promise<boolean> => {
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
      const seat = take(repository, caller)
      return {
        changed: (beyond, forMs) => wait(seat, beyond, forMs),
        leave: () => giveBack(seat),
      }
    },
    get waiting() {
      return seats.size
    },
    end() {
      ended = true
      deaf()
      if (timer !== null) clearTimeout(timer)
      for (const seat of seats) seat.wait?.end(false)
    },
  }
}

const tooMany = (what: string): Failure =>
  new Failure('busy', `${what} already; ask again without wait, or in a moment.`, { retryAfterSeconds: 5 })
