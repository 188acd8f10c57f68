import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { appendFile, chmod, chown, cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { findBinaries, serverUser } from './postgres-binaries.ts'

/** Databases on a server that lives no longer than the tests. */
export interface PostgresDatabases {
  /** A new database, empty unless it is the copy of one to which nobody is connected; answers its address. */
  createDatabase(copyOf?: string): Promise<string>
  dropDatabase(url: string): Promise<void>
}

/** A PostgreSQL of our own on a free port of 127.0.0.1. It ends with this process, however that ends. */
export interface PostgresServer extends PostgresDatabases, AsyncDisposable {
  /** Address of the database `postgres`, as its superuser. */
  readonly url: string
  /** Ends it at once, as a crash would; the data stays, so `start` brings it back at the same address. */
  halt(): Promise<void>
  start(): Promise<void>
  /** Another server that follows this one and can only be read. This one is down for a moment meanwhile. */
  replicate(): Promise<PostgresServer>
  /** Ends it and removes everything. */
  stop(): Promise<void>
}

type Settings = Readonly<Record<string, string>>

/** Durability is of no use to tests, so nothing is synced; the rest keeps it small. */
const testSettings: Settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '32MB',
  max_connections: '200',
  jit: 'off',
  io_method: 'sync',
  max_logical_replication_workers: '0',
  timezone: 'UTC',
}

/**
 * Runs the server until its input ends: when we say so, or when we are gone, even by SIGKILL. Unless told to keep the
 * data it also cleans up. In a process group of its own, so that Ctrl-C reaches it only through us.
 */
const guard = `folder=$1; shift; "$@" </dev/null >>"$folder/log" 2>&1 & server=$!
read -r word; kill -QUIT $server 2>/dev/null; wait $server; [ "$word" = keep ] || rm -rf "$folder"`

const startAttempts = 5
const startTimeoutMs = 30_000

/** With settings of tests, but for those that are given. */
export const startPostgres = async (given: Settings = {}): Promise<PostgresServer> => {
  const settings = { ...testSettings, ...given }
  const binaries = await findBinaries()
  const folder = await mkdtemp(join(tmpdir(), 'svc-pg-'))
  if (serverUser.uid !== undefined) await chown(folder, serverUser.uid, serverUser.gid ?? serverUser.uid)
  try {
    await initialise(binaries, folder)
    for (let attempt = 1; ; attempt++) {
      const server = new Server(binaries, folder, await freePort(), settings)
      try {
        await server.start()
        return server
      } catch (error) {
        if (attempt === startAttempts) throw error // Somebody else may have taken the port meanwhile; try another.
      }
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

/**
 * Whatever a crash leaves is a fine beginning of a replica: it recovers, and then goes on with what the first one
 * sends.
 */
const copyFor = async (primary: string, folder: string, port: number): Promise<void> => {
  await cp(join(primary, 'data'), join(folder, 'data'), { recursive: true })
  await rm(join(folder, 'data', 'postmaster.pid'), { force: true })
  await writeFile(join(folder, 'data', 'standby.signal'), '')
  const follow = `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres'\n`
  await appendFile(join(folder, 'data', 'postgresql.auto.conf'), follow)
  const { uid, gid } = serverUser
  await chmod(join(folder, 'data'), 0o700)
  if (uid === undefined) return
  for (const name of await readdir(folder, { recursive: true })) await chown(join(folder, name), uid, gid ?? uid)
  await chown(folder, uid, gid ?? uid)
}

class Server implements PostgresServer {
  readonly url: string
  readonly #binaries: string
  readonly #folder: string
  readonly #port: number
  readonly #settings: Settings
  #process: ChildProcess | undefined

  constructor(binaries: string, folder: string, port: number, settings: Settings) {
    this.#binaries = binaries
    this.#folder = folder
    this.#port = port
    this.#settings = settings
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`
  }

  async start(): Promise<void> {
    const options = Object.entries(this.#settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const postgres = [join(this.#binaries, 'bin', 'postgres'), '-D', join(this.#folder, 'data'), '-p', `${this.#port}`]
    const child = spawn('/bin/sh', ['-c', guard, 'guard', this.#folder, ...postgres, ...options], {
      ...serverUser,
      cwd: this.#folder,
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    // It must not keep our process alive; its input closes with us.
    child.unref()
    if (child.stdin !== null && 'unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref()
    this.#process = child
    await this.#untilReady()
  }

  createDatabase(copyOf?: string): Promise<string> {
    return createDatabaseOn(this.url, copyOf)
  }

  dropDatabase(url: string): Promise<void> {
    return dropDatabaseOn(this.url, url)
  }

  async replicate(): Promise<PostgresServer> {
    await this.halt()
    const folder = await mkdtemp(join(tmpdir(), 'svc-pg-'))
    await copyFor(this.#folder, folder, this.#port)
    await this.start()
    const replica = new Server(this.#binaries, folder, await freePort(), this.#settings)
    await replica.start()
    return replica
  }

  halt(): Promise<void> {
    return this.#end('keep\n')
  }

  async stop(): Promise<void> {
    await this.#end('remove\n')
    await rm(this.#folder, { recursive: true, force: true })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #end(word: string): Promise<void> {
    const child = this.#process
    if (child === undefined) return
    this.#process = undefined
    child.ref()
    const ended = once(child, 'exit')
    child.stdin?.end(word)
    await ended
  }

  async #untilReady(): Promise<void> {
    const deadline = Date.now() + startTimeoutMs
    for (;;) {
      try {
        await withClient(this.url, (client) => client.query('select 1'))
        // Somebody else's server on that port would answer too.
        if ((await readFile(join(this.#folder, 'data', 'postmaster.pid'), 'utf8')).includes('ready')) return
      } catch (cause) {
        if (Date.now() > deadline) {
          await this.#end('keep\n')
          const log = await readFile(join(this.#folder, 'log'), 'utf8').catch(() => '')
          throw new Error(`PostgreSQL does not start:\n${log.slice(-2_000)}`, { cause })
        }
      }
      await pause(20)
    }
  }
}

/** Databases on a server that somebody else started and stops. */
export const databasesOn = (adminUrl: string): PostgresDatabases => ({
  createDatabase: (copyOf) => createDatabaseOn(adminUrl, copyOf),
  dropDatabase: (url) => dropDatabaseOn(adminUrl, url),
})

/** Copies files instead of logging pages: a quarter of the time, and nothing here is to survive a crash. */
const createDatabaseOn = async (adminUrl: string, copyOf?: string): Promise<string> => {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const template = copyOf === undefined ? 'template0' : nameIn(copyOf)
  await withClient(adminUrl, (client) =>
    client.query(`create database ${name} template ${template} strategy file_copy`),
  )
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  return url.href
}

const dropDatabaseOn = async (adminUrl: string, url: string): Promise<void> => {
  await withClient(adminUrl, (client) => client.query(`drop database if exists "${nameIn(url)}" with (force)`))
}

const nameIn = (url: string): string => new URL(url).pathname.slice(1)

const withClient = async (url: string, work: (client: Client) => Promise<unknown>): Promise<void> => {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

const initialise = async (binaries: string, folder: string): Promise<void> => {
  const options = ['--no-sync', '--no-instructions', '--locale=C', '-E', 'UTF8', '-U', 'postgres', '--auth=trust']
  const child = spawn(join(binaries, 'bin', 'initdb'), [...options, '-D', join(folder, 'data')], {
    ...serverUser,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`initdb failed (${code}): ${complaint}`)
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('There is no free port.')
  return address.port
}
