import { accessSync, constants, readFileSync } from 'node:fs'
import { setGlobalProxyFromEnv } from 'node:http'
import { isIP } from 'node:net'
import { isLoopback } from '../../http/pipeline/hosts.ts'
import { keyPaths } from '../keys-file.ts'
import { readSettings, type Settings } from '../settings/rules.ts'
import { CommandFailed } from './command-failed.ts'
import { type Endpoint, type Service, serviceAt } from './service.ts'
import { signInAt, signIns } from './sign-ins.ts'

/** An empty variable is an unset one. */
const given = (environment: NodeJS.ProcessEnv, name: 'SVC_URL' | 'SVC_TOKEN'): string | null => {
  const text = environment[name]?.trim()
  return text === undefined || text === '' ? null : text
}

/**
 * Where the service is: what SVC_URL says; otherwise where the session began that SVC_TOKEN is; otherwise where the
 * settings let the service of this machine listen, if its recovery key is here or nobody signed in from here; otherwise
 * where somebody signed in last. Throws for a token of which none of this tells where it belongs.
 */
export const addressFrom = (environment: NodeJS.ProcessEnv): string => {
  const url = given(environment, 'SVC_URL')
  if (url !== null) return addressIn(url)
  const settings = readSettings(environment)
  const token = given(environment, 'SVC_TOKEN')
  const ownKey = isReadable(keyPaths(settings).recoveryKey)
  if (token === null && ownKey) return ownAddress(settings)
  const kept = signIns(environment)
  const from = token === null ? kept[0] : kept.find((each) => each.token === token)
  if (from !== undefined) return from.address
  if (ownKey || kept.length === 0) return ownAddress(settings)
  throw new CommandFailed('noService', 'SVC_TOKEN is no session that is kept here: set SVC_URL to where it belongs.')
}

/**
 * Whether commands were told of a service, or signed in to one. Otherwise all that they know of is this machine, where
 * the recovery key lies.
 */
export const knowsService = (environment: NodeJS.ProcessEnv = process.env): boolean => {
  if (given(environment, 'SVC_TOKEN') !== null) return true
  const url = given(environment, 'SVC_URL')
  const settings = readSettings(environment)
  if (isReadable(keyPaths(settings).recoveryKey)) return url !== null && !isOwn(addressIn(url), settings)
  return url !== null || signIns(environment).length > 0
}

/**
 * What commands show the service at an address, the first that there is: SVC_TOKEN; the recovery key of this machine,
 * where its settings let the service listen and nowhere else; the session that was begun there with `svc login`.
 */
const endpointFrom = (environment: NodeJS.ProcessEnv): Endpoint => {
  const token = given(environment, 'SVC_TOKEN')
  const address = addressFrom(environment)
  if (token !== null) return { address, credential: token, credentialFrom: 'SVC_TOKEN' }
  const settings = readSettings(environment)
  const own = isOwn(address, settings)
  const { recoveryKey } = keyPaths(settings)
  const signedIn = own && isReadable(recoveryKey) ? undefined : signInAt(environment, address)
  if (signedIn !== undefined) {
    const { name, token: credential } = signedIn
    return { address, credential, credentialFrom: `${name}, signed in by: svc login ${address}` }
  }
  if (!own)
    throw new CommandFailed(
      'credentialRefused',
      `No credential for ${address}, and the recovery key goes nowhere but where SVC_LISTEN says. Sign in (svc login ${address}), or set SVC_TOKEN.`,
    )
  const secret = secretIn(recoveryKey)
  // Not through a proxy either, whatever NODE_USE_ENV_PROXY and HTTP_PROXY say.
  setGlobalProxyFromEnv({ http_proxy: address, https_proxy: address, no_proxy: '*' })
  return { address, credential: secret, credentialFrom: recoveryKey }
}

const isReadable = (path: string): boolean => {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

/** Whether what is sent to this address stays on this machine. */
export const leadsHere = (address: string): boolean => isThisMachine(new URL(address).hostname.replaceAll(/[[\]]/g, ''))

/** Where names below `localhost` lead, a name server says; what is said of it alone is in the files of the machine. */
const isThisMachine = (name: string): boolean => name === 'localhost' || (isIP(name) !== 0 && isLoopback(name))

export const connect = (environment: NodeJS.ProcessEnv = process.env): Service => serviceAt(endpointFrom(environment))

/** An address as it is compared: throws for what is none. */
export const addressIn = (text: string, from = 'SVC_URL: is'): string => {
  const url = URL.parse(text)
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.search !== '' ||
    url.hash !== '' ||
    url.username + url.password !== ''
  )
    throw new CommandFailed('failed', `${from} no address; write it like https://files.example.org`)
  return url.href.replace(/\/+$/, '')
}

/** Where the service of this machine listens: whoever listens everywhere listens on loopback. */
const ownAddress = ({ listen: { host, port } }: Settings): string => {
  if (port === 0) throw new CommandFailed('noService', 'SVC_LISTEN names port 0, which is any: set SVC_URL.')
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

/**
 * Whether the service of this machine listens there. Another port of it may be anybody's, and may lead anywhere; so may
 * another name for the same port.
 */
const isOwn = (address: string, settings: Settings): boolean =>
  settings.listen.port !== 0 && new URL(address).origin === new URL(ownAddress(settings)).origin

const secretIn = (path: string): string => {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    const why = code === 'ENOENT' ? `there is no ${path}` : `${path} cannot be read (${String(code)})`
    throw new CommandFailed(
      'credentialRefused',
      `No credential: SVC_TOKEN is not set, and ${why}. Sign in (svc login), set SVC_TOKEN, or run this where the service keeps its data (SVC_DATA_DIR).`,
    )
  }
}
