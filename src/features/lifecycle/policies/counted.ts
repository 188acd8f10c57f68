/** A position in the order in which things came. Equal times are told apart by the id. */
export interface Position {
  readonly at: string
  readonly id: string
}

export const isOlder = (a: Position, b: Position): boolean => a.at < b.at || (a.at === b.at && a.id < b.id)

/**
 * Things of one kind in a repository, as a policy counts them: in groups that are counted together, each in the order
 * in which they came. Package versions are one kind, in groups by package; images another, by name.
 */
export interface Counted<Group> {
  /** Names a group, in memory. */
  readonly keyOf: (group: Group) => string
  /** Groups after one, in their order, with the things that one look counted of each; of the last there may be more. */
  readonly groupsAfter: (
    after: Group | null,
    limit: number,
  ) => Promise<readonly { readonly group: Group; readonly things: number }[]>
  /** The n-th newest of a group, counted from 1; of all groups together where it is null. */
  readonly nthNewest: (group: Group | null, n: number) => Promise<Position | undefined>
  /** The newest, or the newest before a position. */
  readonly newest: (group: Group | null, before: Position | null, limit: number) => Promise<readonly Position[]>
  /** The oldest after a position and before another. */
  readonly oldest: (
    group: Group | null,
    between: { readonly after: Position | null; readonly before: Position },
    limit: number,
  ) => Promise<readonly Position[]>
  /** Which of some labels each bears, by id; what bears none may be left out. */
  readonly borne: (ids: readonly string[], labels: readonly string[]) => Promise<ReadonlyMap<string, readonly string[]>>
}
