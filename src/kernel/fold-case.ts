/**
 * A text without upper and lower case, wherever case is ignored: in search, and in names that are told apart without
 * it. Every character goes by itself to lower, upper and lower again. Going by way of upper case brings together what
 * has one upper case (ς and σ, ı and i, µ and μ) and unfolds what has several letters (ß and ẞ are ss, ﬁ is fi); going
 * character by character keeps parts of a text parts of the folded text, which Unicode's rule for a sigma at the end of
 * a word would not. Accents count, and so does how they were composed. Folding twice changes nothing.
 */
export const foldCase = (text: string): string =>
  ascii.test(text) ? text.toLowerCase() : Array.from(text, foldCharacter).join('')

const ascii = /^\p{ASCII}*$/u
const foldCharacter = (character: string): string => character.toLowerCase().toUpperCase().toLowerCase()
