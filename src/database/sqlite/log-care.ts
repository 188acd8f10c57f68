import { stat, utimes } from 'node:fs/promises'
import {
  sqliteLogBlockedMs,
  sqliteLogIdleMs,
  sqliteLogLookBusyMs,
  sqliteLogLookMs,
  sqliteLogThreadBytes,
} from '../../kernel/limits/engines.ts'
import type { DatabaseLog } from '../database.ts'
import { LogThread } from './log-care-thread.ts'
import { keeperLock, type LogAnswer, type LogTask } from './log-thread.ts'
import { isSuspect } from './opening.ts'

export interface LogCareOptions {
  readonly path: string
  readonly report: (message: string, error: unknown) => void
  /** Told that the log or the database file could not be made durable. */
  readonly lost: (cause: unknown) => void
  /** Runs `work` while nobody of this process writes. */
  readonly withWriterWaiting: (work: () => Promise<void>) => Promise<void>
}

/**
 * Sees to it that the log is copied into the database file, in a thread, so that no commit and no request ever waits
 * for the syncs of that. The thread begins when the log has grown for the first time, and in one process of those that
 * have the database open: the one that gets the keeper's lock; when that ends, however it ends, another one gets it.
 *
 * The log stays below some tens of megabytes, however much is written, but for a long reader of an old state (an
 * export): what it may still read stays until it is done. Whether that is so is seen by the metrics.
 *
 * A copy that fails for want of room or because others are in the way is tried again: nothing is lost, all is in the
 * log. Any other failure is as final as that of a sync (`group-sync.ts`). So is the one of another process, which
 * leaves a mark.
 */
export class LogCare implements DatabaseLog {
  readonly #options: LogCareOptions
  readonly #stopped = Promise.withResolvers<void>()
  readonly #caring: Promise<void>
  #stopping = false
  #thread: LogThread | undefined
  #failures = 0
  /** Since when nothing was added to what waits, and what waited then. */
  #quiet = { frames: 0, sinceMs: 0 }
  #blockedUntilMs = 0

  constructor(options: LogCareOptions) {
    this.#options = options
    this.#caring = this.#care()
  }

  get failures(): number {
    return this.#failures
  }

  bytes(): Promise<number> {
    return orZero(stat(`${this.#options.path}-wal`).then(({ size }) => size))
  }

  lastCopiedMs(): Promise<number> {
    return orZero(stat(keeperLock(this.#options.path)).then(({ mtimeMs }) => mtimeMs))
  }

  /** Ends when the round under way has ended, and leaves nothing to copy for whoever closes last. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#stopped.resolve()
    await this.#caring
    await this.#ask('close')
    await this.#thread?.end()
  }

  /** Does nothing more, and closes nothing. */
  abandon(): void {
    this.#stopping = true
    this.#stopped.resolve()
  }

  async #care(): Promise<void> {
    let pauseMs = sqliteLogLookMs
    while (await this.#paused(pauseMs)) {
      if (await isSuspect(this.#options.path)) this.#options.lost(new Error('a sync of another process failed'))
      else if (this.#thread !== undefined || (await this.bytes()) >= sqliteLogThreadBytes) pauseMs = await this.#round()
    }
  }

  /** One look, and what follows from it; answers the pause until the next. */
  async #round(): Promise<number> {
    const answer = await this.#ask(this.#isQuiet() ? 'copy all' : 'copy')
    if (answer?.kind !== 'done' || answer.log === null) return sqliteLogLookMs
    const waiting = answer.log.frames - answer.log.copied
    const grew = answer.log.frames !== this.#quiet.frames
    if (grew || waiting === 0) this.#quiet = { frames: answer.log.frames, sinceMs: performance.now() }
    if (answer.allCopied && grew) await this.#copied()
    if (answer.restartDue && performance.now() >= this.#blockedUntilMs) await this.#restart()
    return grew ? sqliteLogLookBusyMs : sqliteLogLookMs
  }

  async #restart(): Promise<void> {
    await this.#options.withWriterWaiting(async () => {
      const answer = await this.#ask('restart')
      if (answer?.kind !== 'done') return
      if (answer.restartDue) this.#blockedUntilMs = performance.now() + sqliteLogBlockedMs
      else await this.#copied()
    })
  }

  #isQuiet(): boolean {
    return this.#quiet.sinceMs > 0 && performance.now() - this.#quiet.sinceMs >= sqliteLogIdleMs
  }

  /** The time is kept where every process finds it, also the next one. */
  async #copied(): Promise<void> {
    const now = new Date()
    await utimes(keeperLock(this.#options.path), now, now).catch(() => {})
  }

  async #ask(task: LogTask): Promise<LogAnswer | null> {
    if (this.#thread?.isGone !== false) {
      if (task === 'close') return null
      this.#thread = new LogThread(this.#options.path)
    }
    const answer = await this.#thread.ask(task)
    if (answer.kind === 'done') return answer
    const error = new Error(answer.message)
    if (answer.passing) {
      this.#failures++
      if (this.#failures === 1)
        this.#options.report('The log of the database could not be copied; it grows until it can', error)
    } else this.#options.lost(error)
    return answer
  }

  /** False once it is to stop. */
  async #paused(milliseconds: number): Promise<boolean> {
    const timer = Promise.withResolvers<void>()
    const running = setTimeout(timer.resolve, milliseconds).unref()
    await Promise.race([timer.promise, this.#stopped.promise])
    clearTimeout(running)
    return !this.#stopping
  }
}

const orZero = (value: Promise<number>): Promise<number> => value.catch(() => 0)
