import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { askedOf } from '../harness/keys-from-outside.ts'
import { startLoneService } from '../harness/lone-service.ts'
import { byLockFile, type Client, clients, type Desk, sitDown } from '../harness/npm-clients.ts'
import { everything, type NpmService, publishing, reading, startNpmService } from '../harness/npm-service.ts'
import { askDoctor, endProgramsAfterTests } from '../harness/processes.ts'

endProgramsAfterTests()
after(closeConnections)

const publishes: Readonly<Record<Client, readonly string[]>> = {
  'npm 10': ['publish'],
  'npm 11': ['publish'],
  'yarn 1': ['publish', '--new-version', '1.0.0', '--no-git-tag-version', '--non-interactive'],
  'yarn berry': ['npm', 'publish'],
  pnpm: ['publish', '--no-git-checks'],
  bun: ['publish'],
}

const lockFiles: Readonly<Record<Client, string>> = {
  'npm 10': 'package-lock.json',
  'npm 11': 'package-lock.json',
  'yarn 1': 'yarn.lock',
  'yarn berry': 'yarn.lock',
  pnpm: 'pnpm-lock.yaml',
  bun: 'bun.lock',
}

const wordOf = (client: Client): string => client.replace(' ', '-')

describe('clients of the npm registry', { timeout: 290_000 }, () => {
  let site: NpmService
  let desk: Desk
  before(async () => {
    site = await startNpmService('npm-clients')
    desk = await deskAt(site.service.address, await site.keyFor({ releases: everything }))
  })
  after(async () => {
    await desk[Symbol.asyncDispose]()
    await site[Symbol.asyncDispose]()
  })

  const document = async (name: string) =>
    (await site.told({ path: `/npm/releases/${name.replace('/', '%2f')}` }, 200)).json

  test('publish, each, what every other one installs, and then by its lock file alone', async () => {
    const names = clients.flatMap((client) => [`by-${wordOf(client)}`, `@acme/by-${wordOf(client)}`])
    for (const client of clients)
      for (const name of [`by-${wordOf(client)}`, `@acme/by-${wordOf(client)}`]) {
        const manifest = { name, version: '1.0.0', main: 'index.js', license: 'MIT' }
        const folder = await project(desk, client, name, manifest, {
          'index.js': `module.exports = ${JSON.stringify(name)}`,
        })
        if (client === 'yarn berry') await desk.run(client, folder, 'install')
        await desk.run(client, folder, ...publishes[client])
      }
    for (const name of names) assert.deepEqual(Object.keys((await document(name)).versions), ['1.0.0'])
    const dependencies = Object.fromEntries(names.map((name) => [name, '^1.0.0']))
    for (const client of clients) await installsTwice(desk, client, dependencies)
  })

  test('publish, each, what it packed, though each writes it in words of its own', async () => {
    for (const client of clients) {
      const isBerry = client === 'yarn berry'
      const name = `@acme/rich-${wordOf(client)}`
      const manifest = {
        ...{ name, version: '1.0.0', license: 'MIT', main: 'index.js', bin: './cli.js' },
        scripts: { postinstall: 'node cli.js', test: 'node --test', prepublishOnly: 'node cli.js' },
        // Berry resolves what it is to publish.
        dependencies: { 'by-npm-10': '^1.0.0', ...(isBerry ? {} : { git: 'somebody/something#v1' }) },
        optionalDependencies: { 'by-npm-11': '^1.0.0' },
        peerDependencies: { 'by-bun': '>=1' },
        peerDependenciesMeta: { 'by-bun': { optional: true } },
        publishConfig: { main: 'other.js' },
      }
      const folder = await project(desk, client, `rich-${wordOf(client)}`, manifest, {
        'index.js': '',
        'other.js': '',
        'cli.js': '#!/usr/bin/env node\n',
        // Clients build it, and some note that in the document alone.
        ...(isBerry ? {} : { 'binding.gyp': '{}' }),
      })
      if (isBerry) await desk.run(client, folder, 'install')
      await desk.run(client, folder, ...publishes[client])
      const published = (await document(name)).versions['1.0.0']
      assert.equal(published.hasInstallScript, true, client)
      assert.equal(published.scripts.postinstall, 'node cli.js', client)
      assert.equal(published.optionalDependencies['by-npm-11'], '^1.0.0', client)
    }
  })

  test('publish and install workspaces, with the versions that workspace: and catalog: stand for', async () => {
    const publishAll: readonly (readonly [Client, readonly string[]])[] = [
      ['npm 10', ['publish', '--workspaces']],
      ['npm 11', ['publish', '--workspaces']],
      ['yarn berry', ['workspaces', 'foreach', '--all', '--no-private', 'npm', 'publish']],
      ['pnpm', ['publish', '--recursive', '--no-git-checks']],
      ['bun', ['publish']],
    ]
    const catalog = { 'by-bun': '^1.0.0' }
    for (const [client, args] of publishAll) {
      const word = wordOf(client)
      const lib = `@acme/lib-${word}`
      const root = { name: `root-of-${word}`, version: '1.0.0', private: true, workspaces: ['packages/*'], catalog }
      const isNpm = client.startsWith('npm')
      const dependencies = isNpm ? { [lib]: '1.0.0', ...catalog } : { [lib]: 'workspace:*', 'by-bun': 'catalog:' }
      const folder = await project(desk, client, `workspaces-${word}`, root, {
        'packages/lib/package.json': { name: lib, version: '1.0.0', main: 'index.js' },
        'packages/lib/index.js': 'module.exports = 1',
        'packages/app/package.json': { name: `@acme/app-${word}`, version: '1.0.0', dependencies },
        'pnpm-workspace.yaml': 'packages: ["packages/*"]\ncatalog: { by-bun: ^1.0.0 }\n',
        '.yarnrc.yml': 'catalog: { by-bun: ^1.0.0 }\n',
      })
      if (client === 'yarn berry' || client === 'bun') await desk.run(client, folder, 'install')
      const folders = client === 'bun' ? ['packages/lib', 'packages/app'] : ['.']
      for (const each of folders) await desk.run(client, join(folder, each), ...args)
      const { versions } = await document(`@acme/app-${word}`)
      assert.deepEqual(versions['1.0.0'].dependencies, { [lib]: '1.0.0', ...catalog }, client)
    }
    for (const client of clients) {
      const member = { name: 'member', version: '1.0.0', dependencies: { '@acme/app-npm-11': '^1.0.0' } }
      const root = { name: 'root', version: '1.0.0', private: true, workspaces: ['packages/*'] }
      const folder = await project(desk, client, `member-${wordOf(client)}`, root, {
        'packages/member/package.json': member,
        'pnpm-workspace.yaml': 'packages: ["packages/*"]\n',
      })
      await desk.run(client, folder, 'install')
      assert.match(await readFile(join(folder, lockFiles[client]), 'utf8'), /@acme\/lib-npm-11/)
    }
  })

  test('say what there is, who they are, and that nothing was looked up for an audit', async () => {
    const installing = { name: 'asks', version: '1.0.0', private: true, dependencies: { '@acme/by-bun': '1.0.0' } }
    const username = await desk.run('npm 11', desk.home, 'whoami')
    const berry = await project(desk, 'yarn berry', 'asks-berry', installing)
    await desk.run('yarn berry', berry, 'install')
    assert.match(await desk.run('yarn berry', berry, 'npm', 'whoami'), new RegExp(username))
    assert.match(await desk.run('yarn berry', berry, 'npm', 'info', '@acme/by-bun', '--json'), /"version":"1\.0\.0"/)
    await desk.run('yarn berry', berry, 'npm', 'tag', 'add', '@acme/by-bun@1.0.0', 'berry')
    assert.match(await desk.run('yarn berry', berry, 'npm', 'tag', 'list', '@acme/by-bun'), /berry/)
    await desk.run('yarn berry', berry, 'npm', 'tag', 'remove', '@acme/by-bun', 'berry')
    assert.deepEqual((await document('@acme/by-bun'))['dist-tags'], { latest: '1.0.0' })
    assert.match(await desk.run('yarn berry', berry, 'npm', 'audit', '--all'), /No audit suggestions/)
    const bun = await project(desk, 'bun', 'asks-bun', installing)
    await desk.run('bun', bun, 'install')
    assert.match(await desk.run('bun', bun, 'audit'), /No vulnerabilities/)
    assert.match(await desk.run('bun', bun, 'info', '@acme/by-bun'), /by-bun@1\.0\.0/)
    assert.match(await desk.run('yarn 1', desk.home, 'info', '@acme/by-bun', 'version'), /1\.0\.0/)
    assert.match(await desk.run('pnpm', desk.home, 'view', '@acme/by-bun', 'version'), /1\.0\.0/)
  })

  test('hear why they may not publish, each', async () => {
    const reader = await deskAt(site.service.address, await site.keyFor({ releases: reading }))
    for (const client of clients) {
      const name = `refused-${wordOf(client)}`
      const folder = await project(reader, client, name, { name, version: '1.0.0', license: 'MIT' })
      if (client === 'yarn berry') await reader.run(client, folder, 'install')
      assert.match(await reader.fails(client, folder, ...publishes[client]), /403|Forbidden|asset\.write/i, client)
      await site.told({ path: `/npm/releases/${name}` }, 404)
    }
    await reader[Symbol.asyncDispose]()
  })

  test('install through a service that looks through to this one, and go on when this one is away', async () => {
    const secret = await site.keyFor({ releases: publishing })
    const { host } = new URL(site.service.address)
    const credentials = join(desk.home, 'upstream-npmrc')
    await writeFile(credentials, `//${host}/npm/releases/:_authToken=${secret}\n`, { mode: 0o600 })
    const front = await startLoneService('npm-front', {
      SVC_NPM_UPSTREAM_CREDENTIALS_FILE: credentials,
      SVC_NPM_UPSTREAM_ALLOW_PRIVATE: '127.0.0.0/8',
    })
    const told = askedOf(front)
    const path = '/api/v1/repositories/releases/npm-upstream'
    await told({ method: 'PUT', path, json: { url: site.registry(), reserved: ['ours-*'], freshSeconds: 0 } }, 200)
    const there = await deskAt(front.address, front.credential())
    const dependencies = { 'by-npm-11': '^1.0.0', '@acme/app-npm-11': '^1.0.0' }
    const folders = new Map<Client, string>()
    for (const client of clients) folders.set(client, await installsTwice(there, client, dependencies))
    await site[Symbol.asyncDispose]()
    const alone = await deskAt(front.address, front.credential())
    for (const [client, folder] of folders) {
      await rm(join(folder, 'node_modules'), { recursive: true })
      await alone.run(client, folder, ...byLockFile[client])
      assert.match(await readFile(join(folder, 'node_modules/by-npm-11/index.js'), 'utf8'), /by-npm-11/)
    }
    assert.deepEqual((await askDoctor(front.settings)).damage, [])
    for (const each of [there, alone]) await each[Symbol.asyncDispose]()
    await front[Symbol.asyncDispose]()
  })
})

/** A desk whose clients have one registry and a credential for it. */
const deskAt = async (address: string, secret: string): Promise<Desk> => {
  const { host } = new URL(address)
  const registry = `${address}/npm/releases/`
  const desk = await sitDown([
    `registry=${registry}`,
    `//${host}/npm/releases/:_authToken=${secret}`,
    'always-auth=true',
  ])
  const berry = [
    `npmRegistryServer: "${registry}"`,
    `npmAuthToken: "${secret}"`,
    'npmAlwaysAuth: true',
    'npmMinimalAgeGate: 0',
    'unsafeHttpWhitelist: ["127.0.0.1"]',
    'nodeLinker: node-modules',
    'enableGlobalCache: false',
    'enableImmutableInstalls: false',
    '',
  ]
  await writeFile(join(desk.home, '.yarnrc.yml'), berry.join('\n'))
  return desk
}

/** A folder in which a client works. */
const project = (
  desk: Desk,
  client: Client,
  name: string,
  manifest: object,
  files: Readonly<Record<string, string | object>> = {},
): Promise<string> =>
  desk.folder(`${wordOf(client)}/${name.replace('/', '-')}`, {
    'package.json': manifest,
    // What says to berry where a project begins.
    ...(client === 'yarn berry' ? { 'yarn.lock': '' } : {}),
    ...files,
  })

/** Installs, and then again by the lock file that came of it; where. */
const installsTwice = async (
  desk: Desk,
  client: Client,
  dependencies: Readonly<Record<string, string>>,
): Promise<string> => {
  const manifest = { name: 'installs', version: '1.0.0', private: true, dependencies }
  const folder = await project(desk, client, 'installs', manifest)
  await desk.run(client, folder, 'install')
  const locked = await readFile(join(folder, lockFiles[client]), 'utf8')
  await rm(join(folder, 'node_modules'), { recursive: true })
  await desk.run(client, folder, ...byLockFile[client])
  assert.equal(await readFile(join(folder, lockFiles[client]), 'utf8'), locked, client)
  for (const name of Object.keys(dependencies)) {
    const { version } = JSON.parse(await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8'))
    assert.equal(version, '1.0.0', `${client}: ${name}`)
  }
  return folder
}
