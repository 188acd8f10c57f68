import { type Order, startAfter } from './order.ts'

/** Lines of a journal between two sequences, neither of which is among them, in an order. */
export interface Stretch {
  readonly order: Order
  readonly above: number
  readonly below: number
}

/**
 * What comes after a cursor, whose grammar (`patterns.sequenceCursor`) has no more digits than a number holds exactly.
 * 400 for one of the other order.
 */
export const stretchAfter = (given: Order | undefined, cursor: string | undefined): Stretch => {
  const { order, after } = startAfter(given, cursor)
  const [first, last] = [0, Number.MAX_SAFE_INTEGER]
  if (order === 'asc') return { order, above: after === '' ? first : Number(after), below: last }
  return { order, above: first, below: after === '' ? last : Number(after) }
}
