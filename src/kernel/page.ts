/** A page of a list, and what the request for the next one begins after; null where there is none. */
export interface Page<Item, Cursor = string> {
  readonly items: Item[]
  readonly next: Cursor | null
}

/**
 * A page of so many, from one row more than it holds, which tells whether there is another page.
 * `cursorOf` names the place of a row for who goes on after it.
 */
export const pageOf = <Row, Item, Cursor = string>(
  rows: readonly Row[],
  limit: number,
  show: (row: Row) => Item,
  cursorOf: (row: Row) => Cursor,
): Page<Item, Cursor> => {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return { items: shown.map(show), next: rows.length > limit && last !== undefined ? cursorOf(last) : null }
}
