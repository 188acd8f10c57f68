import http from 'node:http'
import https from 'node:https'
import { connect as connectPlain, isIP, type LookupFunction, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls, createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { outboundKeptMs, outboundKeptPerOriginMax } from '../../kernel/limits/outbound.ts'
import { type Attempt, failed, translate } from './failures.ts'
import { bareHost, type OutwardProxy, portOf } from './proxies.ts'
import type { Resolve, Resolved } from './resolving.ts'

/** Where a connection is to lead. It travels with the request to whoever opens connections. */
export interface Target {
  readonly url: URL
  readonly proxy: OutwardProxy | null
  readonly attempt: Attempt
}

/** Gives a connection to a target: a new one, which was checked, or one that was kept. */
export interface Connecting {
  agentFor(target: Target): http.Agent
  /** A new one, which is the caller's. */
  connect(target: Target): Promise<Socket>
  close(): void
}

export interface ConnectingOptions {
  readonly resolve: Resolve
  /** Certificates (PEM) of authorities that are believed as well. */
  readonly authorities: readonly string[]
  readonly connectMs: number
}

type Asked = http.ClientRequestArgs & { readonly target?: Target }
type Opened = (error: Error | null, connection: Duplex) => void

export const createConnecting = ({ resolve, authorities, connectMs }: ConnectingOptions): Connecting => {
  const secure = createSecureContext({ ca: [...getCACertificates('default'), ...authorities], minVersion: 'TLSv1.2' })
  const underWay = new Set<Duplex>()

  /** Resolves when `event` says that it stands; it ends when that takes too long. */
  const standing = <T extends Duplex>(connection: T, event: string): Promise<T> =>
    new Promise((done, fail) => {
      underWay.add(connection)
      const late = setTimeout(() => connection.destroy(inVain('ETIMEDOUT')), connectMs)
      const settle = (): void => {
        clearTimeout(late)
        underWay.delete(connection)
        connection.off('error', failing)
        connection.off('close', closing)
      }
      const failing = (error: Error): void => {
        settle()
        // What comes after the first error says nothing more.
        connection.on('error', () => undefined)
        fail(error)
      }
      const closing = (): void => failing(inVain('ECONNRESET'))
      connection.on('error', failing)
      connection.on('close', closing)
      connection.once(event, () => {
        settle()
        done(connection)
      })
    })

  /** The host by its name, for TLS, and nothing but the addresses that were checked, for the connection. */
  const direct = async ({ url, attempt }: Target): Promise<Socket> => {
    const host = bareHost(url)
    const to = { host, port: portOf(url), autoSelectFamily: true, lookup: only(await resolve(host, attempt)) }
    if (url.protocol === 'http:') return standing(connectPlain(to), 'connect')
    return standing(connectTls({ ...to, ...tlsOptions(host, secure) }), 'secureConnect')
  }

  const through = async ({ url, attempt }: Target, proxy: OutwardProxy): Promise<Socket> => {
    // Whether a name leads inward is the proxy's to know: names from outside are often unknown here.
    const host = bareHost(url)
    if (isIP(host) !== 0) await resolve(host, attempt)
    if (url.protocol === 'http:') return standing(...toProxy(proxy, secure))
    const tunnel = await standing(...toProxy(proxy, secure))
    await throughTunnel(tunnel, `${url.hostname.replace(/\.$/, '')}:${portOf(url)}`, proxy, attempt, connectMs)
    return standing(connectTls({ socket: tunnel, host, ...tlsOptions(host, secure) }), 'secureConnect')
  }

  const connect = (target: Target): Promise<Socket> =>
    target.proxy === null ? direct(target) : through(target, target.proxy)

  const open = (asked: Asked, opened: Opened): void => {
    const { target } = asked
    if (target === undefined) throw new Error('a request of the door says where it goes')
    connect(target).then(
      (connection) => opened(null, connection),
      // The second argument is there when there is no error; Node's types ask for it always.
      (error: unknown) => Reflect.apply(opened, undefined, [translate(error, target.attempt)]),
    )
  }

  const kept: http.AgentOptions = {
    keepAlive: true,
    maxFreeSockets: outboundKeptPerOriginMax,
    timeout: outboundKeptMs,
    scheduling: 'lifo',
  }
  const plain = new (class extends http.Agent {
    override createConnection(asked: Asked, opened: Opened): undefined {
      open(asked, opened)
    }
  })(kept)
  const encrypted = new (class extends https.Agent {
    override createConnection(asked: Asked, opened: Opened): undefined {
      open(asked, opened)
    }
  })(kept)
  return {
    connect,
    agentFor: ({ url }) => (url.protocol === 'http:' ? plain : encrypted),
    close() {
      plain.destroy()
      encrypted.destroy()
      for (const connection of underWay) connection.destroy(inVain('ECONNRESET'))
    },
  }
}

const inVain = (code: string): Error => Object.assign(new Error(code), { code })

/** Answers what was checked, whoever asks again and for whatever name. */
const only =
  (resolved: readonly Resolved[]): LookupFunction =>
  (_name, _options, answer) => {
    answer(null, [...resolved])
  }

/** The certificate is verified for the host that was asked for, whatever a variable of the environment says. */
const tlsOptions = (host: string, secureContext: SecureContext) => ({
  secureContext,
  rejectUnauthorized: true,
  ALPNProtocols: ['http/1.1'],
  // A server is told a name, never an address (RFC 6066).
  servername: isIP(host) === 0 ? host : '',
})

const toProxy = ({ host, port, tls }: OutwardProxy, secure: SecureContext): [Socket, string] =>
  tls
    ? [connectTls({ host, port, ...tlsOptions(host, secure) }), 'secureConnect']
    : [connectPlain({ host, port, autoSelectFamily: true }), 'connect']

/** Has a proxy lead a connection on to a host. */
const throughTunnel = (
  connection: Duplex,
  host: string,
  proxy: OutwardProxy,
  attempt: Attempt,
  connectMs: number,
): Promise<void> =>
  new Promise((done, fail) => {
    const request = http.request({
      method: 'CONNECT',
      path: host,
      headers: { host, ...(proxy.authorization === null ? {} : { 'proxy-authorization': proxy.authorization }) },
      createConnection: () => connection,
    })
    const late = setTimeout(() => request.destroy(inVain('ETIMEDOUT')), connectMs)
    const refuse = (error: unknown): void => {
      clearTimeout(late)
      connection.destroy()
      fail(error)
    }
    request.on('error', refuse)
    request.on('response', ({ statusCode }) => refuse(failed(attempt, 'network', `the proxy answers ${statusCode}`)))
    request.on('connect', ({ statusCode = 0 }, _socket, early) => {
      clearTimeout(late)
      if (statusCode < 200 || statusCode > 299) refuse(failed(attempt, 'network', `the proxy answers ${statusCode}`))
      else if (early.length > 0) refuse(failed(attempt, 'answer', 'the proxy says more than it was asked'))
      else done()
    })
    request.end()
  })
