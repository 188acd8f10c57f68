import {
  passwordHashesWaitingPerNetworkMax,
  passwordHashesWaitingPerSubjectMax,
} from '../../kernel/admission-limits.ts'
import { Failure } from '../../kernel/failure.ts'
import { passwordHashesWaitingMax } from '../../kernel/limits.ts'

/** Who waits: in which of the lines, and for whom. */
export interface Place {
  /** `known`: an account from where it signed in lately; `register`: whoever has no account yet; `other`: everyone else. */
  readonly line: 'known' | 'other' | 'register'
  /** The network and the account: they take turns. */
  readonly subject: string
  /** One network has half of a line, whatever names it tries. */
  readonly network: string
}

/** The order in which passwords are looked at. */
export interface PasswordLine {
  /** Runs the work at its turn. Throws 503 `busy` when the line is full, or somebody else's need of a place is greater. */
  inTurn<T>(place: Place, work: () => Promise<T>): Promise<T>
}

interface Waiting {
  readonly network: string
  begin(): void
  giveUp(error: Failure): void
}

const busy = (): Failure =>
  new Failure('busy', 'Too many people are signing in at this moment; try again.', { retryAfterSeconds: 5 })

/** Those who wait in one line. Maps keep the order of insertion: whoever had a turn is put behind the others. */
class Line {
  readonly #subjects = new Map<string, Waiting[]>()
  #length = 0

  /** Throws 503 `busy` unless there is a place, or somebody who waits several times has one to give up. */
  join(subject: string, waiting: Waiting): void {
    const queue = this.#subjects.get(subject) ?? []
    if (queue.length >= passwordHashesWaitingPerSubjectMax) throw busy()
    const ofNetwork = [...this.#subjects.values()].filter(([first]) => first?.network === waiting.network)
    const there = ofNetwork.reduce((sum, { length }) => sum + length, 0)
    if (there >= passwordHashesWaitingPerNetworkMax) this.#makeRoom(ofNetwork, queue.length)
    else if (this.#length >= passwordHashesWaitingMax) this.#makeRoom([...this.#subjects.values()], queue.length)
    queue.push(waiting)
    this.#subjects.set(subject, queue)
    this.#length += 1
  }

  next(): Waiting | undefined {
    const [first] = this.#subjects
    if (first === undefined) return undefined
    const [subject, queue] = first
    const waiting = queue.shift()
    this.#subjects.delete(subject)
    if (queue.length > 0) this.#subjects.set(subject, queue)
    this.#length -= 1
    return waiting
  }

  /** The last of whoever waits most often gives up, if that is more often than who comes would. */
  #makeRoom(queues: readonly Waiting[][], waitingAlready: number): void {
    const longest = queues.reduce((one, other) => (other.length > one.length ? other : one), queues[0] ?? [])
    if (longest.length <= waitingAlready + 1) throw busy()
    longest.pop()?.giveUp(busy())
    this.#length -= 1
  }
}

/**
 * So many at once; the lines take turns, within a line the subjects, and whoever has the same subject comes in order. So
 * neither many tries of one, nor many strangers, nor registrations keep others from their turn.
 */
export const createPasswordLine = (atOnce: number): PasswordLine => {
  const lines = new Map<Place['line'], Line>([
    ['known', new Line()],
    ['other', new Line()],
    ['register', new Line()],
  ])
  let running = 0

  const wait = ({ line, subject, network }: Place): Promise<void> =>
    new Promise((begin, giveUp) => {
      lines.get(line)?.join(subject, { network, begin, giveUp })
    })

  const next = (): Waiting | undefined => {
    for (const [name, line] of lines) {
      const waiting = line.next()
      if (waiting === undefined) continue
      lines.delete(name)
      lines.set(name, line)
      return waiting
    }
    return undefined
  }

  return {
    async inTurn(place, work) {
      if (running < atOnce) running += 1
      else await wait(place)
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
