/** Where time comes from. Everything that compares or stores a time asks this, so that tests can turn the hands. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** RFC 3339 in UTC with milliseconds: the one form in which times are stored and sent. */
export const timestamp = (epochMs: number): string => {
  // Each request asks several times within a millisecond.
  if (epochMs !== lastTold.epochMs) lastTold = { epochMs, text: new Date(epochMs).toISOString() }
  return lastTold.text
}

let lastTold = { epochMs: Number.NaN, text: '' }

/**
 * Milliseconds of an RFC 3339 time with any offset, or null for one that no calendar or clock shows, such as February
 * 30 or 24:00, which `Date.parse` would move to another day.
 */
export const utcMs = (text: string): number | null => {
  const upper = text.toUpperCase()
  const shown = Date.parse(`${upper.slice(0, 19)}Z`)
  if (Number.isNaN(shown) || timestamp(shown).slice(0, 19) !== upper.slice(0, 19)) return null
  const parsed = Date.parse(upper)
  return Number.isNaN(parsed) ? null : parsed
}

/** The earlier of two timestamps of the form above, whose order as text is their order in time. */
export const earlier = (a: string, b: string): string => (b > a ? a : b)
