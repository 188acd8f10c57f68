import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Failure } from '../../../kernel/failure.ts'
import { isBeyond } from '../../../kernel/json-pieces.ts'
import { npmAuditPartsMax, npmAuditUnpackedBytesMax } from '../../../kernel/limits/npm-accounts.ts'

const unpack = promisify(gunzip)

const unreadable = (why: string): Failure => new Failure('invalid_request', `The body cannot be read: ${why}`)

/** What clients are told beside an empty answer, which looks as if somebody had looked. */
export const notLookedUp = 'svc knows of no advisories: nothing was looked up, and 0 vulnerabilities means that.'

/**
 * Looks whether the body is what it has to be, so that a client that sends something else hears of it: names of
 * packages with lists of versions, perhaps packed. 400 for anything else.
 */
export const checkBulk = async (bytes: Uint8Array, coding: string | undefined): Promise<void> => {
  const asked = parsed(await plainOf(bytes, coding))
  const lists = typeof asked === 'object' && asked !== null && !Array.isArray(asked) ? Object.values(asked) : null
  if (lists === null || !lists.every(Array.isArray))
    throw unreadable('send {"<package>": ["<version>", …]}, as npm audit does.')
}

const plainOf = async (bytes: Uint8Array, coding = 'identity'): Promise<Uint8Array> => {
  if (coding === 'identity') return bytes
  if (coding !== 'gzip')
    throw new Failure('unsupported_media_type', 'The only Content-Encoding that is taken here is gzip.')
  try {
    return await unpack(bytes, { maxOutputLength: npmAuditUnpackedBytesMax })
  } catch {
    throw unreadable(`it is no gzip, or unpacks to more than ${npmAuditUnpackedBytesMax} bytes.`)
  }
}

const parsed = (bytes: Uint8Array): unknown => {
  const text = Buffer.from(bytes).toString()
  if (isBeyond(text, { count: npmAuditPartsMax, depth: 2 }))
    throw unreadable(`it has more than ${npmAuditPartsMax} names and versions.`)
  try {
    return JSON.parse(text)
  } catch {
    throw unreadable('it is no JSON.')
  }
}
