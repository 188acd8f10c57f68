declare const sha256Brand: unique symbol

/** A SHA-256 digest as 64 lowercase hexadecimal digits; the name of a blob. */
export type Sha256 = string & { readonly [sha256Brand]: true }

const form = /^[0-9a-f]{64}$/

/** True for exactly 64 lowercase hexadecimal digits. */
export const isSha256 = (text: string): text is Sha256 => form.test(text)

/** The digest that the text spells. Throws a RangeError for anything else; parse input with {@link isSha256} first. */
export const toSha256 = (text: string): Sha256 => {
  if (!isSha256(text)) throw new RangeError(`not a SHA-256 digest: ${JSON.stringify(text.slice(0, 80))}`)
  return text
}
