import { type CallerDeps, callerOf, refusal } from '../../../features/identity/access/access.ts'
import { type SignInDeps, signIn } from '../../../features/identity/accounts/accounts.ts'
import { secretDigest } from '../../../features/identity/sessions/secrets.ts'
import { callerOfSession } from '../../../features/identity/sessions/sessions.ts'
import { type CreatedToken, type NewToken, tokenForSession } from '../../../features/identity/tokens/tokens.ts'
import { prefixes } from '../../../kernel/credentials.ts'
import { credentialMinCharacters } from '../../../kernel/limits/identity.ts'
import { npmNameTypedMaxCharacters, npmPasswordTypedMaxCharacters } from '../../../kernel/limits/npm-accounts.ts'
import { type Sent, sentText } from './sent.ts'

/** What clients get for a sign-in, keep and show from then on: a personal token, never a session or a password. */
export type SigningIn = SignInDeps & CallerDeps

export interface Typed {
  readonly name: string
  readonly password: string
}

/** Name and password as a client sent them. */
export const typedIn = (sent: Sent): Typed => ({
  name: sentText(sent, 'name', npmNameTypedMaxCharacters),
  password: sentText(sent, 'password', npmPasswordTypedMaxCharacters),
})

/** What a token is called that somebody gets by signing in from there. */
export const tokenFrom = (clientAddress: string): NewToken => ({ name: `npm login from ${clientAddress}` })

/** A token for name and password. 401 and pauses as at every sign-in; 507 `token_limit`. */
export const tokenForPassword = async (
  deps: SignInDeps,
  typed: Typed,
  clientAddress: string,
  wanted: NewToken = tokenFrom(clientAddress),
): Promise<CreatedToken> => {
  const { token } = await signIn(deps, typed, clientAddress)
  const session = await callerOfSession(deps.database.reader, token, deps.clock.now())
  return tokenForSession(deps, { id: session.credentialId, account_id: session.id }, wanted, clientAddress)
}

/**
 * What a client is to show after a sign-in. People who have a token or a key type it where a password is asked for: it
 * is handed back if it is good here, and 401 otherwise.
 */
export const credentialFor = async (deps: SigningIn, typed: Typed, clientAddress: string): Promise<string> => {
  if (!isCredential(deps, typed.password)) return (await tokenForPassword(deps, typed, clientAddress)).token
  const shown = { wire: 'npm', passFor: null, again: false }
  const caller = await callerOf(deps.database.reader, deps, typed.password, shown)
  const refused = refusal(caller, { kind: 'credential' }, new Set())
  if (refused !== null) throw refused
  return typed.password
}

const kinds = [prefixes.session, prefixes.token, prefixes.service]

const isCredential = ({ findFileKey }: Pick<CallerDeps, 'findFileKey'>, text: string): boolean =>
  text.length >= credentialMinCharacters &&
  (kinds.some((kind) => text.startsWith(kind)) || findFileKey(secretDigest(text)) !== null)
