import { parse } from 'node:querystring'
import { Failure } from '../kernel/failure.ts'
import { credentialMaxCharacters, credentialMinCharacters } from '../kernel/limits/identity.ts'

/** RFC 6750, section 2.1: the scheme without regard to case, then a token of visible characters. */
const bearer = /^bearer +([\x21-\x7e]+) *$/i

/** RFC 7617, section 2: the scheme without regard to case, then user name, colon and password in Base64. */
const basic = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i
const visible = /^[\x21-\x7e]+$/

/**
 * The credential of an `Authorization` header, or null when there is none. Throws 401 for a header of another form and,
 * without looking further, for a credential that cannot be one by its length.
 */
export const bearerCredential = (header: string | undefined): string | null => {
  if (header === undefined || header === '') return null
  const credential = bearer.exec(header)?.[1]
  if (credential === undefined)
    throw new Failure('credential_invalid', 'The Authorization header must have the form "Bearer <credential>".')
  return ofPlausibleLength(credential)
}

const ofPlausibleLength = (credential: string): string => {
  if (credential.length < credentialMinCharacters || credential.length > credentialMaxCharacters)
    throw new Failure(
      'credential_invalid',
      `A credential has ${credentialMinCharacters} to ${credentialMaxCharacters} characters.`,
    )
  return credential
}

/**
 * The download link in a query, wherever it stands among the parameters (the head of a request is bounded), or null
 * when there is none. Throws 401 for one that cannot be one.
 */
export const linkCredential = (queryText: string): string | null => {
  const { token } = parse(queryText, '&', '=', { maxKeys: 0 })
  if (token === undefined) return null
  if (typeof token !== 'string') throw new Failure('credential_invalid', 'Send the token of a download link once.')
  return ofPlausibleLength(token)
}

/**
 * Like {@link bearerCredential}, for protocols whose clients know only Basic: there the password is the credential and
 * the user name is not looked at. The name ends at the first colon, so that a password may hold more of them.
 */
export const bearerOrBasicCredential = (header: string | undefined): string | null => {
  if (header === undefined || !/^basic(?: |$)/i.test(header)) return bearerCredential(header)
  const pair = Buffer.from(basic.exec(header)?.[1] ?? '', 'base64').toString('latin1')
  const colon = pair.indexOf(':')
  const credential = pair.slice(colon + 1)
  if (colon === -1 || !visible.test(credential))
    throw new Failure('credential_invalid', 'Basic needs the Base64 of "<any name>:<credential>".')
  return ofPlausibleLength(credential)
}
