import { Failure } from '../kernel/failure.ts'
import { credentialMaxCharacters, credentialMinCharacters } from '../kernel/limits.ts'

/** RFC 6750, section 2.1: the scheme without regard to case, then a token of visible characters. */
const bearer = /^bearer +([\x21-\x7e]+) *$/i

/**
 * The credential of an `Authorization` header, or null when there is none. Throws 401 for a header of another form and,
 * without looking further, for a credential that cannot be one by its length.
 */
export const bearerCredential = (header: string | undefined): string | null => {
  if (header === undefined || header === '') return null
  const credential = bearer.exec(header)?.[1]
  if (credential === undefined)
    throw new Failure('credential_invalid', 'The Authorization header must have the form "Bearer <credential>".')
  if (credential.length < credentialMinCharacters || credential.length > credentialMaxCharacters)
    throw new Failure(
      'credential_invalid',
      `A credential has ${credentialMinCharacters} to ${credentialMaxCharacters} characters.`,
    )
  return credential
}
