import { globSync, readFileSync, statSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Environment, type Program, root, runProgram, startProgram } from './processes.ts'
import { until } from './until.ts'

/*
 * The proxies that stand in front of svc, run with the files of deploy/. Of these only ports and places of files are
 * others than there. Imports nothing from src.
 */

export interface FrontProxy extends AsyncDisposable {
  /** What a client believes certificates by. */
  readonly authority: string
  /** Where it keeps what it has not handed on. */
  readonly folder: string
  /** All that its logs tell so far. */
  readonly logged: () => string
}

export interface FrontPorts {
  readonly https: number
  readonly http: number
  readonly service: number
}

const deploy = join(root, 'deploy')

/** Ports that are free at this moment. */
export const freePorts = async (count: number): Promise<number[]> => {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await until('ports are there', () => servers.every((server) => server.listening))
  const ports = servers.map((server) => {
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('no port')
    return address.port
  })
  for (const server of servers) server.close()
  return ports
}

/** Exactly one of what is there, so that a file that changes does not slip through. */
const replaced = (text: string, changes: Readonly<Record<string, string>>): string =>
  Object.entries(changes).reduce((current, [from, to]) => {
    if (!current.includes(from)) throw new Error(`${from} does not stand in the file any more`)
    return current.replaceAll(from, to)
  }, text)

const run = async (command: string, args: readonly string[]): Promise<void> => {
  const { code, stderr } = await runProgram(command, args)
  if (code !== 0) throw new Error(`${command}: ${stderr}`)
}

const isOpen = async (port: number, authority: string): Promise<boolean> => {
  const { code } = await runProgram('curl', [
    '-sS',
    '--cacert',
    authority,
    '-o',
    '/dev/null',
    `telnet://127.0.0.1:${port}`,
    '-m',
    '0.2',
  ])
  return code === 28
}

const serving = async (
  program: Program,
  ports: FrontPorts,
  place: { readonly folder: string; readonly authority: string },
): Promise<FrontProxy> => {
  await until('the proxy listens', async () => {
    if (program.child.exitCode !== null) throw new Error(`the proxy ended:\n${program.stdout()}${program.stderr()}`)
    return await isOpen(ports.https, place.authority)
  })
  return {
    ...place,
    logged: () =>
      [
        program.stdout(),
        program.stderr(),
        ...globSync(join(place.folder, '*.log'))
          .filter((each) => statSync(each).isFile())
          .map((each) => readFileSync(each, 'utf8')),
      ].join('\n'),
    async [Symbol.asyncDispose]() {
      program.child.kill('SIGTERM')
      await program.ended
      await rm(place.folder, { recursive: true, force: true })
    },
  }
}

/** Debian's nginx with a file of deploy/nginx. `files` is where svc has the bytes, for it to send them. */
export const startNginx = async (
  file: string,
  host: string,
  ports: FrontPorts,
  files = '/var/lib/svc/blobs',
): Promise<FrontProxy> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-nginx-'))
  const [certificate, key] = [join(folder, 'fullchain.pem'), join(folder, 'privkey.pem')]
  const names = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  await run('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', certificate, '-days', '1', ...names])
  await mkdir(join(folder, 'snippets'))
  await copyFile(join(deploy, 'nginx/proxy.conf'), join(folder, 'snippets/svc-proxy.conf'))
  const sent = replaced(await readFile(join(deploy, 'nginx/files.conf'), 'utf8'), { '/var/lib/svc/blobs': files })
  await writeFile(join(folder, 'snippets/svc-files.conf'), sent)
  const text = await readFile(join(deploy, 'nginx', file), 'utf8')
  const site = replaced(text, {
    '127.0.0.1:8080': `127.0.0.1:${ports.service}`,
    'listen 443 ssl': `listen 127.0.0.1:${ports.https} ssl`,
    '/etc/ssl/svc/fullchain.pem': certificate,
    '/etc/ssl/svc/privkey.pem': key,
    '/var/log/nginx/svc.log': join(folder, 'svc.log'),
    '/var/log/nginx/svc-error.log': join(folder, 'svc-error.log'),
    // A client says the port where it is none of the usual ones.
    'return 308 https://$host': `return 308 https://$host:${ports.https}`,
    ...(text.includes('listen 80') ? { 'listen 80': `listen 127.0.0.1:${ports.http}` } : {}),
  })
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `  ${name}_temp_path ${join(folder, `temp-${name}`)};`)
    .join('\n')
  const config = join(folder, 'nginx.conf')
  await writeFile(
    config,
    `daemon off;\nmaster_process off;\npid ${join(folder, 'pid')};\nerror_log stderr;\nevents {}\nhttp {\n${places}\n${site}\n}\n`,
  )
  const program = startProgram('nginx', ['-p', folder, '-c', config])
  return await serving(program, ports, { folder, authority: certificate })
}

/** Debian's Caddy with a file of deploy/caddy, and certificates of its own making. */
export const startCaddy = async (file: string, ports: FrontPorts): Promise<FrontProxy> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-caddy-'))
  const text = await readFile(join(deploy, 'caddy', file), 'utf8')
  const site = replaced(text, { '127.0.0.1:8080': `127.0.0.1:${ports.service}` })
  const options = [
    'admin off',
    'local_certs',
    'skip_install_trust',
    `https_port ${ports.https}`,
    `http_port ${ports.http}`,
  ]
  const config = join(folder, 'Caddyfile')
  const more = `${options.map((option) => `\t${option}\n`).join('')}\tdefault_bind 127.0.0.1\n`
  await writeFile(config, replaced(site, { '\n{\n': `\n{\n${more}` }))
  const environment: Environment = { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, HOME: folder }
  const program = startProgram('caddy', ['run', '--config', config, '--adapter', 'caddyfile'], environment)
  const authority = join(folder, 'caddy/pki/authorities/local/root.crt')
  return await serving(program, ports, { folder, authority })
}
