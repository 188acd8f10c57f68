import { createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Database, Queries } from '../../../database/database.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { newId, uuidIn } from '../../../kernel/ids.ts'
import { linkKeySignsMs, linkTtlSecondsMax, signaturesKeptMax } from '../../../kernel/limits/identity.ts'
import { findLinkKey, insertLinkKey } from './link-keys.queries.ts'

/**
 * Tokens that are stored nowhere. Each is signed (Ed25519) by a key whose private half never leaves the memory of the
 * process that made it; the public half is a row, by which every process checks it, also after that process is gone. So
 * neither the database nor a copy of it can make one.
 *
 * Behind the prefix, in base64url: version (1 byte), id of the key (16), end in milliseconds (6), what the token says
 * itself (18), signature (64). These are 105 bytes, so no character of the text has spare bits: each one counts.
 */
export interface TokenForm {
  readonly prefix: string
  readonly version: number
  /** Begins what is signed, so that a token of one form is none of another. */
  readonly label: string
}

const keyIdAt = 1
const endAt = 17
const saysAt = 23
const signatureAt = 41
const behindPrefix = /^[A-Za-z0-9_-]{140}$/

/** What is signed beside what the token says: whoever checks it has to know it. */
const signedPart = ({ label }: TokenForm, head: Uint8Array, about: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from(`${label}\0`), head, about])

export interface SignerDeps {
  readonly database: Database
  readonly clock: Clock
}

/** Signs with a key of its own, made when first needed and again when it has signed for its time. */
export interface Signer {
  /** A token that ends after so many seconds, at most those of a download link. `says` has 18 bytes. */
  sign(form: TokenForm, ttlSeconds: number, says: Uint8Array, about: Uint8Array): Promise<string>
}

interface SigningKey {
  readonly id: string
  readonly privateKey: KeyObject
  readonly retiresAtMs: number
}

export const createSigner = ({ database, clock }: SignerDeps): Signer => {
  let current: Promise<SigningKey> | null = null

  const make = async (): Promise<SigningKey> => {
    const nowMs = clock.now()
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const id = newId(nowMs)
    const retiresAtMs = nowMs + linkKeySignsMs
    const row = {
      id,
      public_key: publicKey.export({ format: 'jwk' }).x ?? '',
      created_at: timestamp(nowMs),
      ends_at: timestamp(retiresAtMs + linkTtlSecondsMax * 1000),
    }
    // Acknowledged, so that no token is given out that a power cut would make void.
    await database.transaction((tx) => insertLinkKey(tx, row))
    return { id, privateKey, retiresAtMs }
  }

  /** Also when the database was put back to a time before the key. */
  const stillGood = async (key: SigningKey): Promise<boolean> =>
    clock.now() < key.retiresAtMs && (await findLinkKey(database.reader, key.id)) !== undefined

  const key = async (): Promise<SigningKey> => {
    const seen = current
    const known = await seen?.catch(() => null)
    if (known !== null && known !== undefined && (await stillGood(known))) return known
    // Of those who find it too old at the same time, one makes the next.
    if (current === null || current === seen) current = make()
    return current
  }

  return {
    async sign(form, ttlSeconds, says, about) {
      const { id, privateKey } = await key()
      const head = Buffer.alloc(signatureAt)
      head.writeUInt8(form.version)
      head.write(id.replaceAll('-', ''), keyIdAt, 'hex')
      head.writeUIntBE(clock.now() + ttlSeconds * 1000, endAt, saysAt - endAt)
      head.set(says, saysAt)
      const signature = sign(null, signedPart(form, head, about), privateKey)
      return form.prefix + Buffer.concat([head, signature]).toString('base64url')
    },
  }
}

/** A text that has the form. What it says is not to be believed before {@link endOfSigned} found who signed it. */
export interface Unchecked {
  readonly form: TokenForm
  readonly text: string
  readonly says: Buffer
}

/** Null for a text of another form. */
export const readToken = (form: TokenForm, text: string): Unchecked | null => {
  if (!text.startsWith(form.prefix) || !behindPrefix.test(text.slice(form.prefix.length))) return null
  const bytes = bytesOf({ form, text })
  return bytes[0] === form.version ? { form, text, says: bytes.subarray(saysAt, signatureAt) } : null
}

const bytesOf = ({ form, text }: Pick<Unchecked, 'form' | 'text'>): Buffer =>
  Buffer.from(text.slice(form.prefix.length), 'base64url')

/**
 * Signatures that were found good, so that a download in ranges does not pay for each piece (80 µs). That a signature
 * fits never changes; whether its key still counts is read from the row each time. At best it forgets.
 */
const foundGood = new LRUCache<string, true>({ max: signaturesKeptMax })

const isSignedBy = (publicKey: string, { form, text }: Unchecked, about: Uint8Array): boolean => {
  const fact = [publicKey, text, Buffer.from(about).toString('latin1')].join('\0')
  if (foundGood.get(fact) === true) return true
  const bytes = bytesOf({ form, text })
  const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: publicKey } })
  const part = signedPart(form, bytes.subarray(0, signatureAt), about)
  if (!verify(null, part, key, bytes.subarray(signatureAt))) return false
  foundGood.set(fact, true)
  return true
}

/**
 * When a token ends, in milliseconds; null for one that nobody here signed about this. A key that ended opens nothing
 * more, whatever it signed.
 */
export const endOfSigned = async (q: Queries, token: Unchecked, about: Uint8Array): Promise<number | null> => {
  const bytes = bytesOf(token)
  const key = await findLinkKey(q, uuidIn(bytes.toString('hex', keyIdAt, endAt)))
  if (key === undefined || !isSignedBy(key.public_key, token, about)) return null
  return Math.min(bytes.readUIntBE(endAt, saysAt - endAt), Date.parse(key.ends_at))
}
