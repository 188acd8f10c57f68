import { parse } from 'node:querystring'
import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { signOut } from '../../../features/identity/accounts/accounts.ts'
import type { Signer } from '../../../features/identity/links/signer.ts'
import { sessionOfSecret } from '../../../features/identity/sessions/sessions.ts'
import { revokeTokenOfSignIn } from '../../../features/identity/tokens/tokens.ts'
import { actorFrom } from '../../../journal/actor.ts'
import type { AccountCaller } from '../../../kernel/caller.ts'
import { prefixes } from '../../../kernel/credentials.ts'
import { Failure } from '../../../kernel/failure.ts'
import { npmSignInAskAgainSeconds } from '../../../kernel/limits/npm-accounts.ts'
import { nameOf, profileOf, readerCalled } from './names.ts'
import * as operations from './operations.ts'
import { createOwnToken, ownTokens, revokeOwnToken } from './own-tokens.ts'
import { refusedOn } from './refused-on-page.ts'
import { type Sent, sentFields } from './sent.ts'
import { noSignInPage, signedInPage, signInPage } from './sign-in-page.ts'
import { credentialFor, type SigningIn, typedIn } from './signing-in.ts'
import { beginSignIn, collectSignIn, confirmSignIn, openTicket } from './web-sign-in.ts'

interface AccountsDeps extends SigningIn {
  readonly signer: Signer
  readonly role: 'api' | 'reader'
}

const userPrefix = 'org.couchdb.user:'
const noStore = { 'cache-control': 'no-store' }

/** Ends a session of the caller; one that is somebody else's, or over, is left as it is. */
const signOutOf = async (
  deps: SigningIn,
  caller: AccountCaller,
  session: string,
  clientAddress: string,
): Promise<void> => {
  const found = await sessionOfSecret(deps.database.reader, session)
  if (found?.account_id === caller.id)
    await signOut(deps, { id: caller.id, credentialId: found.session_id }, clientAddress)
}

/** What the page sends. */
const formIn = (bytes: Uint8Array): Sent => ({ ...parse(Buffer.from(bytes).toString(), '&', '=', { maxKeys: 8 }) })

export const npmAccountHandlers = (deps: AccountsDeps): BoundOperation[] => {
  const { reader } = deps.database
  return [
    handle(operations.pingNpmRegistry, async () => ({ status: 200, json: {} })),
    handle(operations.getNpmWhoami, async ({ caller }) => ({
      status: 200,
      json: { username: await nameOf(reader, caller) },
    })),
    handle(operations.putNpmUser, async ({ path, body, request }) => ({
      status: 201,
      json: {
        ok: true,
        id: path.user,
        token: await credentialFor(deps, typedIn(sentFields(body.bytes)), request.clientAddress),
      },
      headers: noStore,
    })),
    handle(operations.getNpmUser, async ({ path }) => {
      const found = await readerCalled(reader, path.repository, path.user.slice(userPrefix.length))
      return { status: 200, json: { _id: path.user, name: found.name, email: '' } }
    }),
    handle(operations.endNpmToken, async (input) => {
      const { caller, path, request } = input
      if (caller.kind === 'account') {
        if (path.token.startsWith(prefixes.session)) await signOutOf(deps, caller, path.token, request.clientAddress)
        else await revokeTokenOfSignIn(deps, caller.id, path.token, actorFrom(input))
      }
      return { status: 200, json: { ok: true } }
    }),
    handle(operations.beginNpmSignIn, async ({ path, request: { baseUrl, clientAddress } }) => {
      const { ticket, secret } = await beginSignIn(deps.signer, clientAddress)
      const at = `${baseUrl}/npm/${path.repository}/-/v1/login/${ticket}`
      const from = `from=${encodeURIComponent(clientAddress)}`
      const json = { loginUrl: `${at}?${from}`, doneUrl: `${at}/done?${from}&secret=${secret}` }
      return { status: 200, json, headers: noStore }
    }),
    handle(operations.getNpmSignInPage, ({ path, query, request: { baseUrl } }) =>
      refusedOn(
        ({ message }) => noSignInPage(baseUrl, message),
        async () => {
          await openTicket(deps, { ...path, ...query })
          return { status: 200, ...signInPage({ baseUrl, ...query }) }
        },
      ),
    ),
    handle(operations.confirmNpmSignIn, ({ path, query, body, request: { baseUrl, clientAddress } }) => {
      const shown = { baseUrl, ...query }
      return refusedOn(
        ({ code, message }) => (code === 'not_found' ? noSignInPage(baseUrl, message) : signInPage(shown, message)),
        async () => {
          await confirmSignIn(deps, { ...path, ...query }, typedIn(formIn(body.bytes)), clientAddress)
          return { status: 200, ...signedInPage(shown) }
        },
      )
    }),
    handle(operations.collectNpmSignIn, async ({ path, query, request }) => {
      if (deps.role === 'reader')
        throw new Failure('method_not_allowed', 'A read gateway makes no tokens. Ask the one that takes changes.')
      const asked = { ...path, ...query }
      // To ask for the headers alone takes nothing.
      const token = request.head ? null : await collectSignIn(deps, asked, request.clientAddress)
      if (token !== null) return { status: 200, json: { token }, headers: noStore }
      return { status: 202, json: {}, headers: { ...noStore, 'retry-after': String(npmSignInAskAgainSeconds) } }
    }),
    handle(operations.getNpmProfile, async ({ caller }) => ({ status: 200, json: await profileOf(reader, caller) })),
    handle(operations.listNpmTokens, async ({ caller }) => {
      const objects = await ownTokens(deps, caller)
      return { status: 200, json: { objects, urls: {}, total: objects.length } }
    }),
    handle(operations.createNpmToken, async ({ caller, body, request }) => ({
      status: 200,
      json: await createOwnToken(deps, caller, sentFields(body.bytes), request.clientAddress),
      headers: noStore,
    })),
    handle(operations.revokeNpmToken, async (input) => {
      await revokeOwnToken(deps, input.caller, input.path.key, actorFrom(input))
      return { status: 204, json: null }
    }),
  ]
}
