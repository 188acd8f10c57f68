/** Where time comes from. Everything that compares or stores a time asks this, so that tests can turn the hands. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** RFC 3339 in UTC with milliseconds: the one form in which times are stored and sent. */
export const timestamp = (epochMs: number): string => new Date(epochMs).toISOString()
