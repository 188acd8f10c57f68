import { invalid } from './failure.ts'

/** In which direction a list goes: of what has a time, `asc` begins with the oldest and `desc` with the newest. */
export const orders = ['asc', 'desc'] as const
export type Order = (typeof orders)[number]

/** Where a page begins: behind a position, in that direction; '' at the beginning of the list. */
export interface Start {
  readonly order: Order
  readonly after: string
}

/**
 * Before the cursors of lists that begin with the newest: so that one of the other direction is never taken for them.
 */
const mark = 'desc.'

/** What a page by id holds: ids that are so compared with one; no id is beyond 'g'. */
export const idsBeyond = ({ order, after }: Start): { readonly is: '>' | '<'; readonly id: string } =>
  order === 'asc' ? { is: '>', id: after } : { is: '<', id: after === '' ? 'g' : after }

/** The cursor of a page that ends at a position. */
export const cursorAt = (order: Order, position: string): string => (order === 'asc' ? position : mark + position)

/** Where the page after a cursor begins. 400 for a cursor of the other direction. */
export const startAfter = (order: Order = 'asc', cursor = ''): Start => {
  if (cursor !== '' && cursor.startsWith(mark) !== (order === 'desc'))
    throw invalid('/query/after', 'must be the next of a page of the same order')
  return { order, after: cursor.startsWith(mark) ? cursor.slice(mark.length) : cursor }
}
