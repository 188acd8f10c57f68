import { DatabaseUnavailable } from '../database/unavailable.ts'
import { Failure } from '../kernel/failure.ts'
import { diskQuietMs, outageLookEveryMs, outageWatchEveryMs } from '../kernel/limits/process.ts'
import { BlobStoreFull, BlobStoreUnavailable } from '../ports/blob-store.ts'
import type { Logger } from './log.ts'

/** What the service cannot do without, and may lose for a while. */
const outages = {
  database: ['the database does not answer', 'the database answers again'],
  store: ['the blob store does not answer', 'the blob store answers again'],
  disk: ['the disk is full: nothing can be written', 'there is room on the disk again'],
} as const
type Kind = keyof typeof outages
const kinds: readonly Kind[] = ['database', 'store', 'disk']

/** A request that was refused since the disk has less than its reserve left. */
const isNoRoom = (error: Error): boolean => error instanceof Failure && error.code === 'insufficient_space'

/** Which of them an error tells of, or what it was made from; null for another kind of trouble. */
const kindOf = (error: unknown): Kind | null => {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (isNoRoom(each) || each instanceof BlobStoreFull || (each instanceof DatabaseUnavailable && each.diskFull))
      return 'disk'
    if (each instanceof DatabaseUnavailable) return 'database'
    if (each instanceof BlobStoreUnavailable) return 'store'
  }
  return null
}

/** Throws while what it looks at is away. */
export type Looks = Readonly<Record<Kind, () => Promise<unknown>>>

/**
 * Tells once that something went, and once that it is back, and for how long it was away. What fails meanwhile because
 * of that is left to those who debug: the same trouble from everybody who meets it would hide everything else.
 */
export class Outages {
  readonly #log: Logger
  readonly #away = new Map<Kind, Promise<boolean>>()
  #looks: Looks | null = null
  #diskFailedMs = Number.NEGATIVE_INFINITY

  constructor(log: Logger) {
    this.#log = log
  }

  /** From now on outages are noticed, by whoever meets one and by the clock. The answered function ends that. */
  watch(looks: Looks): () => void {
    this.#looks = looks
    const timer = setInterval(() => this.#lookAround(looks), outageWatchEveryMs).unref()
    return () => {
      clearInterval(timer)
      this.#looks = null
    }
  }

  /** What is away is looked at already; what fails here is looked at once more, as when somebody met it. */
  #lookAround(looks: Looks): void {
    for (const kind of kinds) {
      // A disk of which nobody can say how full it is does not answer at all.
      const otherwise = kind === 'disk' ? 'store' : kind
      if (!this.#away.has(kind)) looks[kind]().catch((error) => this.#isAway(kindOf(error) ?? otherwise, error))
    }
  }

  /** An error that somebody met, who tells others of it. */
  notice(error: unknown): void {
    const kind = kindOf(error)
    if (kind !== null) void this.#isAway(kind, error)
  }

  /** Logs what failed: with its stack, unless the reason is that something is away, or a request that was wrong. */
  readonly report = (message: string, error: unknown): void => {
    const kind = kindOf(error)
    if (error instanceof Failure && error.status < 500)
      this.#log.info({ code: error.code, why: error.message }, message)
    else if (kind === null) this.#log.error({ err: error }, message)
    else
      void this.#isAway(kind, error).then((away) => {
        if (away) this.#log.debug({ why: textOf(error) }, message)
        else this.#log.error({ err: error }, message)
      })
  }

  /** Looks for itself: one request that fails is no outage. Whoever asks meanwhile shares the look. */
  #isAway(kind: Kind, error: unknown): Promise<boolean> {
    if (kind === 'disk' && !(error instanceof Failure)) this.#diskFailedMs = performance.now()
    const known = this.#away.get(kind)
    if (known !== undefined) return known
    if (this.#looks === null) return Promise.resolve(false)
    const found = this.#look(kind).then((works) => {
      if (works) this.#away.delete(kind)
      else this.#tell(kind, error)
      return !works
    })
    this.#away.set(kind, found)
    return found
  }

  async #look(kind: Kind): Promise<boolean> {
    if (kind === 'disk' && performance.now() - this.#diskFailedMs < diskQuietMs) return false
    return (
      (await this.#looks?.[kind]().then(
        () => true,
        () => false,
      )) ?? true
    )
  }

  #tell(kind: Kind, error: unknown): void {
    const [gone, back] = outages[kind]
    const sinceMs = performance.now()
    this.#log.error({ why: textOf(error) }, gone)
    const again = async (): Promise<void> => {
      if (this.#looks === null) return
      if (!(await this.#look(kind))) return later()
      this.#away.delete(kind)
      this.#log.warn({ awaySeconds: Math.round((performance.now() - sinceMs) / 100) / 10 }, back)
    }
    const later = (): void => void setTimeout(again, outageLookEveryMs).unref()
    later()
  }
}

/** An error in a line: its words, and those of what it was made from. */
const textOf = (error: unknown): string => {
  const words: string[] = []
  for (let each = error; each instanceof Error; each = each.cause) words.push(each.message.replace(/\.$/, ''))
  return words.join(': ').replaceAll(/[\r\n]+/g, ' ')
}
