import { type Fields, objectOf } from '../fields.ts'

/** What the tarball of a version is, and where the upstream has it. */
export interface Dist {
  /** As the upstream says it. */
  readonly tarball: string
  /** SHA-512, Base64: one of them; none where the upstream says none. */
  readonly sha512: readonly string[]
  /** SHA-1, hexadecimal digits. */
  readonly sha1: string | null
  readonly files: number | null
  readonly unpackedBytes: number | null
}

/** Hashes of a tarball that is kept. */
export interface KeptHashes {
  readonly sha1: string
  readonly sha512: string
}

const sha512 = /^sha512-([A-Za-z0-9+/]{86}==)(?:\?|$)/
const sha1InBase64 = /^sha1-([A-Za-z0-9+/]{27}=)(?:\?|$)/
const sha1InHex = /^[0-9a-f]{40}$/i

const countOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null

/** What a manifest says of its tarball; null where nothing says what it must be. */
export const distOf = (said: unknown): Dist | null => {
  const { tarball, integrity, shasum, fileCount, unpackedSize } = objectOf(said)
  const tokens = typeof integrity === 'string' ? integrity.split(/\s+/) : []
  const strong = tokens.flatMap((token) => sha512.exec(token)?.[1] ?? [])
  const [weak] = tokens.flatMap((token) => sha1InBase64.exec(token)?.[1] ?? [])
  const hex =
    typeof shasum === 'string' && sha1InHex.test(shasum)
      ? shasum.toLowerCase()
      : weak === undefined
        ? null
        : Buffer.from(weak, 'base64').toString('hex')
  if (typeof tarball !== 'string' || (strong.length === 0 && hex === null)) return null
  return { tarball, sha512: strong, sha1: hex, files: countOf(fileCount), unpackedBytes: countOf(unpackedSize) }
}

/** Whether a tarball with these hashes is the one that is meant. */
export const isOf = (dist: Pick<Dist, 'sha1' | 'sha512'>, found: KeptHashes): boolean =>
  (dist.sha512.length === 0 || dist.sha512.includes(found.sha512)) && (dist.sha1 === null || dist.sha1 === found.sha1)

/** The same version by the hashes of the tarball that is kept of it. */
export const withKept = (dist: Dist, { sha1, sha512: strong }: KeptHashes): Dist => ({
  ...dist,
  sha1,
  sha512: [strong],
})

/** What clients are told of it, but for its address. */
export const toldDist = ({ sha512: strong, sha1, files, unpackedBytes }: Dist): Fields => ({
  ...(strong.length === 0 ? {} : { integrity: strong.map((each) => `sha512-${each}`).join(' ') }),
  ...(sha1 === null ? {} : { shasum: sha1 }),
  ...(files === null ? {} : { fileCount: files }),
  ...(unpackedBytes === null ? {} : { unpackedSize: unpackedBytes }),
})

/** A line of the index of tarballs. No version has a tab in it. */
export const distLine = (version: string, { tarball, sha512: strong, sha1 }: Dist): string =>
  `${version}\t${JSON.stringify({ tarball, integrity: strong.map((each) => `sha512-${each}`).join(' '), shasum: sha1 })}\n`

/** What the index says of a version. */
export const distInLines = (lines: string, version: string): Dist | null => {
  const from = lines.startsWith(`${version}\t`) ? 0 : lines.indexOf(`\n${version}\t`) + 1
  if (from === 0 && !lines.startsWith(`${version}\t`)) return null
  const end = lines.indexOf('\n', from)
  return distOf(JSON.parse(lines.slice(from + version.length + 1, end === -1 ? undefined : end)))
}
