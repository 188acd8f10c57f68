import { readFileSync } from 'node:fs'
import { setGlobalProxyFromEnv } from 'node:http'
import { isIP } from 'node:net'
import { isLoopback } from '../../http/pipeline/hosts.ts'
import { keyPaths } from '../keys-file.ts'
import { readSettings, type Settings } from '../settings/rules.ts'
import { CommandFailed } from './command-failed.ts'
import { type Endpoint, type Service, serviceAt } from './service.ts'

/** An empty variable is an unset one. */
const given = (environment: NodeJS.ProcessEnv, name: 'SVC_URL' | 'SVC_TOKEN'): string | null => {
  const text = environment[name]?.trim()
  return text === undefined || text === '' ? null : text
}

/** Where the service is: what SVC_URL says, otherwise where the settings let the service of this machine listen. */
export const addressFrom = (environment: NodeJS.ProcessEnv): string => {
  const url = given(environment, 'SVC_URL')
  return url === null ? ownAddress(readSettings(environment)) : addressIn(url)
}

/**
 * Where commands find the service: SVC_URL and SVC_TOKEN of the environment; without them the service of this machine,
 * at the address that its settings say, and its recovery key, which never goes anywhere else.
 */
const endpointFrom = (environment: NodeJS.ProcessEnv): Endpoint => {
  const token = given(environment, 'SVC_TOKEN')
  const address = addressFrom(environment)
  if (token !== null) return { address, credential: token, credentialFrom: 'SVC_TOKEN' }
  const settings = readSettings(environment)
  if (given(environment, 'SVC_URL') !== null && !isThisMachine(new URL(address).hostname.replaceAll(/[[\]]/g, '')))
    throw new CommandFailed(
      'credentialRefused',
      `SVC_URL names ${address}, and the recovery key does not leave this machine: set SVC_TOKEN to a credential for it.`,
    )
  const { recoveryKey } = keyPaths(settings)
  // Not through a proxy either, whatever NODE_USE_ENV_PROXY and HTTP_PROXY say.
  setGlobalProxyFromEnv({ http_proxy: address, https_proxy: address, no_proxy: '*' })
  return { address, credential: secretIn(recoveryKey), credentialFrom: recoveryKey }
}

/** Where names below `localhost` lead, a name server says; what is said of it alone is in the files of the machine. */
const isThisMachine = (name: string): boolean => name === 'localhost' || (isIP(name) !== 0 && isLoopback(name))

export const connect = (environment: NodeJS.ProcessEnv = process.env): Service => serviceAt(endpointFrom(environment))

const addressIn = (text: string): string => {
  const url = URL.parse(text)
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.search !== '' ||
    url.hash !== '' ||
    url.username + url.password !== ''
  )
    throw new CommandFailed('failed', 'SVC_URL: is no address; write it like https://files.example.org')
  return url.href.replace(/\/+$/, '')
}

/** Where the service of this machine listens: whoever listens everywhere listens on loopback. */
const ownAddress = ({ listen: { host, port } }: Settings): string => {
  if (port === 0) throw new CommandFailed('noService', 'SVC_LISTEN names port 0, which is any: set SVC_URL.')
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

const secretIn = (path: string): string => {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    const why = code === 'ENOENT' ? `there is no ${path}` : `${path} cannot be read (${String(code)})`
    throw new CommandFailed(
      'credentialRefused',
      `No credential: SVC_TOKEN is not set, and ${why}. Set SVC_TOKEN, or run this where the service keeps its data (SVC_DATA_DIR).`,
    )
  }
}
