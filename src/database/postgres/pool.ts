import { Pool, types } from 'pg'
import { postgresKeepAliveMs } from '../../kernel/limits/engines.ts'

/** How many connections there may be for some work, and how long things may take there. */
export interface Bounds {
  readonly connections: number
  /** Until there is a connection: one that is free, or a new one. */
  readonly connectMs: number
  /** Until the server cancels a statement, and until it does so because of a lock that it waits for. */
  readonly statementMs: number
  readonly lockMs: number
  /** Until the server ends a transaction in which nothing happens. */
  readonly idleInTransactionMs: number
  /** Until a statement without an answer is given up on our side, together with its connection. */
  readonly silenceMs: number
}

/**
 * Settings of every session, sent with the greeting, so they cost no round trip. Read only unless a transaction says
 * otherwise: that is what keeps `reader` from writing. The last three let the server notice within a minute that a
 * client has vanished, so that its locks are freed; the time-outs are for clients that are there and stand still. A
 * pooler that shares sessions between clients (pgbouncer in transaction mode) cannot keep them; ours is the pool.
 */
const sessionSettings = (bounds: Bounds): Readonly<Record<string, string>> => ({
  default_transaction_read_only: 'on',
  default_transaction_isolation: 'read\\ committed',
  synchronous_commit: 'on',
  statement_timeout: String(bounds.statementMs),
  lock_timeout: String(bounds.lockMs),
  idle_in_transaction_session_timeout: String(bounds.idleInTransactionMs),
  tcp_keepalives_idle: '20',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '3',
})

export const openPool = (url: string, bounds: Bounds, onIdleError: (error: unknown) => void): Pool => {
  const { address, options } = splitOptions(url)
  const ours = Object.entries(sessionSettings(bounds)).map(([name, value]) => `-c ${name}=${value}`)
  const pool = new Pool({
    connectionString: address,
    options: [options, ...ours].join(' ').trim(),
    application_name: 'svc',
    max: bounds.connections,
    connectionTimeoutMillis: bounds.connectMs,
    query_timeout: bounds.silenceMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: postgresKeepAliveMs,
    types: { getTypeParser: parserOf },
  })
  // Without a listener the end of an idle connection would end the process. The pool drops it and makes another. It
  // counts as closed before the server has heard of it: what is lost from then on is missed by nobody.
  pool.on('error', (error) => {
    if (!pool.ending) onIdleError(error)
  })
  return pool
}

/** `options` of the address come first, so that ours win. */
const splitOptions = (url: string): { address: string; options: string } => {
  const address = new URL(url)
  const options = address.searchParams.get('options') ?? ''
  address.searchParams.delete('options')
  return { address: address.href, options }
}

const toNumber = (text: string): number => {
  const value = Number(text)
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new RangeError(`The database holds ${text}, which a number cannot hold exactly.`)
  }
  return value
}

const parsers: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [types.builtins.INT8, toNumber],
  [types.builtins.NUMERIC, toNumber], // What `sum` of integers answers.
  [types.builtins.BOOL, (text) => (text === 't' ? 1 : 0)], // What conditions answer on SQLite.
])

const parserOf: typeof types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  (format === 'binary' ? undefined : parsers.get(oid)) ?? types.getTypeParser(oid, format)
