/*
 * How lines about images call a manifest: `<name>@<digest>`, and behind it, where a stage comes or goes, a space and
 * the stage. Names, digests and stages have no space in them, and names no `@`.
 */

export interface ImageOfLine {
  readonly name: string
  readonly digest: string
  readonly stage: string | null
}

export const imageLine = (name: string, digest: string, stage: string | null = null): string =>
  stage === null ? `${name}@${digest}` : `${name}@${digest} ${stage}`

/** What a line calls so. */
export const imageOfLine = (detail: string): ImageOfLine => {
  const [called = '', stage = null] = detail.split(' ')
  const [name = '', digest = ''] = called.split('@')
  return { name, digest, stage }
}
