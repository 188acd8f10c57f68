import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { answers, freePort, installed, makeFolder, run, start } from './processes.ts'
import { median } from './table.ts'

export interface Upload {
  readonly method: 'PUT'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** A server under test: where a named file of a given digest goes to and comes from. */
export interface Bench {
  readonly name: string
  readonly process: ChildProcess
  /** Of this service alone. */
  readonly recoveryKey?: string
  download(name: string, sha256: string): { url: string; headers: Readonly<Record<string, string>> }
  upload(name: string, sha256: string): Promise<Upload>
}

/** The account that signs in, and may write to `releases`: the first one that is made. */
export const person = { name: 'bench', password: 'correct horse battery staple' }

const post = async (url: string, credential: string | null, body: unknown): Promise<Record<string, string>> => {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
    },
    body: JSON.stringify(body),
  })
  // Whoever is there already, from an earlier run, stays.
  if (!answer.ok && answer.status !== 409) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
  const told: unknown = await answer.json()
  if (typeof told !== 'object' || told === null) throw new Error(`${url}: no object`)
  return Object.fromEntries(Object.entries(told).map(([key, value]) => [key, String(value)]))
}

/** What is shipped: the sources compiled. Running from TypeScript costs memory that no user of the package pays. */
const builtProgram = (root: string): Promise<string> => {
  const program = built.get(root) ?? build(root)
  built.set(root, program)
  return program
}

const built = new Map<string, Promise<string>>()

const build = async (root: string): Promise<string> => {
  await run('npm', ['run', '--silent', 'build', '--prefix', root])
  return join(root, 'dist', 'main', 'svc.js')
}

/** What `npm start` of a checkout tells Node itself. */
const flagsOf = async (root: string): Promise<string[]> =>
  (await readFile(join(root, 'package.json'), 'utf8')).match(/"start": "exec node (.*?) ?src/)?.[1]?.split(' ') ?? []

const thisCheckout = resolve(import.meta.dirname, '..')

type Settings = Readonly<Record<string, string>>

/** This service on SQLite and a directory, unless the settings say otherwise; and how long it took to answer. */
const startProgram = async (nodeFlags: readonly string[], settings: Settings, checkout = thisCheckout) => {
  const data = settings['SVC_DATA_DIR'] ?? (await makeFolder('svc'))
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const program = await builtProgram(checkout)
  const began = performance.now()
  const child = start(process.execPath, [...(await flagsOf(checkout)), ...nodeFlags, program, 'up'], {
    SVC_DATA_DIR: data,
    SVC_LISTEN: `127.0.0.1:${port}`,
    SVC_FREE_SPACE_RESERVE_BYTES: '0',
    SVC_LOG_LEVEL: 'warn',
    // One caller asks for all that the machine gives, and waits as long as that takes.
    SVC_REQUESTS_PER_SECOND: '1000000',
    SVC_DOWNLOAD_WAIT_SECONDS: '600',
    ...settings,
  })
  await answers(`${base}/health/live`)
  return { child, base, data, seconds: (performance.now() - began) / 1000 }
}

/** Seconds until it answers in a place that is there already: the median of some starts. */
export const startSeconds = async (settings: Settings, starts = 5): Promise<number> => {
  const took: number[] = []
  for (let each = 0; each < starts; each++) {
    const { child, seconds } = await startProgram([], settings)
    took.push(seconds)
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  return median(took)
}

/** Called with a session of an account that may write to `releases`. `checkout` is that of another version. */
export const startSvc = async (
  nodeFlags: readonly string[] = [],
  settings: Settings = {},
  checkout?: string,
): Promise<Bench> => {
  const { child, base, data } = await startProgram(nodeFlags, settings, checkout)
  const key = (await readFile(join(data, 'config', 'bootstrap-token.txt'), 'utf8')).trim()
  await post(`${base}/api/v1/users`, key, person)
  const { token } = await post(`${base}/api/v1/auth/login`, null, person)
  const headers = { authorization: `Bearer ${token}` }
  const raw = (name: string): string => `${base}/api/v1/repositories/releases/raw/${name}`
  return {
    name: checkout === undefined ? 'svc' : 'before',
    process: child,
    recoveryKey: key,
    download: (name) => ({ url: raw(name), headers }),
    upload: async (name, sha256) => ({
      method: 'PUT',
      url: raw(name),
      headers: { ...headers, 'x-checksum-sha256': sha256 },
    }),
  }
}

/** Debian's nginx: sendfile for downloads, WebDAV PUT for uploads. It neither verifies nor syncs what it stores. */
const startNginx = async (): Promise<Bench> => {
  const data = await makeFolder('nginx')
  const port = await freePort()
  for (const name of ['files', 'tmp']) {
    await mkdir(join(data, name))
    await chmod(join(data, name), 0o777)
  }
  await chmod(data, 0o755)
  const config = join(data, 'nginx.conf')
  await writeFile(
    config,
    `daemon off; master_process on; worker_processes 1; pid ${data}/pid; error_log ${data}/error.log;
events { worker_connections 1024; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000; client_max_body_size 0;
  client_body_temp_path ${data}/tmp; proxy_temp_path ${data}/tmp/p; fastcgi_temp_path ${data}/tmp/f;
  uwsgi_temp_path ${data}/tmp/u; scgi_temp_path ${data}/tmp/s;
  server { listen 127.0.0.1:${port}; root ${data}/files; location / { dav_methods PUT; create_full_put_path on; } }
}
`,
  )
  const child = start('nginx', ['-c', config, '-p', data])
  await answers(`http://127.0.0.1:${port}/`)
  const url = (name: string): string => `http://127.0.0.1:${port}/${name}`
  return {
    name: 'nginx',
    process: child,
    download: (name) => ({ url: url(name), headers: {} }),
    upload: async (name) => ({ method: 'PUT', url: url(name), headers: {} }),
  }
}

/**
 * Debian's docker-registry with files: a push is POST for a session and one PUT; it verifies SHA-256 and syncs files,
 * not their folders.
 */
const startRegistry = async (): Promise<Bench> => {
  const data = await makeFolder('registry')
  const port = await freePort()
  const config = join(data, 'config.yml')
  await writeFile(
    config,
    `version: 0.1
log: { level: error, accesslog: { disabled: true } }
storage: { filesystem: { rootdirectory: ${data}/files }, cache: { blobdescriptor: inmemory } }
http: { addr: "127.0.0.1:${port}" }
`,
  )
  return imageServer('docker-registry', ['serve', config], port)
}

/** zot with files, synced as the others are; whoever has built it has it on the path. */
const startZot = async (): Promise<Bench> => {
  const data = await makeFolder('zot')
  const port = await freePort()
  const config = join(data, 'config.json')
  const storage = { rootDirectory: join(data, 'files'), commit: true }
  const http = { address: '127.0.0.1', port: String(port) }
  await writeFile(config, JSON.stringify({ distSpecVersion: '1.1.1', storage, http, log: { level: 'error' } }))
  return imageServer('zot', ['serve', config], port)
}

const imageServer = async (command: string, options: readonly string[], port: number): Promise<Bench> => {
  const child = start(command, options)
  const origin = `http://127.0.0.1:${port}`
  const base = `${origin}/v2/bench`
  await answers(`${origin}/v2/`)
  return {
    name: command,
    process: child,
    download: (_, sha256) => ({ url: `${base}/blobs/sha256:${sha256}`, headers: {} }),
    upload: async (_, sha256) => {
      const session = await fetch(`${base}/blobs/uploads/`, { method: 'POST' })
      const location = new URL(session.headers.get('location') ?? '', origin)
      location.searchParams.set('digest', `sha256:${sha256}`)
      return { method: 'PUT', url: location.href, headers: { 'content-type': 'application/octet-stream' } }
    },
  }
}

/**
 * giftless, a server of Git LFS, with files, one process and as many threads as clients send at once; whoever has
 * installed it and gunicorn (pip) has both on the path. 0.6.2 asks pip for nothing that it imports: `flask`,
 * `flask-classful`, `flask-marshmallow`, `marshmallow-enum`, `webargs`, `figcan`, `pyyaml`, `python-dateutil`,
 * `python-dotenv`, `typing-extensions`, `cachetools`, `importlib-metadata`, `cryptography`, and `pyjwt` below 2.10,
 * since newer ones refuse the passes of nobody, and with them all that a client sends. It neither verifies nor syncs
 * what it stores.
 */
export const startGiftless = async (): Promise<Bench> => {
  const data = await makeFolder('giftless')
  const port = await freePort()
  const config = join(data, 'giftless.yml')
  await writeFile(
    config,
    `AUTH_PROVIDERS: [giftless.auth.allow_anon:read_write]
TRANSFER_ADAPTERS:
  basic:
    factory: giftless.transfer.basic_streaming:factory
    options: { storage_class: giftless.storage.local_storage:LocalStorage, storage_options: { path: ${data}/files } }
`,
  )
  const listen = ['--bind', `127.0.0.1:${port}`, '--workers', '1', '--threads', '16', '--timeout', '600']
  const child = start('gunicorn', [...listen, 'giftless.wsgi_entrypoint:app'], { GIFTLESS_CONFIG_FILE: config })
  const origin = `http://127.0.0.1:${port}`
  await answers(origin)
  const objectAt = (sha256: string) => ({ url: `${origin}/bench/files/objects/storage/${sha256}`, headers: {} })
  return {
    name: 'giftless',
    process: child,
    download: (_, sha256) => objectAt(sha256),
    upload: async (_, sha256) => ({ method: 'PUT', ...objectAt(sha256) }),
  }
}

/**
 * Verdaccio, a registry of npm, with files; whoever has installed it has it on the path. It asks nobody who they are,
 * looks through to no other registry, and neither verifies nor syncs what it stores.
 */
export const startVerdaccio = async (): Promise<Bench> => {
  const data = await makeFolder('verdaccio')
  const port = await freePort()
  const config = join(data, 'config.yaml')
  await writeFile(
    config,
    `storage: ${data}/files
web: { enable: false }
uplinks: {}
packages: { '**': { access: $all, publish: $all, unpublish: $all } }
max_body_size: 1gb
log: { type: stdout, format: json, level: fatal }
`,
  )
  const child = start('verdaccio', ['--config', config, '--listen', `127.0.0.1:${port}`], { NODE_ENV: 'production' })
  const origin = `http://127.0.0.1:${port}`
  await answers(`${origin}/-/ping`)
  const at = (name: string) => ({ url: `${origin}/${name}`, headers: {} })
  return { name: 'verdaccio', process: child, download: at, upload: async (name) => ({ method: 'PUT', ...at(name) }) }
}

type Starts = Readonly<Record<string, () => Promise<Bench>>>

/** By their commands, which are also their names. */
const registries: Starts = { 'docker-registry': startRegistry, zot: startZot }
const peers: Starts = { nginx: startNginx, 'docker-registry': startRegistry }

export const registryNames: readonly string[] = Object.keys(registries)

/** The peers, and this service as it was before. */
export const peerNames: readonly string[] = [...Object.keys(peers), 'before']

const startInstalled = async (of: Starts): Promise<Bench[]> => {
  const servers: Bench[] = []
  for (const [name, startPeer] of Object.entries(of)) {
    if (installed(name)) servers.push(await startPeer())
    else console.log(`${name} is not installed: left out`)
  }
  return servers
}

export const startRegistries = (): Promise<Bench[]> => startInstalled(registries)

/**
 * Starts us and whatever peers this machine has, and names those that are missing; and what stands in a checkout of
 * another version.
 */
export const startServers = async (before?: string): Promise<Bench[]> => {
  const servers = [await startSvc()]
  if (before !== undefined) servers.push(await startSvc([], {}, resolve(before)))
  return [...servers, ...(await startInstalled(peers))]
}
