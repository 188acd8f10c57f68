import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Desk, sitDown } from '../test/harness/npm-clients.ts'
import { gets } from './load.ts'
import { documentOf, type NpmRegistry, publish, startNpmRegistries } from './npm-registries.ts'
import { cpuSeconds, forgetPeak, peakMiB } from './processes.ts'
import { manyAtOnce } from './svc-client.ts'
import { median, type Row, table } from './table.ts'

const rounds = 3
const versions = 1_000
const installedPackages = 300
const clients = 32
const getSeconds = 4
const abbreviated = { accept: 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*' }
const gzip = { 'accept-encoding': 'gzip' }
const eachPackageScript = fileURLToPath(new URL('each-package.lua', import.meta.url))

/** So much came of so many things that a server did. */
interface Figure {
  readonly perSecond: number
  /** Microseconds of the server's processor for one. */
  readonly micros: number
  readonly memory: number
}

/**
 * `npm run bench -- --npm <packages>`: publishes so many packages by 32 clients at once, and a thousand versions of
 * one; asks for its documents, for a tarball, and for what clients ask to install; and has npm install 300 packages by
 * a lock file. Beside Verdaccio where that is installed, which is asked without a credential.
 */
export const measureNpm = async (packages: number, engines: readonly string[]): Promise<void> => {
  if (engines.length === 1) console.log('This one is measured on SQLite and a folder alone.')
  const registries = await startNpmRegistries()
  const figures = new Map<string, Map<string, Figure[]>>()
  const add = (what: string, { name }: NpmRegistry, figure: Figure): void => {
    const of = figures.get(what) ?? new Map<string, Figure[]>()
    figures.set(what, of.set(name, [...(of.get(name) ?? []), figure]))
  }
  const installing = new Map<NpmRegistry, Installing>()
  for (const registry of registries) {
    const documents = await Promise.all(
      Array.from({ length: versions }, (_, n) => documentOf('many', `1.${n}.0`, 1_000)),
    )
    add('grow', registry, await measured(registry, versions, () => oneByOne(registry, documents)))
    await publishMany(registry, 'installed-', installedPackages)
    installing.set(registry, await projectAt(registry))
  }
  const each = Math.ceil(packages / rounds)
  for (let round = 0; round < rounds; round++)
    for (const registry of round % 2 === 0 ? registries : registries.toReversed()) {
      for (const [what, path, headers] of [
        ['full', '/many', { accept: 'application/json' }],
        ['full gzip', '/many', { accept: 'application/json', ...gzip }],
        ['short', '/many', abbreviated],
        ['short gzip', '/many', { ...abbreviated, ...gzip }],
        ['tarball', '/installed-7/-/installed-7-1.0.0.tgz', {}],
      ] as const)
        add(what, registry, await asked(registry, path, headers))
      add('install', registry, await asked(registry, '', { ...abbreviated, ...gzip }, eachPackageScript))
      add('publish', registry, await publishMany(registry, `published-${round}-`, each))
      const project = installing.get(registry)
      if (project === undefined) continue
      await rm(join(project.desk.home, '.npm'), { recursive: true, force: true })
      for (const state of ['cold', 'warm'] as const)
        add(state, registry, await measured(registry, installedPackages, () => install(project)))
    }
  for (const { desk } of installing.values()) await desk[Symbol.asyncDispose]()
  const rowsOf = (key: string, what: string): Row[] => {
    const row = (name: string, unit: string, better: Row['better'], of: (figure: Figure) => number): Row => ({
      ...{ what: name, unit, better, meaning: '' },
      figures: new Map([...(figures.get(key) ?? [])].map(([server, all]) => [server, median(all.map(of))])),
    })
    return [
      row(what, '1/s', 'more', ({ perSecond }) => perSecond),
      row('  CPU of the server, each', 'µs', 'less', ({ micros }) => micros),
      row('  most memory of it', 'MiB', 'less', ({ memory }) => memory),
    ]
  }
  const rows = [
    ...rowsOf('full', `full document of ${versions} versions`),
    ...rowsOf('full gzip', 'the same, compressed'),
    ...rowsOf('short', 'abbreviated document of them'),
    ...rowsOf('short gzip', 'the same, compressed'),
    ...rowsOf('tarball', 'a tarball of 64 KiB'),
    ...rowsOf('install', 'documents and tarballs of 300 packages'),
    ...rowsOf('publish', `packages published, ${clients} at once`),
    ...rowsOf('grow', `${versions} versions published of one package`),
    ...rowsOf('cold', `npm ci of ${installedPackages} packages, an empty cache: packages`),
    ...rowsOf('warm', 'the same, a full cache: packages'),
  ]
  console.log(`\nmedians of ${rounds} rounds, ${clients} clients\n${table(rows, ['verdaccio'])}`)
  for (const { server } of registries) server.process.kill('SIGTERM')
}

/** Does something so many times, and says what that took. */
const measured = async ({ server }: NpmRegistry, times: number, work: () => Promise<unknown>): Promise<Figure> => {
  const pid = server.process.pid ?? Number.NaN
  forgetPeak(pid)
  const cpu = cpuSeconds(pid)
  const began = performance.now()
  await work()
  const seconds = (performance.now() - began) / 1000
  return { perSecond: times / seconds, micros: ((cpuSeconds(pid) - cpu) / times) * 1e6, memory: peakMiB(pid) }
}

/** Asks for one path, or for those of a script, over 32 connections. */
const asked = async (
  registry: NpmRegistry,
  path: string,
  headers: Readonly<Record<string, string>>,
  script?: string,
): Promise<Figure> => {
  const { name, address } = registry
  const url = `${address}${path}`
  const scripted =
    script === undefined
      ? []
      : [script, new URL(url).pathname.replace(/\/$/, ''), 'installed-', String(installedPackages)]
  let told = { count: 1, seconds: 1 }
  const figure = await measured(registry, 1, async () => {
    told = await gets(name, url, { ...registry.headers, ...headers }, getSeconds, scripted)
  })
  return { ...figure, perSecond: told.count / told.seconds, micros: figure.micros / told.count }
}

const oneByOne = async (registry: NpmRegistry, documents: readonly string[]): Promise<void> => {
  for (const document of documents) await publish(registry, 'many', document)
}

/** Publishes so many packages of one version. What is sent is made before. */
const publishMany = async (registry: NpmRegistry, called: string, count: number): Promise<Figure> => {
  const documents = await Promise.all(Array.from({ length: count }, (_, n) => documentOf(`${called}${n}`, '1.0.0')))
  return await measured(registry, count, () =>
    manyAtOnce(count, clients, (n) => publish(registry, `${called}${n}`, documents[n] ?? '')),
  )
}

/** A project that depends on all packages, and its lock file. */
interface Installing {
  readonly desk: Desk
  readonly folder: string
}

const quietly = ['--no-audit', '--no-fund', '--ignore-scripts'] as const

const projectAt = async ({ npmrc }: NpmRegistry): Promise<Installing> => {
  const desk = await sitDown(npmrc)
  const dependencies = Object.fromEntries(
    Array.from({ length: installedPackages }, (_, n) => [`installed-${n}`, '1.0.0']),
  )
  const folder = await desk.folder('project', { 'package.json': { name: 'project', version: '1.0.0', dependencies } })
  await desk.run('npm 11', folder, 'install', '--package-lock-only', ...quietly)
  return { desk, folder }
}

const install = async ({ desk, folder }: Installing): Promise<void> => {
  await rm(join(folder, 'node_modules'), { recursive: true, force: true })
  await desk.run('npm 11', folder, 'ci', ...quietly)
}
