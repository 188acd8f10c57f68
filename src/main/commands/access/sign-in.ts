import * as accounts from '../../../features/identity/accounts/operations.ts'
import { CommandFailed } from '../../client/command-failed.ts'
import { addressFrom, addressIn, leadsHere } from '../../client/connect.ts'
import { lineFromInput, secretFromInput } from '../../client/secret-input.ts'
import { asDeclared, serviceAt } from '../../client/service.ts'
import { forgetSignIn, keepSignIn, type SignIn, signInAt, signIns } from '../../client/sign-ins.ts'
import { type OutputOptions, tell } from '../output.ts'

const addressOf = (text: string | undefined): string =>
  text === undefined ? addressFrom(process.env) : addressIn(text, `${JSON.stringify(text)} is`)

/** Signs in with name and password, and keeps the session for the commands that follow. */
export const login = async (text: string | undefined, options: OutputOptions & { user?: string }): Promise<void> => {
  const address = addressOf(text)
  if (address.startsWith('http:') && !leadsHere(address))
    console.error(`svc: ${address} is not encrypted: who is on the way reads the password, and whatever follows.`)
  const name = options.user ?? (await lineFromInput('Name'))
  const password = await secretFromInput('Password')
  const service = serviceAt({ address, credential: null, credentialFrom: name })
  const answer = await service.call(accounts.login, { body: { name, password } })
  const { token, expiresAt, account } = asDeclared(service.endpoint, accounts.login.responses[200].schema, answer)
  const file = await keepSignIn(process.env, { address, name: account.name, token, expiresAt })
  tell(
    options,
    { address, name: account.name, expiresAt, file },
    `Signed in at ${address} as ${account.name}, until ${expiresAt}. The session is kept in ${file}; svc logout ends it.`,
  )
}

/** The session for an address; without one that for what SVC_URL names, or the latest. */
const signedIn = (text: string | undefined): SignIn => {
  const named = text !== undefined || (process.env['SVC_URL'] ?? '').trim() !== ''
  const found = named ? signInAt(process.env, addressOf(text)) : signIns(process.env)[0]
  if (found !== undefined) return found
  throw new CommandFailed('credentialRefused', `Nobody is signed in${named ? ` at ${addressOf(text)}` : ''}: svc login`)
}

/** Ends a session, and forgets it here whatever the service says. */
export const logout = async (text: string | undefined, options: OutputOptions): Promise<void> => {
  const { address, name, token, expiresAt } = signedIn(text)
  await forgetSignIn(process.env, address)
  try {
    await serviceAt({ address, credential: token, credentialFrom: name }).call(accounts.logout)
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    throw new CommandFailed('failed', `Forgotten here; it may last until ${expiresAt}, since: ${error.message}`)
  }
  tell(options, { address, name }, `Signed out at ${address}.`)
}

/** Prints the session for other programs, such as curl. */
export const printToken = async (text: string | undefined, options: OutputOptions): Promise<void> => {
  const found = signedIn(text)
  tell(options, found, found.token)
}
