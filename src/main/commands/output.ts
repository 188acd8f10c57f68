export interface OutputOptions {
  readonly json?: boolean
}

/** Prints what a command has to tell: for programs as JSON with the names of the interface, otherwise in words. */
export const tell = ({ json = false }: OutputOptions, value: object, inWords: string): void =>
  console.log(json ? JSON.stringify(value, null, 2) : inWords)

/** Columns as wide as what stands in them; `none` where there are no rows. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[], none: string): string => {
  if (rows.length === 0) return none
  const lines = [head, ...rows]
  const widths = head.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
