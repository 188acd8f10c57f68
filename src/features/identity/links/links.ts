import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign, verify } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Database, Queries } from '../../../database/database.ts'
import type { LinkCaller } from '../../../kernel/caller.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { prefixes } from '../../../kernel/credentials.ts'
import { Failure } from '../../../kernel/failure.ts'
import { newId } from '../../../kernel/ids.ts'
import { linkKeySignsMs, linkSignaturesKeptMax, linkTtlSecondsMax } from '../../../kernel/limits/identity.ts'
import { findLinkKey, insertLinkKey } from './link-keys.queries.ts'

/**
 * Download links: whoever has one may fetch one artifact until it ends. A token is stored nowhere. It is signed
 * (Ed25519) by a key whose private half never leaves the memory of the process that made it; the public half is a row,
 * by which every process checks it, also after that process is gone. So neither the database nor a copy of it can make
 * a link.
 */
const linkPrefix = prefixes.link

/** What the link opens. It stands in the signature and not in the token: the path says it. */
export interface LinkTarget {
  readonly repository: string
  readonly artifactId: string
}

/*
 * Behind the prefix, in base64url: version (1 byte), id of the key (16), end in milliseconds (6), what tells links
 * apart (9), whose share of the downloads it takes (9), signature (64). These are 105 bytes, so no character of the
 * text has spare bits: each one counts.
 */
const version = 2
const keyIdAt = 1
const endAt = 17
const nonceAt = 23
const shareAt = 32
const signatureAt = 41
const form = /^dtl_[A-Za-z0-9_-]{140}$/

const signedPart = (head: Uint8Array, { repository, artifactId }: LinkTarget): Uint8Array =>
  Buffer.concat([Buffer.from('svc download link\0'), head, Buffer.from(`${repository}\0${artifactId}`)])

export interface LinkDeps {
  readonly database: Database
  readonly clock: Clock
}

interface SigningKey {
  readonly id: string
  readonly privateKey: KeyObject
  readonly retiresAtMs: number
}

/** Signs links with a key of its own, made when first needed and again when it has signed for its time. */
export interface LinkSigner {
  /** A token for the target that ends after so many seconds, made by somebody whose share of the downloads it takes. */
  sign(target: LinkTarget, ttlSeconds: number, share: string): Promise<string>
}

export const createLinkSigner = ({ database, clock }: LinkDeps): LinkSigner => {
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
    // Acknowledged, so that no link is given out that a power cut would make void.
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
    async sign(target, ttlSeconds, share) {
      const { id, privateKey } = await key()
      const head = Buffer.alloc(signatureAt)
      head.writeUInt8(version)
      head.write(id.replaceAll('-', ''), keyIdAt, 'hex')
      head.writeUIntBE(clock.now() + ttlSeconds * 1000, endAt, nonceAt - endAt)
      head.set(randomBytes(shareAt - nonceAt), nonceAt)
      head.write(share, shareAt, 'base64url')
      const signature = sign(null, signedPart(head, target), privateKey)
      return linkPrefix + Buffer.concat([head, signature]).toString('base64url')
    },
  }
}

const noLink = (): Failure =>
  new Failure('credential_invalid', 'This is no download link of this service to this file. Ask for a new one.')

/**
 * Signatures that were found good, so that a download in ranges does not pay for each piece (80 µs). That a signature
 * fits never changes; whether its key still counts is read from the row each time. At best it forgets.
 */
const foundGood = new LRUCache<string, true>({ max: linkSignaturesKeptMax })

const isSignedBy = (publicKey: string, token: string, head: Uint8Array, signature: Uint8Array, target: LinkTarget) => {
  const fact = [publicKey, token, target.repository, target.artifactId].join('\0')
  if (foundGood.get(fact) === true) return true
  const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: publicKey } })
  if (!verify(null, signedPart(head, target), key, signature)) return false
  foundGood.set(fact, true)
  return true
}

const uuidOf = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/**
 * The caller behind a link to this target. 401 `token_expired` to the holder of the exact token, otherwise
 * `credential_invalid`: also for a link to another artifact.
 */
export const callerOfLink = async (
  q: Queries,
  token: string,
  target: LinkTarget,
  nowMs: number,
): Promise<LinkCaller> => {
  if (!form.test(token)) throw noLink()
  const bytes = Buffer.from(token.slice(linkPrefix.length), 'base64url')
  const head = bytes.subarray(0, signatureAt)
  if (head[0] !== version) throw noLink()
  const key = await findLinkKey(q, uuidOf(head.subarray(keyIdAt, endAt)))
  if (key === undefined) throw noLink()
  const signature = bytes.subarray(signatureAt)
  if (!isSignedBy(key.public_key, token, head, signature, target)) throw noLink()
  // A key that ended opens nothing more, whatever it signed.
  if (head.readUIntBE(endAt, nonceAt - endAt) <= nowMs || key.ends_at <= timestamp(nowMs))
    throw new Failure('token_expired', 'The download link has expired. Ask for a new one.')
  return {
    kind: 'link',
    credential: 'download-link',
    id: head.toString('base64url', nonceAt, shareAt),
    administrator: false,
    repository: target.repository,
    share: head.toString('base64url', shareAt),
  }
}
