/** What a shell takes for letters wherever they stand, `=` aside, which before the first word would be a setting. */
const harmless = /^[\w@%+:,./-]+$/

/**
 * A text as one word of a POSIX shell, whatever is in it. Whoever pastes a block did not write what it is made of:
 * names come from others, and from the address bar.
 */
export const shellWord = (text: string): string => (harmless.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)
