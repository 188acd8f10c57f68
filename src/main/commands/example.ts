import type { Command } from 'commander'

/** What ends the help of a command: an example of it, as it is typed. */
export const exampleText = (line: string): string => `\nExample:\n  ${line}`

export const example = (command: Command, line: string): Command => command.addHelpText('after', exampleText(line))
