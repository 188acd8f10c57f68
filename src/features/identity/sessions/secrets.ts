import { hash, randomBytes } from 'node:crypto'
import { type Sha256, toSha256 } from '../../../kernel/digest.ts'

/** 32 random bytes behind a prefix that says what the secret is, so that scanners and people recognise it. */
export const newSecret = (prefix: string): string => prefix + randomBytes(32).toString('base64url')

/** What is stored of a secret. It is random, so a plain digest cannot be guessed back. */
export const secretDigest = (secret: string): Sha256 => toSha256(hash('sha256', secret))
