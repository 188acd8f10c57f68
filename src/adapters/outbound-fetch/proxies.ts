import { isWithin, type Networks, parseNetworks } from './networks.ts'

/** A proxy of the operator's, through which the door goes outside. */
export interface OutwardProxy {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  /** For `Proxy-Authorization`; never told. */
  readonly authorization: string | null
}

/** The proxies of the operator, as the environment names them. */
export interface Proxies {
  readonly https: OutwardProxy | null
  readonly http: OutwardProxy | null
  /** Hosts and networks that are asked without one. */
  readonly except: readonly string[]
}

/** Which proxy leads to an address; null: none, the door goes there itself. */
export type ProxyFor = (url: URL) => OutwardProxy | null

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Proxies by the usual variables: `HTTPS_PROXY` and `HTTP_PROXY` by the scheme of the address, `NO_PROXY` for hosts
 * (`example.org`, `.example.org`, `*`), with a port or not, and for networks. In small letters as well, which win.
 * Throws a RangeError that names the wrong variable, and not what is in it: it may be a password.
 */
export const readProxies = (environment: Environment): Proxies => {
  const read = (name: string): string => environment[name.toLowerCase()]?.trim() || environment[name]?.trim() || ''
  return {
    https: proxyOf('HTTPS_PROXY', read('HTTPS_PROXY')),
    http: proxyOf('HTTP_PROXY', read('HTTP_PROXY')),
    except: read('NO_PROXY')
      .toLowerCase()
      .split(/[\s,]+/)
      .filter((entry) => entry !== ''),
  }
}

/** This machine is never asked through a proxy, which would take it for itself. */
export const proxyThrough =
  ({ https, http, except }: Proxies): ProxyFor =>
  (url) => {
    const host = bareHost(url)
    const isDirect = isHere(host) || except.some((entry) => isException(entry, host, portOf(url)))
    return isDirect ? null : url.protocol === 'https:' ? https : http
  }

const proxyOf = (name: string, text: string): OutwardProxy | null => {
  if (text === '') return null
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  if (url === null || !(url.protocol === 'http:' || url.protocol === 'https:') || url.hostname === '')
    throw new RangeError(`${name}: it is no address of a proxy; write it like http://proxy.example.org:3128`)
  const tls = url.protocol === 'https:'
  const named = url.username === '' && url.password === ''
  const decoded = (part: string): string => {
    try {
      return decodeURIComponent(part)
    } catch {
      throw new RangeError(`${name}: its user name or password cannot be read; write a percent sign as %25`)
    }
  }
  const credential = `${decoded(url.username)}:${decoded(url.password)}`
  return {
    host: bareHost(url),
    port: url.port === '' ? (tls ? 443 : 80) : Number(url.port),
    tls,
    authorization: named ? null : `Basic ${Buffer.from(credential).toString('base64')}`,
  }
}

/** Without the brackets of IPv6, and without the point at the end of a name that stands for itself. */
export const bareHost = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')

export const portOf = (url: URL): number =>
  url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)

const isHere = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || isWithin(host, thisMachine)
const thisMachine: Networks = parseNetworks(['127.0.0.0/8', '::1'])

const isException = (entry: string, host: string, port: number): boolean => {
  if (entry === '*') return true
  const networks = networksOf(entry)
  if (networks !== null) return isWithin(host, networks)
  const [, name = '', wanted] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry) ?? []
  return (
    (wanted === undefined || Number(wanted) === port) && name !== '' && (host === name || host.endsWith(`.${name}`))
  )
}

const networksOf = (entry: string): Networks | null => {
  try {
    return parseNetworks([entry.replace(/^\[(.*)\]$/, '$1')])
  } catch {
    return null
  }
}
