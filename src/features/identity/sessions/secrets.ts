import { hash, randomBytes } from 'node:crypto'
import type { CredentialCaller } from '../../../kernel/caller.ts'
import { type Sha256, toSha256 } from '../../../kernel/digest.ts'

/** 32 random bytes behind a prefix that says what the secret is, so that scanners and people recognise it. */
export const newSecret = (prefix: string): string => prefix + randomBytes(32).toString('base64url')

/** What is stored of a secret. It is random, so a plain digest cannot be guessed back. */
export const secretDigest = (secret: string): Sha256 => toSha256(hash('sha256', secret))

/** A credential that was found by its name and not by its secret. */
export interface NamedCredential {
  /** Of its secret. */
  readonly sha256: string
  /** Who has it. Throws the 401 that the secret itself would be told. */
  readonly caller: () => CredentialCaller
}
