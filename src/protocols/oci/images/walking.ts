import { setImmediate as nextRound } from 'node:timers/promises'
import { imageNamesAtOnce, imageNamesRounds } from '../../../kernel/limits/oci.ts'

/** Where an entry stands in the order of its list: the texts that the list is ordered by. */
export type Position = readonly string[]

/** A position in an order of time. */
export interface Moment {
  readonly at: string
  readonly tag: string
}

/** A list in the order of an index, some of whose entries are looked for. */
export interface Walk<Row> {
  /** The entry that is so many behind a position, or behind the beginning; null where the list ends before. */
  readonly ahead: (from: Position | null, entries: number) => Promise<Position | null>
  /** The first entries that are looked for behind a position, up to another one where that is given. */
  readonly between: (from: Position | null, to: Position | null, limit: number) => Promise<Row[]>
  readonly positionOf: (row: Row) => Position
}

export interface Walked<Row> {
  readonly rows: Row[]
  /** Where the next page goes on; null where nothing is left. */
  readonly next: Position | null
}

/**
 * A page of what is looked for, by going through the list. However long that is, a page looks at so many entries and no
 * more, and lets the process do other work between them: it may be short, or empty, and still have a next one.
 */
export const walked = async <Row>(
  { ahead, between, positionOf }: Walk<Row>,
  start: Position | null,
  limit: number,
): Promise<Walked<Row>> => {
  const rows: Row[] = []
  let from = start
  for (let round = 0; round < imageNamesRounds; round += 1) {
    const to = await ahead(from, imageNamesAtOnce)
    rows.push(...(await between(from, to, limit + 1 - rows.length)))
    const last = rows[limit - 1]
    if (rows.length > limit && last !== undefined) return { rows: rows.slice(0, limit), next: positionOf(last) }
    if (to === null) return { rows, next: null }
    from = to
    await nextRound()
  }
  return { rows, next: from }
}

/** A position in an order of time; null at the beginning. */
export const momentOf = (position: Position | null): Moment | null =>
  position === null ? null : { at: position[0] ?? '', tag: position[1] ?? '' }
