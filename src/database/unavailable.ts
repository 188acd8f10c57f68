export interface UnavailableExtras {
  readonly cause?: unknown
  /** The connection broke while a commit was under way: it may have happened or not. */
  readonly outcomeUnknown?: boolean
  /** Its disk has no room for what was to be written. */
  readonly diskFull?: boolean
}

/**
 * The engine cannot be reached, cannot work or is too busy. Trying again later makes sense; nothing is wrong with the
 * query.
 */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable'
  /** False: nothing was committed. True: nobody knows. */
  readonly outcomeUnknown: boolean
  readonly diskFull: boolean

  constructor(message: string, extras: UnavailableExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause })
    this.outcomeUnknown = extras.outcomeUnknown ?? false
    this.diskFull = extras.diskFull ?? false
  }
}
