import { createHash, randomBytes } from 'node:crypto'
import type { Database } from '../../../database/database.ts'
import { type SignInDeps, signIn } from '../../../features/identity/accounts/accounts.ts'
import { endOfSigned, readToken, type Signer, type TokenForm } from '../../../features/identity/links/signer.ts'
import { sessionOpenedFor } from '../../../features/identity/sessions/sessions.ts'
import { tokenForSession } from '../../../features/identity/tokens/tokens.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { Failure } from '../../../kernel/failure.ts'
import { npmSignInSeconds } from '../../../kernel/limits/npm-accounts.ts'
import { tokenFrom } from './signing-in.ts'

/*
 * A client begins, and waits; a person opens a page, and signs in there; the client gets a token. What the client is
 * told has a ticket and a secret. The ticket, which stands in the address of the page, is signed here and says the
 * digest of the secret, so that nothing is stored of what was only begun. Signing in opens a session that is marked
 * with that digest. Whoever shows the secret gets a token instead of that session, in one step. No token is made before
 * somebody takes it, none is stored, and what ends sessions of an account ends a sign-in that nobody has collected.
 */

const form: TokenForm = { prefix: '', version: 1, label: 'svc npm sign-in' }

/** As many bytes as a ticket says. */
const digestBytes = 18

/** Signed beside the ticket, and told to whoever signs in: where the client is that waits. */
const about = (from: string): Uint8Array => Buffer.from(`from ${from}`)

const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest().subarray(0, digestBytes)

export interface Begun {
  readonly ticket: string
  readonly secret: string
}

/** Begins a sign-in for a client at an address. */
export const beginSignIn = async (signer: Signer, from: string): Promise<Begun> => {
  const secret = randomBytes(32).toString('base64url')
  return { secret, ticket: await signer.sign(form, npmSignInSeconds, digestOf(secret), about(from)) }
}

interface TicketDeps {
  readonly database: Database
  readonly clock: Clock
}

export interface Shown {
  readonly ticket: string
  readonly from: string
}

/** What a session is marked with that is opened for this. 404 for a ticket that has ended, or that nobody signed. */
export const openTicket = async ({ database, clock }: TicketDeps, { ticket, from }: Shown): Promise<string> => {
  const token = readToken(form, ticket)
  const endMs = token === null ? null : await endOfSigned(database.reader, token, about(from))
  if (token === null || endMs === null || endMs <= clock.now())
    throw new Failure(
      'not_found',
      `This sign-in has ended, as each does after ${npmSignInSeconds / 60} minutes. Type npm login again.`,
    )
  return token.says.toString('hex')
}

/** Signs in for the client that waits. Throws as every sign-in does. A second time changes nothing. */
export const confirmSignIn = async (
  deps: SignInDeps,
  shown: Shown,
  typed: { readonly name: string; readonly password: string },
  clientAddress: string,
): Promise<void> => {
  const openedFor = await openTicket(deps, shown)
  if ((await sessionOpenedFor(deps.database.reader, openedFor)) !== undefined) return
  await signIn(deps, typed, clientAddress, openedFor)
}

/** The token, once somebody has signed in; null before. 404 for another secret, and for a ticket that has ended. */
export const collectSignIn = async (
  deps: TicketDeps,
  shown: Shown & { readonly secret: string },
  clientAddress: string,
): Promise<string | null> => {
  const openedFor = await openTicket(deps, shown)
  if (digestOf(shown.secret).toString('hex') !== openedFor)
    throw new Failure('not_found', 'There is no such sign-in. Type npm login again.')
  const session = await sessionOpenedFor(deps.database.reader, openedFor)
  if (session === undefined) return null
  return (await tokenForSession(deps, session, tokenFrom(shown.from), clientAddress)).token
}
