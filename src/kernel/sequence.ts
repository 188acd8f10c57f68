import { type Order, startAfter } from './order.ts'

/**
 * The sequence after which a client wants to read on; 0 where it says nothing. Its grammar (`patterns.sequence`) has no
 * more digits than a number holds exactly.
 */
export const sequenceAfter = (digits: string | undefined): number => Number(digits ?? '0')

/** Lines of a journal between two sequences, neither of which is among them, in an order. */
export interface Stretch {
  readonly order: Order
  readonly above: number
  readonly below: number
}

/** What comes after a cursor. 400 for one of the other order. */
export const stretchAfter = (given: Order | undefined, cursor: string | undefined): Stretch => {
  const { order, after } = startAfter(given, cursor)
  return order === 'asc'
    ? { order, above: sequenceAfter(after), below: Number.MAX_SAFE_INTEGER }
    : { order, above: 0, below: after === '' ? Number.MAX_SAFE_INTEGER : Number(after) }
}
