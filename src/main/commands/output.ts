import { shown, shownLines } from '../../kernel/shown.ts'

export interface OutputOptions {
  readonly json?: boolean
}

/**
 * Prints what a command has to tell: for programs as JSON with the names of the interface, otherwise in words, each
 * text a line. Whatever the service said, a screen shows it and obeys nothing of it.
 */
export const tell = ({ json = false }: OutputOptions, value: object, ...inWords: readonly string[]): void =>
  // In JSON an escaped character is the character.
  console.log(json ? shownLines(JSON.stringify(value, null, 2)) : inWords.map(shown).join('\n'))

/** Lines of columns as wide as what stands in them; `none` where there are no rows. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[], none: string): string[] => {
  if (rows.length === 0) return [none]
  const lines = [head, ...rows.map((row) => row.map(shown))]
  const widths = head.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)))
  return lines.map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
