/**
 * Characters that are not seen, or that turn what stands around them round: controls, format characters (direction, zero
 * width), and whatever else a browser draws nothing for. What emoji are composed with is seen, as the emoji.
 */
const unseen =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800](?<!\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?[\u200d\ufe0f])/u

const everyUnseen = new RegExp(unseen, 'gu')

/** Lines and columns of a text; in a name nobody expects them. */
const layout = /^[\n\t]$/

const callOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** A piece of a text as it is, or what a character is called that would not be seen. */
export interface Piece {
  readonly text: string
  readonly isUnseen: boolean
}

/** A text that others wrote, in pieces; of one piece nearly always. */
export const piecesOf = (text: string, { lines = false }: { readonly lines?: boolean } = {}): Piece[] => {
  if (!unseen.test(text)) return [{ text, isUnseen: false }]
  const pieces: Piece[] = []
  let from = 0
  for (const { 0: character, index } of text.matchAll(everyUnseen)) {
    if (lines && layout.test(character)) continue
    if (index > from) pieces.push({ text: text.slice(from, index), isUnseen: false })
    pieces.push({ text: callOf(character), isUnseen: true })
    from = index + character.length
  }
  if (from < text.length) pieces.push({ text: text.slice(from), isUnseen: false })
  return pieces
}

/** The same for where there is text alone, a sentence or the name of a tab: `[U+202E]`. */
export const seen = (text: string): string =>
  piecesOf(text)
    .map((piece) => (piece.isUnseen ? `[${piece.text}]` : piece.text))
    .join('')
