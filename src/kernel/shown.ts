/**
 * Characters that a screen obeys instead of showing them: controls (C0, DEL, C1), those that turn the direction of text
 * or end a line, and halves of surrogate pairs.
 */
const obeyed = /[\p{Cc}\p{Bidi_Control}\p{Cs}\u2028\u2029]/gu

const inHexadecimal = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/**
 * A text as one line for people, in which nothing draws, hides or turns anything: `\u001b` stands where an escape was.
 */
export const shown = (text: string): string => text.replaceAll(obeyed, inHexadecimal)

/** The same of a text that has lines. */
export const shownLines = (text: string): string => text.split('\n').map(shown).join('\n')
