import { bearerOrBasicCredential } from '../../contract/credential.ts'
import type { Database } from '../../database/database.ts'
import { makePass, type PassDeps } from '../../features/identity/passes/passes.ts'
import type { CredentialCaller } from '../../kernel/caller.ts'
import { timestamp } from '../../kernel/clock.ts'
import { passSeconds } from '../../kernel/limits/identity.ts'
import { wireName } from './challenge.ts'

export interface TokenDeps extends PassDeps {
  readonly database: Database
  readonly role: 'api' | 'reader'
}

/** As the token specification of registries has it; older clients know one name of the token, newer ones the other. */
export interface TokenAnswer {
  readonly token: string
  readonly access_token: string
  readonly expires_in: number
  readonly issued_at: string
}

/**
 * What a client shows from now on: a pass for its credential. A read gateway changes nothing and has no key to sign one
 * with: it hands back the credential, which its client has already.
 */
export const tokenFor = async (
  deps: TokenDeps,
  caller: CredentialCaller,
  authorization: string | undefined,
): Promise<TokenAnswer> => {
  const shown = deps.role === 'reader' ? bearerOrBasicCredential(authorization) : null
  if (shown !== null) return answerOf(shown, passSeconds, timestamp(deps.clock.now()))
  const { token, seconds, issuedAt } = await makePass(deps.database.reader, deps, caller, wireName)
  return answerOf(token, seconds, issuedAt)
}

const answerOf = (token: string, seconds: number, issuedAt: string): TokenAnswer => ({
  token,
  access_token: token,
  expires_in: seconds,
  issued_at: issuedAt,
})
