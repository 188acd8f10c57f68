import { pathOf } from '../pipeline/target.ts'

/**
 * The encodings of unreserved characters (RFC 3986, section 2.3: letters, digits, - . _ ~). One that stands behind a
 * broken encoding is left alone: with the character in its place the two could be read as an encoding that nobody sent.
 */
const encoded = /(?<!%|%[0-9a-f])%(?:2[de]|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/gi

/**
 * The target with unreserved characters in its path as themselves, as a proxy may write it, too (RFC 3986, section
 * 6.2.2.2): what decides by texts of a path and what decodes it then read the same. What else is encoded stays so,
 * `%2F` above all, and so does what stands before the path and behind it.
 */
export const withPlainPath = (target: string): string => {
  if (!target.includes('%')) return target
  const asked = pathOf(target)
  const [path = ''] = asked.split('?', 1)
  return target.slice(0, target.length - asked.length) + plain(path) + asked.slice(path.length)
}

const plain = (path: string): string =>
  path.replaceAll(encoded, (each) => String.fromCharCode(Number.parseInt(each.slice(1), 16)))

/** Throws for a text that could stand in a path in two ways: there is no other way to write an unreserved character. */
export const requirePlain = (text: string): void => {
  if (!/^[A-Za-z0-9._~/-]*$/.test(text)) throw new Error(`${text}: holds characters that clients may encode`)
}
