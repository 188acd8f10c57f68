/**
 * Ids as numbers in the same order, for indexes that know only numbers: milliseconds since 2024 and the 12 bits that
 * count within one. 53 bits suffice until 2093. Ids of one process have positions of their own; those of two may share
 * one.
 */
const epochMs = Date.UTC(2024)
const perMs = 4096
const last = Number.MAX_SAFE_INTEGER

/** The position of an id that we made. */
export const idPosition = (id: string): number => within(msOf(id) * perMs + Number.parseInt(id.slice(15, 18), 16))

/** No id after this one, whoever made it up, has a position below. */
export const lowestPositionAfter = (id: string): number =>
  id === '' ? 0 : id[14] === '7' ? idPosition(id) : within(msOf(id) * perMs)

/** No id before this one has a position above. */
export const highestPositionBefore = (id: string): number =>
  id === '' ? last : id[14] === '7' ? idPosition(id) : within(msOf(id) * perMs + perMs - 1)

const msOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) - epochMs
const within = (position: number): number => Math.min(Math.max(position, 0), last)
