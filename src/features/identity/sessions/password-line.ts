import { Failure } from '../../../kernel/failure.ts'
import {
  passwordHashesWaitingMax,
  passwordHashesWaitingPerNetworkMax,
  passwordHashesWaitingPerSubjectMax,
  passwordPartiesRememberedMax,
} from '../../../kernel/limits/identity.ts'

/** Who waits: in which of the lines, and for whom. */
export interface Standing {
  /**
   * `known`: an account from where it signed in lately; `register`: whoever has no account yet; `other`: everyone else.
   */
  readonly line: 'known' | 'other' | 'register'
  /** The network and the account. */
  readonly subject: string
  /** One network has half of a line, whatever names it tries. */
  readonly network: string
  /** Whom a line is shared among: what nobody has many of. They take turns, and within each its subjects. */
  readonly party: string
}

/** The order in which passwords are looked at. */
export interface PasswordLine {
  /**
   * Runs the work at its turn. Throws 503 `busy` when the line is full, or somebody else's need of a seat is greater.
   */
  inLine<T>(standing: Standing, work: () => Promise<T>): Promise<T>
}

interface Waiting extends Omit<Standing, 'line'> {
  begin(): void
  giveUp(error: Failure): void
}

/** Those of one subject, in the order in which they came. */
type Queue = Waiting[]

const busy = (): Failure =>
  new Failure('busy', 'Too many people are signing in at this moment; try again.', { retryAfterSeconds: 5 })

const waitingIn = (queues: readonly Queue[]): number => queues.reduce((sum, { length }) => sum + length, 0)

/** Of those that are equally long the one that came last. */
const longestOf = (queues: readonly Queue[]): Queue =>
  queues.reduce((one, other) => (other.length >= one.length ? other : one), [])

/** Those who wait in one line. Maps keep the order of insertion: whoever had a turn is put behind the others. */
class Line {
  readonly #subjects = new Map<string, Queue>()
  /** The number of each party's last turn, the latest at the end. */
  readonly #lastServed = new Map<string, number>()
  #served = 0
  #length = 0

  /** Throws 503 `busy` unless there is a seat, or somebody has one to give up. */
  join(waiting: Waiting): void {
    const queue = this.#subjects.get(waiting.subject) ?? []
    if (queue.length >= passwordHashesWaitingPerSubjectMax) throw busy()
    const ofNetwork = [...this.#subjects.values()].filter(([first]) => first?.network === waiting.network)
    if (waitingIn(ofNetwork) >= passwordHashesWaitingPerNetworkMax) this.#makeRoomAmong(ofNetwork, queue)
    else if (this.#length >= passwordHashesWaitingMax) this.#makeRoom(waiting.party, queue)
    queue.push(waiting)
    this.#subjects.set(waiting.subject, queue)
    this.#length += 1
  }

  /** Whoever's party had a turn longest ago, or none yet. */
  next(): Waiting | undefined {
    let [next] = this.#subjects.values()
    for (const queue of this.#subjects.values()) if (this.#lastServedOf(queue) < this.#lastServedOf(next)) next = queue
    const waiting = next?.shift()
    if (next === undefined || waiting === undefined) return undefined
    this.#length -= 1
    this.#subjects.delete(waiting.subject)
    if (next.length > 0) this.#subjects.set(waiting.subject, next)
    this.isServed(waiting.party)
    return waiting
  }

  /** The party has its turn. Those that had one longest ago are forgotten first, as if they had had none. */
  isServed(party: string): void {
    this.#served += 1
    this.#lastServed.delete(party)
    this.#lastServed.set(party, this.#served)
    const [oldest] = this.#lastServed.keys()
    if (oldest !== undefined && this.#lastServed.size > passwordPartiesRememberedMax) this.#lastServed.delete(oldest)
  }

  #lastServedOf(queue: Queue | undefined): number {
    return this.#lastServed.get(queue?.[0]?.party ?? '') ?? 0
  }

  /**
   * The party that waits most often gives a seat up, if that is more often than who comes would. Where all wait as
   * often as that, it is the one that had its turn last, if who comes had none since: whoever comes again and again
   * gives way to whoever comes for the first time in a while.
   */
  #makeRoom(party: string, own: Queue): void {
    const parties = Map.groupBy(this.#subjects.values(), ([first]) => first?.party ?? '')
    const mine = parties.get(party) ?? []
    let [most, mostWaiting, latest] = [mine, waitingIn(mine) + 1, this.#lastServed.get(party) ?? 0]
    for (const queues of parties.values()) {
      const [waits, served] = [waitingIn(queues), this.#lastServedOf(queues[0])]
      if (waits > mostWaiting || (waits === mostWaiting && served > latest))
        [most, mostWaiting, latest] = [queues, waits, served]
    }
    if (most === mine) this.#makeRoomAmong(mine, own)
    else this.#giveUpLastOf(longestOf(most))
  }

  /** The last of the subject that waits most often gives up, if that is more often than who comes would. */
  #makeRoomAmong(queues: readonly Queue[], own: Queue): void {
    const longest = longestOf(queues)
    if (longest.length <= own.length + 1) throw busy()
    this.#giveUpLastOf(longest)
  }

  #giveUpLastOf(queue: Queue): void {
    const last = queue.pop()
    if (last === undefined) return
    if (queue.length === 0) this.#subjects.delete(last.subject)
    this.#length -= 1
    last.giveUp(busy())
  }
}

/**
 * So many at once; the lines take turns, within a line the parties, and whoever has the same subject comes in order. So
 * neither many tries of one, nor many strangers, nor registrations keep others from their turn.
 */
export const createPasswordLine = (atOnce: number): PasswordLine => {
  const lines = { known: new Line(), other: new Line(), register: new Line() }
  const order = Object.values(lines)
  let running = 0

  const wait = ({ line, ...who }: Standing): Promise<void> =>
    new Promise((begin, giveUp) => {
      lines[line].join({ ...who, begin, giveUp })
    })

  const next = (): Waiting | undefined => {
    for (const [index, line] of order.entries()) {
      const waiting = line.next()
      if (waiting === undefined) continue
      order.push(...order.splice(index, 1))
      return waiting
    }
    return undefined
  }

  return {
    async inLine(standing, work) {
      if (running < atOnce) {
        running += 1
        lines[standing.line].isServed(standing.party)
      } else await wait(standing)
      try {
        return await work()
      } finally {
        // Whoever is next takes the turn over, so that nobody slips in between.
        const waiting = next()
        if (waiting === undefined) running -= 1
        else waiting.begin()
      }
    },
  }
}
