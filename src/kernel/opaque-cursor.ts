import { hash } from 'node:crypto'
import { invalid } from './failure.ts'

/**
 * Cursors that only the list takes which they are of: a position behind a mark of everything that makes the list what
 * it is, such as its repository, filters and order.
 */
type Listing = readonly unknown[]

const markLength = 12
const mark = (listing: Listing): string => hash('sha256', JSON.stringify(listing)).slice(0, markLength)

export const opaqueCursor = (listing: Listing, position: readonly string[]): string =>
  Buffer.from(mark(listing) + position.join('\n')).toString('base64url')

/**
 * The texts of the position, each of which is what the list has there: the mark is no secret, so that anybody may make
 * a cursor, and no database is asked for what no position can be. 400 for a cursor of another list, or none at all.
 */
export const positionOfCursor = (
  listing: Listing,
  cursor: string,
  grammar: readonly ((text: string) => boolean)[],
): string[] => {
  const position = Buffer.from(cursor, 'base64url').toString().slice(markLength).split('\n')
  const ours = position.length === grammar.length && grammar.every((fits, at) => fits(position[at] ?? ''))
  if (ours && opaqueCursor(listing, position) === cursor) return position
  throw invalid('/query/after', 'must be the next of a page of the same list, with the same order and filters')
}
