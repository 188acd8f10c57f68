import { posix } from 'node:path'
import { type Fields, hasOf, isObject, objectOf } from '../fields.ts'
import { badPackage, quoted } from '../refusals.ts'
import { shortName } from '../vocabulary.ts'

/*
 * What a document says of a version, beside the package.json in its tarball. Clients choose what else to install by the
 * first, and what they run by the second; those who look at a package see one of them. So both say the same, as far as
 * they are acted upon. Clients write some of it otherwise before they send it: what they mean is compared.
 */

/** Names, and what is said of each. */
type Said = ReadonlyMap<string, string>

/** 400 where a document says other things than the package.json in the tarball, of what clients act upon. */
export const refuseOtherManifest = (said: Fields, inner: Fields): void => {
  for (const [what, of] of compared) refuseDifference(what, of(said), of(inner))
  refuseOtherCommands(said, inner)
  refuseOtherScripts(said, inner)
}

const textsIn = (value: unknown): (readonly [string, string])[] =>
  Object.entries(objectOf(value)).flatMap(([name, text]) => (typeof text === 'string' ? [[name, text.trim()]] : []))

const textsOf =
  (field: string) =>
  (manifest: Fields): Said =>
    new Map(textsIn(manifest[field]))

/** All that an install brings along: clients note what is optional, or comes in the tarball, here as well or alone. */
const wantedBy = (manifest: Fields): Said =>
  new Map([
    ...bundledIn(manifest).map((name) => [name, '*'] as const),
    ...textsIn(manifest['dependencies']),
    ...textsIn(manifest['optionalDependencies']),
  ])

const bundledIn = (manifest: Fields): string[] => {
  const told = manifest['bundleDependencies'] ?? manifest['bundledDependencies']
  if (told === true) return Object.keys(objectOf(manifest['dependencies']))
  const names: readonly unknown[] = Array.isArray(told) ? told : Object.keys(objectOf(told))
  return names.filter((name) => typeof name === 'string')
}

const optionalPeersOf = (manifest: Fields): Said =>
  new Map(
    Object.entries(objectOf(manifest['peerDependenciesMeta'])).flatMap(([name, meta]) =>
      objectOf(meta)['optional'] === true ? [[name, 'optional'] as const] : [],
    ),
  )

const compared: readonly (readonly [what: string, of: (manifest: Fields) => Said])[] = [
  ['optionalDependencies', textsOf('optionalDependencies')],
  ['bundleDependencies', (manifest) => new Map(bundledIn(manifest).map((name) => [name, 'bundled']))],
  ['dependencies', wantedBy],
  ['peerDependencies', textsOf('peerDependencies')],
  ['peerDependenciesMeta', optionalPeersOf],
]

const refuseDifference = (what: string, said: Said, inner: Said): void => {
  for (const name of new Set([...said.keys(), ...inner.keys()])) {
    const [here, there] = [said.get(name), inner.get(name)]
    if (here === undefined || there === undefined || !isSameSource(here, there))
      throw difference(what, name, here, there)
  }
}

const difference = (what: string, name: string, said: string | undefined, inner: string | undefined) =>
  badPackage(
    `In ${what}, ${quoted(name)} is ${told(said)} by the document and ${told(inner)} by the package.json in the tarball. Clients go by both: publish it again as it was packed.`,
  )

const told = (text: string | undefined): string => (text === undefined ? 'nothing' : quoted(text))

/** Clients write an address of a repository of Git out, which people write short. */
const isSameSource = (one: string, other: string): boolean => {
  if (one === other) return true
  const repository = gitSource(one)
  return repository !== null && repository === gitSource(other)
}

const hosted =
  /^(?:(?:git\+)?(?:ssh|https?|git):\/\/(?:[^@/]*@)?(?<site>github\.com|gitlab\.com|bitbucket\.org)[/:]|git@(?<mail>github\.com|gitlab\.com|bitbucket\.org):|(?<short>github|gitlab|bitbucket):|(?=[^@:/]+\/))(?<path>[^:/#]+\/[^:/#]+?)(?:\.git)?(?<at>#.*)?$/u

const gitSource = (source: string): string | null => {
  const found = hosted.exec(source)?.groups
  if (found === undefined) return null
  const site = (found['site'] ?? found['mail'] ?? found['short'] ?? 'github').replace(/\.(?:com|org)$/u, '')
  return `${site}/${found['path']}${found['at'] ?? ''}`
}

/** A path below the folder of the package, whatever it leads to. */
const pathBelow = (path: string): string => posix.join('/', path.replaceAll('\\', '/')).slice(1)
const commandName = (name: string): string => posix.basename(name.replaceAll(/[\\:]/gu, '/'))

const commandsOf = ({ name, bin }: Fields): Said => {
  if (typeof bin === 'string') return new Map([[shortName(String(name)), pathBelow(bin)]])
  const paths: readonly unknown[] = Array.isArray(bin) ? bin : []
  return new Map([
    ...paths.flatMap((path) => (typeof path === 'string' ? [[commandName(path), pathBelow(path)] as const] : [])),
    ...(isObject(bin) ? textsIn(bin) : []).map(([called, path]) => [commandName(called), pathBelow(path)] as const),
  ])
}

/** Clients leave out what is not there, and name each file of a folder of commands. */
const refuseOtherCommands = (said: Fields, inner: Fields): void => {
  const own = commandsOf(inner)
  const { bin: folder } = objectOf(inner['directories'])
  const isInFolder = (name: string, path: string): boolean =>
    own.size === 0 &&
    typeof folder === 'string' &&
    posix.basename(path) === name &&
    path.startsWith(`${pathBelow(folder).replace(/\/$/u, '')}/`)
  for (const [name, path] of commandsOf(said))
    if (own.get(name) !== path && !isInFolder(name, path)) throw difference('bin', name, path, own.get(name))
}

const installScripts = ['preinstall', 'install', 'postinstall'] as const

/** Whether installing it runs something of its own. */
export const runsOnInstall = (manifest: Fields): boolean => {
  const scripts = objectOf(manifest['scripts'])
  return installScripts.some((script) => hasOf(scripts, script))
}

/** What clients run for a package with a `binding.gyp` that says nothing of it, and note in its document. */
const builtByGyp = 'node-gyp rebuild'

const refuseOtherScripts = (said: Fields, inner: Fields): void => {
  const [here, there] = [scriptsOf(said), scriptsOf(inner)]
  for (const script of installScripts) {
    const [one, other] = [here.get(script), there.get(script)]
    const isNoted = script === 'install' && one === builtByGyp && other === undefined
    if (one !== other && !isNoted) throw difference('scripts', script, one, other)
  }
}

/** Clients take the folder away in which programs of dependencies are found anyway. */
const scriptsOf = (manifest: Fields): Said =>
  new Map(
    textsIn(manifest['scripts']).map(([name, text]) => [
      name,
      text.replace(/^(?:\.[/\\])?node_modules[/\\]\.bin[/\\]/u, ''),
    ]),
  )
