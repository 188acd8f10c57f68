import { hash } from 'node:crypto'
import { invalid } from '../../../kernel/failure.ts'
import type { Page, Position } from './listing.queries.ts'

type Listing = Omit<Page, 'after' | 'limit'>

/** Tells whether a cursor belongs to a listing (the same repository, order, direction and filters) and is all there. */
const mark = ({ repository, order, descending, groupKey, nameKey }: Listing, keys: readonly string[]): string =>
  hash('sha256', JSON.stringify([repository, order, descending, groupKey, nameKey, ...keys])).slice(0, 12)

/** Says where the next page begins. Keys have no character of the separator. */
export const cursorOf = (listing: Listing, { group_key, name_key, version_key }: Position): string => {
  const keys = [group_key, name_key, version_key]
  return Buffer.from([mark(listing, keys), ...keys].join('\n')).toString('base64url')
}

/** The version to go on after. 400 for a cursor of another listing, or none at all. */
export const positionOf = (listing: Listing, cursor: string): Position => {
  const [, group_key, name_key, version_key] = Buffer.from(cursor, 'base64url').toString().split('\n')
  const position = { group_key: group_key ?? '', name_key: name_key ?? '', version_key: version_key ?? '' }
  // Also refuses what only decodes to the same, and anything that no key holds.
  const ours = /^[\x20-\x7e]*$/.test(Object.values(position).join('')) && cursorOf(listing, position) === cursor
  if (!ours)
    throw invalid('/query/after', 'must be the next of a page of the same listing, with the same order and filters')
  return position
}
