import { journalHeadAndRowsAfter } from '../../../journal/repository/journal.queries.ts'
import type { Telling } from '../../../journal/telling.ts'
import { webhookLinesAtOnce, webhookReadsBehindEveryMs, webhookReadsEveryMs } from '../../../kernel/limits/webhooks.ts'
import type { Event } from './delivery.ts'

/** Lines of a journal in its order, and how far it goes. */
export interface Stretch {
  readonly head: number
  readonly events: readonly Event[]
}

interface Asked extends PromiseWithResolvers<Stretch | null> {
  readonly after: number
}

interface Journal {
  asked: Asked[]
  readAtMs: number
  /** There was more than was read. */
  isBehind: boolean
  isDue: boolean
}

const unread = (): Journal => ({ asked: [], readAtMs: Number.NEGATIVE_INFINITY, isBehind: false, isDue: false })

/**
 * Reads journals for subscriptions. Those of one repository want the same lines at about the same time: one read serves
 * all that are ready, and the next one comes a little later.
 */
export class Reading {
  readonly #database: Telling
  readonly #journals = new Map<string, Journal>()

  constructor(database: Telling) {
    this.#database = database
  }

  /** The next lines after a sequence, of one moment; null where there is no repository. */
  after(repository: string, after: number): Promise<Stretch | null> {
    const journal = this.#journals.get(repository) ?? unread()
    this.#journals.set(repository, journal)
    const asked = { after, ...Promise.withResolvers<Stretch | null>() }
    journal.asked.push(asked)
    if (!journal.isDue) {
      journal.isDue = true
      const everyMs = journal.isBehind ? webhookReadsBehindEveryMs : webhookReadsEveryMs
      const waitMs = Math.max(0, journal.readAtMs + everyMs - performance.now())
      setTimeout(() => this.#serve(repository, journal), waitMs)
    }
    return asked.promise
  }

  #serve(repository: string, journal: Journal): void {
    const all = journal.asked.toSorted((one, other) => one.after - other.after)
    journal.asked = []
    journal.isDue = false
    journal.isBehind = false
    journal.readAtMs = performance.now()
    while (all.length > 0) {
      const from = all[0]?.after ?? 0
      const together = all.filter(({ after }) => after - from <= webhookLinesAtOnce)
      all.splice(0, together.length)
      void this.#read(repository, journal, together)
    }
  }

  /** Whoever is ahead by as much as a stretch gets a whole one all the same. */
  async #read(repository: string, journal: Journal, together: readonly Asked[]): Promise<void> {
    try {
      const first = together[0]?.after ?? 0
      const rows = await journalHeadAndRowsAfter(this.#database, repository, first, 2 * webhookLinesAtOnce)
      const [row] = rows
      const events = rows
        .flatMap(({ sequence, action, artifact_id: artifactId, detail }) =>
          sequence === null || action === null || artifactId === null ? [] : [{ sequence, action, artifactId, detail }],
        )
        .sort((one, other) => one.sequence - other.sequence)
      // Those that stand at one place are given one and the same.
      const from = new Map<number, readonly Event[]>()
      for (const { after, resolve } of together) {
        const own = from.get(after) ?? linesAfter(events, after)
        from.set(after, own)
        if (own.length === webhookLinesAtOnce) journal.isBehind = true
        resolve(row === undefined ? null : { head: row.journal_head, events: own })
      }
    } catch (error) {
      for (const { reject } of together) reject(error)
    }
  }
}

const linesAfter = (events: readonly Event[], after: number): readonly Event[] => {
  const begin = events.findIndex(({ sequence }) => sequence > after)
  return begin === -1 ? [] : events.slice(begin, begin + webhookLinesAtOnce)
}
