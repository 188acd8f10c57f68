import { randomBytes } from 'node:crypto'
import { KiB } from '../src/kernel/units.ts'
import { packed, publishDocument, type TestPackage } from '../test/harness/npm-documents.ts'
import { installed } from './processes.ts'
import { type Bench, startSvc, startVerdaccio } from './servers.ts'

/** A registry of npm, as its clients see it. */
export interface NpmRegistry {
  readonly name: string
  readonly server: Bench
  /** Its address, without a slash at the end. */
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
  /** Lines of `.npmrc` by which a client finds it. */
  readonly npmrc: readonly string[]
}

/** Ours, and Verdaccio where it is installed. */
export const startNpmRegistries = async (): Promise<NpmRegistry[]> => {
  const servers = [await startSvc()]
  if (installed('verdaccio')) servers.push(await startVerdaccio())
  else console.log('verdaccio is not on the path: left out')
  return servers.map(registryOf)
}

const registryOf = (server: Bench): NpmRegistry => {
  const { url, headers } = server.download('any', '')
  const { origin, host } = new URL(url)
  const path = server.recoveryKey === undefined ? '' : '/npm/releases'
  const credential = headers['authorization']?.replace('Bearer ', '')
  return {
    ...{ name: server.name, server, headers },
    address: `${origin}${path}`,
    npmrc: [
      `registry=${origin}${path}/`,
      ...(credential === undefined ? [] : [`//${host}${path}/:_authToken=${credential}`]),
    ],
  }
}

/** A manifest of some two kilobytes, as packages have them. */
const manifestOf = (name: string, version: string): TestPackage => ({
  name,
  version,
  description: `Version ${version} of a package that is like many others: it has a sentence that says what it is for.`,
  keywords: ['bench', 'package', 'registry', 'install', 'publish'],
  license: 'MIT',
  author: { name: 'Somebody', email: 'somebody@example.org', url: 'https://example.org/somebody' },
  homepage: `https://example.org/${name}#readme`,
  repository: { type: 'git', url: `git+https://example.org/${name}.git` },
  bugs: { url: `https://example.org/${name}/issues` },
  engines: { node: '>=18' },
  main: 'index.js',
  files: ['index.js', 'lib/'],
  scripts: { test: 'node --test', lint: 'eslint .', build: 'tsc -p .', prepare: 'npm run build' },
  ...(name.startsWith('many') ? { dependencies: named('runtime', 12), devDependencies: named('development', 16) } : {}),
})

const named = (what: string, count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${what}-dependency-${index}`, `^${index + 1}.2.3`]))

/** What a client sends to publish a version, as JSON. Its tarball has so many bytes more than a package.json. */
export const documentOf = async (name: string, version: string, bytes = 64 * KiB): Promise<string> => {
  const manifest = manifestOf(name, version)
  const tarball = await packed(manifest, [{ name: 'package/index.js', content: randomBytes(bytes) }])
  return JSON.stringify((await publishDocument(manifest, { tarball })).document)
}

/** Publishes a document. Throws where it is refused. */
export const publish = async ({ address, headers, name: at }: NpmRegistry, name: string, body: string) => {
  const sent = { ...headers, 'content-type': 'application/json' }
  const answer = await fetch(`${address}/${name}`, { method: 'PUT', headers: sent, body })
  const said = await answer.text()
  if (!answer.ok) throw new Error(`${at}: ${answer.status} ${said}`)
}
