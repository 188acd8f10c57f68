import { npmCredentialsFileBytesMax, npmCredentialsLookEveryMs } from '../../kernel/limits/npm-upstream.ts'
import { FileRefused, fileState, readGuarded } from '../guarded-file.ts'
import type { Logger } from '../log.ts'
import { SettingsInvalid } from '../settings/rules.ts'

/** Headers for a request to an upstream, by its address; none where the file has none for it. */
export type CredentialsFor = (url: URL) => Promise<Readonly<Record<string, string>>>

/** What is sent to addresses that begin so: `//host/path/`. */
interface Credential {
  readonly below: string
  readonly authorization: string
}

/** Why a file of credentials is none, a clause for each line. Never has a secret in it. */
class CredentialsWrong extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(faults.join('; '))
    this.faults = faults
  }
}

const setting = 'SVC_NPM_UPSTREAM_CREDENTIALS_FILE'
const line = /^(\/\/[^\s=]*\/):(_authToken|_auth|username|_password)\s*=\s*(\S.*)$/

/** The credentials of a file as npm itself reads it. Throws a {@link CredentialsWrong} with every fault. */
export const parseCredentials = (text: string): readonly Credential[] => {
  const faults: string[] = []
  const found = new Map<string, Map<string, string>>()
  for (const [at, raw] of text.split('\n').entries()) {
    const trimmed = raw.trim()
    if (trimmed === '' || trimmed.startsWith('#') || trimmed.startsWith(';')) continue
    const [, prefix = '', field = '', value = ''] = line.exec(trimmed) ?? []
    const url = URL.parse(`https:${prefix}`)
    const fault =
      field === '' || url === null
        ? 'it is not as //host/path/:_authToken=…, :_auth=…, :username=… or :_password=…'
        : /\$\{/.test(value)
          ? 'variables are not filled in; write the secret itself'
          : null
    if (fault !== null || url === null) {
      faults.push(`line ${at + 1}: ${fault}`)
      continue
    }
    const below = `//${url.host}${url.pathname}`
    const fields = found.get(below) ?? new Map<string, string>()
    found.set(below, fields.set(field, value.trim()))
  }
  const credentials = [...found].flatMap(([below, fields]) => {
    const authorization = authorizationOf(fields)
    if (authorization === null) faults.push(`${below} has a username without a _password, or the other way round`)
    return authorization === null ? [] : [{ below, authorization }]
  })
  if (faults.length > 0) throw new CredentialsWrong(faults)
  // The longest comes first: it is meant where several are.
  return credentials.toSorted((one, other) => other.below.length - one.below.length)
}

const authorizationOf = (fields: ReadonlyMap<string, string>): string | null => {
  const [token, basic] = [fields.get('_authToken'), fields.get('_auth')]
  if (token !== undefined) return `Bearer ${token}`
  if (basic !== undefined) return `Basic ${basic}`
  const [name, password] = [fields.get('username'), fields.get('_password')]
  if (name === undefined || password === undefined) return null
  return `Basic ${Buffer.from(`${name}:${Buffer.from(password, 'base64').toString()}`).toString('base64')}`
}

/** What goes to an address, of some credentials. */
export const credentialFor = (credentials: readonly Credential[], url: URL): Readonly<Record<string, string>> => {
  const found = credentials.find(({ below }) => `//${url.host}${url.pathname}`.startsWith(below))
  return found === undefined ? {} : { authorization: found.authorization }
}

/**
 * The credentials of the file that the settings name, read again when it changes. A wrong one ends the start; later
 * what the file said before holds on.
 */
export const openCredentials = async (path: string | null, log: Logger): Promise<CredentialsFor> => {
  if (path === null) return async () => ({})
  const read = async (): Promise<readonly Credential[]> => {
    try {
      return parseCredentials(await readGuarded(path, 'read or written', npmCredentialsFileBytesMax))
    } catch (error) {
      throw error instanceof FileRefused ? new CredentialsWrong([error.message]) : error
    }
  }
  let state = await fileState(path)
  let credentials = await read().catch((error: unknown) => {
    if (!(error instanceof CredentialsWrong)) throw error
    throw new SettingsInvalid(error.faults.map((fault) => `${setting}: ${path}: ${fault}`))
  })
  let lookedAtMs = performance.now()
  const look = async (): Promise<void> => {
    lookedAtMs = performance.now()
    const now = await fileState(path)
    if (now === state) return
    state = now
    try {
      credentials = await read()
      log.info({ event: 'npm_upstream.credentials_read', path }, 'the credentials for upstreams were read again')
    } catch (error) {
      if (!(error instanceof CredentialsWrong)) throw error
      const facts = { event: 'npm_upstream.credentials_refused', path, faults: error.faults }
      log.error(facts, 'the file of credentials for upstreams is wrong; what it said before holds on')
    }
  }
  return async (url) => {
    if (performance.now() - lookedAtMs >= npmCredentialsLookEveryMs) await look()
    return credentialFor(credentials, url)
  }
}
