import { createHash, type Hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Failure, invalid } from '../../kernel/failure.ts'

type Algorithm = 'md5' | 'sha1' | 'sha256' | 'sha512'

/** What a header says that the body is. */
interface Said {
  readonly header: string
  readonly algorithm: Algorithm
  readonly digest: Buffer
}

const digestBytes: Readonly<Record<Algorithm, number>> = { md5: 16, sha1: 20, sha256: 32, sha512: 64 }

/** Names of algorithms as RFC 9530 and its predecessor, RFC 3230, register them. */
const registered: ReadonlyMap<string, Algorithm> = new Map([
  ['md5', 'md5'],
  ['sha', 'sha1'],
  ['sha-256', 'sha256'],
  ['sha-512', 'sha512'],
])

const inHex: Readonly<Record<string, Algorithm>> = {
  'x-checksum-md5': 'md5',
  'x-checksum-sha1': 'sha1',
  'x-checksum-sha256': 'sha256',
  'x-checksum-sha512': 'sha512',
}

/** A member of a list of digests: RFC 9530 puts the base64 between colons, RFC 3230 does not. */
const lists = {
  'content-digest': /^\s*([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):\s*$/,
  'repr-digest': /^\s*([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):\s*$/,
  digest: /^\s*([A-Za-z0-9-]+)=([A-Za-z0-9+/]+={0,2})\s*$/,
} as const

/** The body of a PUT here is the whole representation, so what is said of either is said of the bytes that come. */
const listed = (header: keyof typeof lists, text: string): Said[] => {
  const said = text.split(',').flatMap((member) => {
    const [, name = '', base64 = ''] = lists[header].exec(member) ?? []
    if (name === '') throw invalid(`/headers/${header}`, 'must be a list of digests such as sha-256=:<base64>:')
    const algorithm = registered.get(name.toLowerCase())
    return algorithm === undefined ? [] : [checked(header, algorithm, fromBase64(base64))]
  })
  if (said.length === 0)
    throw invalid(`/headers/${header}`, `must have a digest that is known here: ${[...registered.keys()].join(', ')}`)
  return said
}

/**
 * Base64 as RFC 4648 has it, with its padding and no bits left over; empty for any other text, of which Node reads what
 * it can.
 */
const fromBase64 = (text: string): Buffer => {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : Buffer.alloc(0)
}

const checked = (header: string, algorithm: Algorithm, digest: Buffer): Said => {
  if (digest.byteLength !== digestBytes[algorithm])
    throw invalid(
      `/headers/${header}`,
      `must be a whole ${algorithm} digest, which has ${digestBytes[algorithm]} bytes`,
    )
  return { header, algorithm, digest }
}

const saidIn = (headers: IncomingHttpHeaders, handled: readonly string[]): Said[] => {
  const said: Said[] = []
  const textOf = (header: string): string | null => {
    const value = handled.includes(header) ? undefined : headers[header]
    return value === undefined ? null : String(value)
  }
  const md5 = textOf('content-md5')
  if (md5 !== null) said.push(checked('content-md5', 'md5', fromBase64(md5)))
  for (const [header, algorithm] of Object.entries(inHex)) {
    const hex = textOf(header)
    if (hex !== null) said.push(checked(header, algorithm, Buffer.from(/^[0-9a-f]+$/i.test(hex) ? hex : '', 'hex')))
  }
  for (const header of ['content-digest', 'repr-digest', 'digest'] as const) {
    const list = textOf(header)
    if (list !== null) said.push(...listed(header, list))
  }
  return said
}

/**
 * Holds a body against what its headers say of it. Digests are computed while it comes, on the event loop, and only
 * those that somebody asked for: a millisecond for two megabytes, in pieces of at most 64 KiB.
 */
export interface BodyDigests {
  update(piece: Uint8Array): void
  /** Throws 422 `checksum_mismatch` unless the body is what was said. */
  verify(): void
}

/**
 * What the headers of a request say of its body, apart from those that its operation handles itself; null where they
 * say nothing. Throws 400 for what is malformed or of no algorithm that is known.
 */
export const bodyDigests = (headers: IncomingHttpHeaders, handled: readonly string[]): BodyDigests | null => {
  const said = saidIn(headers, handled)
  if (said.length === 0) return null
  const hashes = new Map<Algorithm, Hash>()
  for (const { algorithm } of said) if (!hashes.has(algorithm)) hashes.set(algorithm, createHash(algorithm))
  return {
    update(piece) {
      for (const hash of hashes.values()) hash.update(piece)
    },
    verify() {
      for (const { header, algorithm, digest } of said) {
        const is = hashes.get(algorithm)?.copy().digest() ?? Buffer.alloc(0)
        if (is.equals(digest)) continue
        const detail = `The body's ${algorithm} is ${is.toString('hex')}; ${header} says ${digest.toString('hex')}.`
        throw new Failure('checksum_mismatch', detail, {
          details: [{ pointer: `/headers/${header}`, message: 'must be the digest of the body' }],
        })
      }
    },
  }
}
