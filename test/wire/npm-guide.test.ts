import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ask, closeConnections } from '../harness/client.ts'
import { byLockFile, type Client, type Desk, sitDown } from '../harness/npm-clients.ts'
import { everything, type NpmService, publishing, reading, startNpmService } from '../harness/npm-service.ts'
import { endProgramsAfterTests, ownService, root, svcFile } from '../harness/processes.ts'
import { until } from '../harness/until.ts'
import { scriptsOfGitHub, scriptsOfGitLab } from './ci-scripts.ts'
import { at, paste } from './pasting.ts'

endProgramsAfterTests()
after(closeConnections)

const page = readFileSync(join(root, 'docs/guide/npm.md'), 'utf8')

/** The blocks of a form, by the heading that they stand under. */
const blocks = (heading: string, form: string): string[] => {
  const [, section = ''] = new RegExp(`^## ${heading}\\n(.*?)(?=^## |$(?![\\s\\S]))`, 'ms').exec(page) ?? []
  const found = [...section.matchAll(new RegExp(`^\`\`\`${form}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, text = '']) => text)
  assert.ok(found.length > 0, `${heading} has no block of ${form}`)
  return found
}

const password = 'correct horse battery staple'

/** A program by which a shell finds a client. */
const programFor = (desk: Desk, client: Client): string => `#!/bin/sh\nexec ${desk.command(client).join(' ')} "$@"\n`

describe('the guide to npm packages', { timeout: 290_000 }, () => {
  let site: NpmService
  let key: string
  let host: string
  before(async () => {
    site = await startNpmService('npm-guide')
    key = await site.keyFor({ releases: everything })
    host = new URL(site.service.address).host
    const publisher = await sitDown(site.npmrc(key))
    for (const name of ['@acme/thing', 'plain']) {
      const json = { name, version: '1.0.0', main: 'index.js' }
      const folder = await publisher.folder(name, { 'package.json': json, 'index.js': 'module.exports = 1\n' })
      await publisher.run('npm 11', folder, 'publish')
    }
    await publisher[Symbol.asyncDispose]()
  })
  after(() => site[Symbol.asyncDispose]())

  /** A text of the page, where the service is elsewhere than the page thinks. */
  const here = (text: string): string => text.replaceAll('127.0.0.1:8080', host)

  /** A desk with these files at home, whose programs have the credential in the variable of the page. */
  const deskWith = async (secret: string, files: Readonly<Record<string, string>>): Promise<Desk> => {
    const desk = await sitDown()
    for (const [name, text] of Object.entries(files)) await writeFile(join(desk.home, name), here(text))
    process.env['NPM_TOKEN'] = secret
    return desk
  }
  after(() => {
    delete process.env['NPM_TOKEN']
  })

  const installs = async (desk: Desk, client: Client, name: string): Promise<void> => {
    const berry = { 'yarn.lock': '', '.yarnrc.yml': 'nodeLinker: node-modules\nenableGlobalCache: false\n' }
    const folder = await desk.folder(`${client}-${name}`.replace(/\W/g, '-'), {
      'package.json': { name: 'project', version: '1.0.0', private: true },
      ...(client === 'yarn berry' ? berry : {}),
    })
    await desk.run(client, folder, client.startsWith('npm') ? 'install' : 'add', name)
    assert.match(await readFile(join(folder, 'node_modules', name, 'index.js'), 'utf8'), /exports = 1/)
  }

  test('.npmrc: one registry for everything, or one for a scope, in each client', async () => {
    const [all = '', scope = ''] = blocks('One registry for everything, or one for a scope', 'ini')
    const readers = ['npm 10', 'npm 11', 'yarn 1', 'pnpm', 'bun'] as const
    const secret = await site.keyFor({ releases: reading })
    const everywhere = await deskWith(secret, { '.npmrc': `${all}always-auth=true\n` })
    for (const client of readers) for (const name of ['plain', '@acme/thing']) await installs(everywhere, client, name)
    await everywhere[Symbol.asyncDispose]()
    const scoped = await deskWith(secret, { '.npmrc': scope })
    for (const client of readers) await installs(scoped, client, '@acme/thing')
    await scoped[Symbol.asyncDispose]()
  })

  test('.npmrc: _auth, and username with _password, say the same as _authToken', async () => {
    const secret = await site.keyFor({ releases: reading })
    const base64 = (text: string): string => Buffer.from(text).toString('base64')
    const forms = [
      [`//${host}/npm/releases/:_auth=${base64(`anybody:${secret}`)}`],
      [
        `//${host}/npm/releases/:username=anybody`,
        `//${host}/npm/releases/:_password=${base64(secret)}`,
        `//${host}/npm/releases/:email=anybody@example.org`,
      ],
    ]
    for (const lines of forms) {
      const desk = await sitDown([`@acme:registry=${site.registry()}`, ...lines])
      for (const client of ['npm 10', 'npm 11', 'yarn 1', 'pnpm', 'bun'] as const)
        await installs(desk, client, '@acme/thing')
      await desk[Symbol.asyncDispose]()
    }
  })

  test('.yarnrc.yml of berry, for everything and for a scope', async () => {
    const secret = await site.keyFor({ releases: reading })
    const [all = '', scope = ''] = blocks('One registry for everything, or one for a scope', 'yaml')
    for (const text of [all, scope]) {
      const desk = await deskWith(secret, { '.yarnrc.yml': text })
      await installs(desk, 'yarn berry', '@acme/thing')
      if (text === all) await installs(desk, 'yarn berry', 'plain')
      await desk[Symbol.asyncDispose]()
    }
  })

  test('signing in: the page opens, and the credential is in .npmrc then', async () => {
    await site.told({ path: '/api/v1/users', json: { name: 'ann', password } }, 201)
    const [login = ''] = blocks('Signing in', 'sh')
    const desk = await sitDown()
    const [, ...args] = here(login).trim().split(' ')
    const program = desk.start('npm 11', desk.home, ...args, '--no-browser')
    const opened = await until(
      'npm says which page to open',
      () => /(http:\S+\/v1\/login\/\S+)/.exec(program.stdout() + program.stderr())?.[1],
    )
    const { pathname, search } = new URL(opened)
    const told = await ask(site.service.address, {
      method: 'POST',
      path: pathname + search,
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: site.service.address },
      body: new URLSearchParams({ name: 'ann', password }).toString(),
    })
    assert.equal(told.status, 200, told.text)
    assert.equal((await program.ended).code, 0, program.stdout() + program.stderr())
    assert.match(await desk.npmrc(), /_authToken/)
    await desk[Symbol.asyncDispose]()
  })

  test('a job of GitHub and one of GitLab install what is locked, and publish what is tagged', async () => {
    const secrets = { installer: await site.keyFor({ releases: reading }), publisher: key }
    const [npmrc = ''] = blocks('One registry for everything, or one for a scope', 'ini')
    const [github = '', gitlab = ''] = blocks('On build machines', 'yaml')
    const [others = ''] = blocks('On build machines', 'sh').slice(-1)
    const desk = await sitDown()
    const bin = await desk.folder('bin', { npm: programFor(desk, 'npm 11') })
    await chmod(join(bin, 'npm'), 0o755)
    for (const [called, scripts, tag] of [
      ['by-github', scriptsOfGitHub(github), 'GITHUB_REF_NAME'],
      ['by-gitlab', scriptsOfGitLab(gitlab), 'CI_COMMIT_TAG'],
    ] as const) {
      const manifest = { name: called, version: '0.0.0', scripts: { test: 'node -e "require(\'plain\')"' } }
      const folder = await desk.folder(called, {
        'package.json': { ...manifest, dependencies: { plain: '^1.0.0' } },
        '.npmrc': here(npmrc),
      })
      const run = async (script: string, secret: string): Promise<void> => {
        const settings = { NPM_TOKEN: secret, [tag]: 'v1.2.3', PATH: `${bin}${delimiter}${desk.environment['PATH']}` }
        await paste([{ commands: script, answer: null }], {
          environment: { ...desk.environment, ...settings },
          cwd: folder,
        })
      }
      await run('npm install --package-lock-only', secrets.installer)
      const [build = '', publish = '', ...more] = scripts
      assert.deepEqual(more, [])
      await run(build, secrets.installer)
      await run(publish, secrets.publisher)
      const { json } = await site.told({ path: `/npm/releases/${called}` }, 200)
      assert.deepEqual([Object.keys(json.versions), json['dist-tags'].next], [['1.2.3'], '1.2.3'])
    }
    // Each client runs what stands there, in the test of its lock file.
    for (const [client, args] of Object.entries(byLockFile).filter(([name]) => !name.startsWith('npm')))
      assert.match(others, new RegExp(`^${client.split(' ')[0]} ${args.join(' ')}\\b`, 'm'))
    await desk[Symbol.asyncDispose]()
  })

  test('publishing, deprecating, promoting, and keys for build machines', async () => {
    const desk = await sitDown()
    await site.told({ path: '/api/v1/repositories', json: { id: 'public' } }, 201)
    const bin = await desk.folder('bin', {
      npm: programFor(desk, 'npm 11'),
      svc: `#!/bin/sh\nexec ${process.execPath} ${svcFile} "$@"\n`,
    })
    for (const name of ['npm', 'svc']) await chmod(join(bin, name), 0o755)
    const both = [...publishing, 'artifact.promote']
    const promoter = await site.keyFor({ releases: both, public: both })
    const environment = {
      ...desk.environment,
      ...site.service.settings,
      ...ownService(site.service.address),
      NPM_TOKEN: '',
      PATH: `${bin}${delimiter}${desk.environment['PATH']}`,
    }
    const [keys = ''] = blocks('On build machines', 'sh')
    const steps = [
      ...['Publishing and installing', 'Stages and promotion'].flatMap((part) => blocks(part, 'sh')),
      keys,
    ].map((commands) => ({
      commands: commands
        .replace('api() {', `PUBLISHING=$NPM_TOKEN NPM_TOKEN=${promoter}\napi() {`)
        .replace(/^(api "\$PACKAGES\/promotions.*)$/m, '$1\nNPM_TOKEN=$PUBLISHING'),
      answer: null,
    }))
    const { printed } = await paste(steps, {
      environment,
      cwd: site.service.folder,
      changed: (script) => here(at(site.service.address)(script)),
    })
    assert.match(printed[0] ?? '', /stable: '1\.0\.0'/)
    assert.match(printed[2] ?? '', /"created":true,"stages":\["released"\]/)
    const { json } = await site.told({ path: '/npm/releases/@acme%2fhello' }, 200)
    assert.deepEqual(json['dist-tags'], { latest: '1.0.0', stable: '1.0.0' })
    assert.equal(json.versions['1.0.0'].deprecated, 'use 1.0.1 or later')
    await desk[Symbol.asyncDispose]()
  })
})
