/** One line of the result: what each server achieved, by its name. */
export interface Row {
  readonly what: string
  readonly unit: string
  readonly figures: ReadonlyMap<string, number>
  /** A reference that no server competes in has no better. */
  readonly better: 'more' | 'less' | null
  readonly meaning: string
}

/** What so large a share of the values is below. */
export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN

export const median = (values: readonly number[]): number => quantile(values, 0.5)

export const shown = (figure: number | undefined): string => {
  if (figure === undefined) return ''
  return figure >= 100 ? figure.toFixed(0) : figure.toPrecision(3)
}

/** How many times better than the peer, so that more than 1 is good whatever the unit. */
const ratio = ({ figures, better }: Row, peer: string): string => {
  const ours = figures.get('svc')
  const theirs = figures.get(peer)
  if (ours === undefined || theirs === undefined || better === null) return ''
  return `${(better === 'more' ? ours / theirs : theirs / ours).toFixed(2)} x`
}

/** The figures of all servers and how we compare with each peer; columns of peers that were left out stay blank. */
export const table = (rows: readonly Row[], peers: readonly string[]): string => {
  return aligned([
    ['', 'unit', 'svc', ...peers, ...peers.map((name) => `vs ${name}`)],
    ...rows.map((row) => [
      row.what,
      row.unit,
      ...['svc', ...peers].map((name) => shown(row.figures.get(name))),
      ...peers.map((peer) => ratio(row, peer)),
    ]),
  ])
}

/** Lines of cells as columns: the first to the left, the others to the right. */
export const aligned = (lines: readonly (readonly string[])[]): string => {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export const meanings = (rows: readonly Row[]): string =>
  rows.map(({ what, meaning }) => `${what.trim()}: ${meaning}`).join('\n')
