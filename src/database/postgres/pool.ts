import { Pool, types } from 'pg'
import { databaseConnectMs, postgresPoolMax } from '../../kernel/limits.ts'

/**
 * Settings of every session, sent with the greeting, so they cost no round trip. Read only unless a transaction says
 * otherwise: that is what keeps `reader` from writing. The last three let the server notice within a minute that a client has
 * vanished, so that its locks are freed. A pooler that shares sessions between clients (pgbouncer in transaction mode)
 * cannot keep them; ours is the pool.
 */
const sessionSettings = {
  default_transaction_read_only: 'on',
  default_transaction_isolation: 'read\\ committed',
  synchronous_commit: 'on',
  tcp_keepalives_idle: '20',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '3',
}

export const openPool = (url: string, onIdleError: (error: unknown) => void): Pool => {
  const { address, options } = splitOptions(url)
  const ours = Object.entries(sessionSettings).map(([name, value]) => `-c ${name}=${value}`)
  const pool = new Pool({
    connectionString: address,
    options: [options, ...ours].join(' ').trim(),
    application_name: 'svc',
    max: postgresPoolMax,
    connectionTimeoutMillis: databaseConnectMs,
    keepAlive: true,
    types: { getTypeParser: parserOf },
  })
  // Without a listener the end of an idle connection would end the process. The pool drops it and makes another.
  pool.on('error', onIdleError)
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
