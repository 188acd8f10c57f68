import type { Ask } from './client.ts'
import { expectAnswer } from './expect.ts'
import { type Person, password, signIn } from './people.ts'
import type { TestService } from './service.ts'

/** A sign-in by a browser: its page, and where a client asks for the token. */
export interface BegunSignIn {
  readonly page: string
  readonly done: string
}

export const beginning = (repository = 'releases'): Ask => ({
  path: `/npm/${repository}/-/v1/login`,
  json: {},
  headers: { 'npm-auth-type': 'web' },
})

export const beginSignIn = async (service: TestService): Promise<BegunSignIn> => {
  const { loginUrl, doneUrl } = (await expectAnswer(service, beginning(), 200)).json
  return { page: loginUrl.slice(service.url.length), done: doneUrl.slice(service.url.length) }
}

/** What the page sends. */
export const confirmation = (service: TestService, page: string, name: string, secret = password): Ask => ({
  method: 'POST',
  path: page,
  headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', origin: service.url },
  body: new URLSearchParams({ name, password: secret }).toString(),
})

/** What a client sends for a name and a password. */
export const couchSignIn = (name: string, secret = password, repository = 'releases'): Ask => ({
  method: 'PUT',
  path: `/npm/${repository}/-/user/org.couchdb.user:${encodeURIComponent(name)}`,
  json: { _id: `org.couchdb.user:${name}`, name, password: secret, type: 'user', roles: [], date: '2026-01-01' },
})

/** Changes of sign-ins and tokens of a person, and an audit, by their operations. */
export const changesOfNpmSignIns = async (service: TestService, person: Person): Promise<Record<string, Ask>> => {
  const registry = '/npm/releases/-'
  const { name, token: credential } = person
  const session = await signIn(service, name)
  const tokens = `${registry}/npm/v1/tokens`
  const { key } = (await expectAnswer(service, { path: tokens, credential, json: { password } }, 200)).json
  const [open, confirmed] = [await beginSignIn(service), await beginSignIn(service)]
  await expectAnswer(service, confirmation(service, confirmed.page, name), 200)
  return {
    putNpmUser: couchSignIn(name),
    endNpmToken: { method: 'DELETE', path: `${registry}/user/token/${session}`, credential: session },
    getNpmSignInPage: { path: open.page },
    beginNpmSignIn: beginning(),
    confirmNpmSignIn: confirmation(service, open.page, name),
    collectNpmSignIn: { path: confirmed.done },
    createNpmToken: { path: tokens, credential, json: { password, name: 'changing' } },
    revokeNpmToken: { method: 'DELETE', path: `${tokens}/token/${key}`, credential },
    listNpmAdvisories: { path: `${registry}/npm/v1/security/advisories/bulk`, credential, json: {} },
  }
}
