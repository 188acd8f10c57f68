/*
 * How lines about npm packages call a version: `<name>@<version>`, and behind it, where a stage or a tag comes or goes,
 * a space and that. Neither names nor versions nor stages have a space in them, and versions no `@`.
 */

interface PackageOfLine {
  readonly name: string
  readonly version: string
  readonly stage: string | null
}

export const packageLine = (name: string, version: string, more: string | null = null): string =>
  more === null ? `${name}@${version}` : `${name}@${version} ${more}`

/** What a line calls so. */
export const packageOfLine = (detail: string): PackageOfLine => {
  const [called = '', stage = null] = detail.split(' ')
  const at = called.lastIndexOf('@')
  return { name: called.slice(0, at), version: called.slice(at + 1), stage }
}
