import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { type Program, type ProgramEnvironment, root, runProgram, startProgram } from './processes.ts'

/*
 * The clients of the npm registry, as their makers publish them, each of one version. They are no dependencies of ours:
 * whoever runs these tests has them installed once, into a folder of the machine's temporary ones.
 */

export type Client = 'npm 10' | 'npm 11' | 'yarn 1' | 'yarn berry' | 'pnpm' | 'bun'

const machine = `${process.platform}-${process.arch}`

/** Where a client lies among what is installed, and whether it is a script of Node's. */
interface Installed {
  readonly file: string
  readonly script: boolean
  readonly spec: string
}

const scriptIn = (folder: string, file: string, spec: string): Installed => ({
  file: `${folder}/${file}`,
  script: true,
  spec: `${folder}@${spec}`,
})
const programIn = (folder: string, file: string, version: string): Installed => ({
  file: `${folder}/${file}`,
  script: false,
  spec: `${folder}@${version}`,
})

const installed: Readonly<Record<Client, Installed>> = {
  'npm 10': scriptIn('npm-10', 'bin/npm-cli.js', 'npm:npm@10.9.9'),
  'npm 11': scriptIn('npm-11', 'bin/npm-cli.js', 'npm:npm@11.21.2'),
  'yarn 1': scriptIn('yarn', 'bin/yarn.js', '1.22.22'),
  'yarn berry': scriptIn('@yarnpkg/cli-dist', 'bin/yarn.js', '4.18.1'),
  pnpm: programIn(`@pnpm/exe.${machine}`, 'pnpm', '12.21.0'),
  bun: programIn(`@oven/bun-${machine.replace('arm64', 'aarch64')}`, 'bin/bun', '1.4.5'),
}

export const clients: readonly Client[] = ['npm 10', 'npm 11', 'yarn 1', 'yarn berry', 'pnpm', 'bun']

/** How each installs what its lock file says, and nothing else. */
export const byLockFile: Readonly<Record<Client, readonly string[]>> = {
  'npm 10': ['ci'],
  'npm 11': ['ci'],
  'yarn 1': ['install', '--frozen-lockfile'],
  'yarn berry': ['install', '--immutable'],
  pnpm: ['install', '--frozen-lockfile'],
  bun: ['install', '--frozen-lockfile'],
}

/** Its name says what is in it, so that another list is another folder. */
const sharedFolder = (): string => {
  const versions = Object.values(installed).map(({ spec }) => spec.replace(/^.*@/, ''))
  return join(tmpdir(), `svc-test-npm-clients-${versions.join('-')}-${machine}-${process.getuid?.() ?? 0}`)
}

/** A folder of that name in the common temporary folder may have been put there by anyone. */
const isOurs = async (folder: string): Promise<boolean> => {
  if (!existsSync(folder)) return false
  const { uid } = await stat(folder)
  if (uid !== (process.getuid?.() ?? uid)) throw new Error(`${folder} belongs to another user; remove it.`)
  return true
}

/** The npm that came with the Node that runs this. */
const install = async (folder: string): Promise<void> => {
  await writeFile(join(folder, 'package.json'), '{"private":true}')
  const plain = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-bin-links', '--no-package-lock']
  const specs = Object.values(installed).map(({ spec }) => spec)
  const { code, stderr } = await runProgram('npm', ['install', ...plain, '--prefix', folder, ...specs])
  assert.equal(code, 0, `The tests of the npm registry need its clients, and they do not install:\n${stderr}`)
}

/** `node_modules` with the clients. */
const installedClients = async (): Promise<string> => {
  const folder = sharedFolder()
  if (!(await isOurs(folder))) {
    const making = await mkdtemp(`${folder}-`)
    await install(making)
    // Several test processes may get here; the first rename wins, and the others use what it made.
    await rename(making, folder).catch(async () => await rm(making, { recursive: true, force: true }))
  }
  return join(folder, 'node_modules')
}

/** Somebody at a machine: a home of their own, with settings, sign-ins and caches. */
export interface Desk extends AsyncDisposable {
  readonly home: string
  /** What `.npmrc` in the home says now. */
  npmrc(): Promise<string>
  /** A folder in the home with these files; JSON for what is no text. */
  folder(name: string, files?: Readonly<Record<string, string | object>>): Promise<string>
  /** Runs a client in a folder; fails the test, with what it said, when the client fails. Answers what it wrote. */
  run(client: Client, folder: string, ...args: string[]): Promise<string>
  /** The same where it has to fail: what it says. */
  fails(client: Client, folder: string, ...args: string[]): Promise<string>
  /** Runs a client at a terminal, where these lines are typed as it asks: how it ends, and what it says. */
  types(
    client: Client,
    folder: string,
    lines: readonly string[],
    ...args: string[]
  ): Promise<{ readonly code: number | null; readonly said: string }>
  /** How a client is started, for scripts. */
  command(client: Client): readonly [string, ...string[]]
  /** Starts a client that goes on by itself. */
  start(client: Client, folder: string, ...args: string[]): Program
  /** What a shell needs so that `npm`, `yarn` and the others are these ones. */
  readonly environment: ProgramEnvironment
}

const typist = join(root, 'test/harness/typed-secretly.py')

/** What keeps a client at its desk: caches there, nothing sent to its makers, and nobody reached but this machine. */
const environmentOf = (home: string): ProgramEnvironment => ({
  HOME: home,
  XDG_CACHE_HOME: join(home, '.cache'),
  XDG_CONFIG_HOME: join(home, '.config'),
  XDG_DATA_HOME: join(home, '.local'),
  BUN_INSTALL: join(home, '.bun'),
  NPM_CONFIG_UPDATE_NOTIFIER: 'false',
  NPM_CONFIG_USERCONFIG: join(home, '.npmrc'),
  NPM_CONFIG_GLOBALCONFIG: join(home, 'etc/npmrc'),
  NPM_CONFIG_CACHE: join(home, '.npm'),
  YARN_CACHE_FOLDER: join(home, '.yarn-cache'),
  YARN_GLOBAL_FOLDER: join(home, '.yarn-global'),
  YARN_ENABLE_TELEMETRY: '0',
  YARN_IGNORE_PATH: '1',
  // Nobody listens there.
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,localhost',
  http_proxy: 'http://127.0.0.1:9',
  https_proxy: 'http://127.0.0.1:9',
  no_proxy: '127.0.0.1,localhost',
  CI: '1',
  // Of the npm that runs the tests, which tells its children what it is set to. An empty setting is one for some.
  ...Object.fromEntries(
    Object.keys(process.env)
      .filter((name) => /^npm_(?:config|package|lifecycle)_/.test(name))
      .map((name) => [name, undefined]),
  ),
})

/** A desk; `npmrc` is what its `.npmrc` begins with. */
export const sitDown = async (npmrc: readonly string[] = []): Promise<Desk> => {
  const modules = await installedClients()
  const home = await mkdtemp(join(tmpdir(), 'svc-npm-'))
  await writeFile(join(home, '.npmrc'), [...npmrc, ''].join('\n'))
  const environment = { ...environmentOf(home), PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) }
  const commandOf = (client: Client): readonly [string, ...string[]] => {
    const { file, script } = installed[client]
    const path = join(modules, file)
    return script ? [process.execPath, path] : [path]
  }
  const ask = async (client: Client, cwd: string, args: readonly string[], before: readonly string[] = []) => {
    const [command = '', ...rest] = [...before, ...commandOf(client), ...args]
    const ran = await runProgram(command, rest, environment, { cwd })
    return { ...ran, said: `${client} ${args.join(' ')}\n${ran.stdout}${ran.stderr}` }
  }
  return {
    home,
    environment,
    npmrc: () => readFile(join(home, '.npmrc'), 'utf8'),
    async folder(name, files = {}) {
      const folder = join(home, name)
      await mkdir(folder, { recursive: true })
      for (const [file, content] of Object.entries(files)) {
        await mkdir(dirname(join(folder, file)), { recursive: true })
        await writeFile(join(folder, file), typeof content === 'string' ? content : JSON.stringify(content))
      }
      return folder
    },
    async run(client, folder, ...args) {
      const { code, stdout, said } = await ask(client, folder, args)
      assert.equal(code, 0, said)
      return stdout.trim()
    },
    async fails(client, folder, ...args) {
      const { code, said } = await ask(client, folder, args)
      assert.notEqual(code, 0, said)
      return said
    },
    async types(client, folder, lines, ...args) {
      const { code, said } = await ask(client, folder, args, ['python3', typist, lines.join()])
      return { code, said }
    },
    command: commandOf,
    start(client, cwd, ...args) {
      const [command, ...rest] = commandOf(client)
      return startProgram(command, [...rest, ...args], environment, { cwd })
    },
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  }
}
