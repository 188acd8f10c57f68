import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ask, closeConnections } from '../harness/client.ts'
import { type Desk, sitDown } from '../harness/npm-clients.ts'
import { type NpmService, reading, startNpmService } from '../harness/npm-service.ts'
import { askDoctor, endProgramsAfterTests } from '../harness/processes.ts'
import { until } from '../harness/until.ts'

endProgramsAfterTests()
after(closeConnections)

const npms = ['npm 10', 'npm 11'] as const
const password = 'correct horse battery staple'

describe('clients of npm that sign in', { timeout: 280_000 }, () => {
  let site: NpmService
  let key: string
  let desk: Desk
  before(async () => {
    site = await startNpmService('npm-sign-in')
    key = await site.keyFor({ releases: reading })
    desk = await sitDown(site.npmrc(key))
  })
  after(async () => {
    await desk[Symbol.asyncDispose]()
    await site[Symbol.asyncDispose]()
  })

  const account = (name: string) => site.told({ path: '/api/v1/users', json: { name, password } }, 201)
  /** What `.npmrc` has after a sign-in. */
  const tokenAt = async (home: Desk): Promise<string> => {
    const [, token = ''] = /_authToken="?([^"\s]+)/.exec(await home.npmrc()) ?? []
    assert.match(token, /^pat_/)
    return token
  }
  const ended = (credential: string) => site.told({ path: '/npm/releases/-/whoami', credential }, 401)

  test('ping, whoami and profile answer whose credential it is', async () => {
    const { username } = (await site.told({ path: '/npm/releases/-/whoami', credential: key }, 200)).json
    assert.match(username, /^robot-/)
    for (const npm of npms) {
      await desk.run(npm, desk.home, 'ping')
      assert.equal(await desk.run(npm, desk.home, 'whoami'), username)
      assert.equal(JSON.parse(await desk.run(npm, desk.home, 'profile', 'get', '--json')).name, username)
      assert.deepEqual(JSON.parse(await desk.run(npm, desk.home, 'token', 'list', '--json')), [])
    }
    assert.equal(await desk.run('pnpm', desk.home, 'whoami'), username)
    const project = await desk.folder('bun', { 'package.json': { name: 'project', private: true } })
    assert.equal(await desk.run('bun', project, 'pm', 'whoami'), username)
  })

  test('hear in words that a credential is none, and where to get one', async () => {
    const wrong = await sitDown(site.npmrc(`pat_${'x'.repeat(43)}`))
    for (const npm of npms) assert.match(await wrong.fails(npm, wrong.home, 'whoami'), /E401[\s\S]*npm login/)
    await wrong[Symbol.asyncDispose]()
  })

  test('sign in with a password, and out, which ends the token', async () => {
    await account('ann')
    for (const npm of npms) {
      const home = await sitDown([`registry=${site.registry()}`])
      const login = ['login', '--auth-type=legacy'] as const
      assert.match((await home.types(npm, home.home, ['ann', password], ...login)).said, /Logged in/)
      assert.equal(await home.run(npm, home.home, 'whoami'), 'ann')
      const token = await tokenAt(home)
      await home.run(npm, home.home, 'logout')
      assert.doesNotMatch(await home.npmrc(), /_authToken/)
      await ended(token)
      assert.ok(!site.service.program.stderr().includes(token))
      const wrong = await home.types(npm, home.home, ['ann', 'wrong password'], ...login)
      assert.notEqual(wrong.code, 0)
      assert.match(wrong.said, /[Nn]ame or password is wrong/)
      await home[Symbol.asyncDispose]()
    }
  })

  test('sign in by a browser: npm waits until a person has signed in on the page', async () => {
    await account('bea')
    for (const npm of npms) {
      const home = await sitDown([`registry=${site.registry()}`])
      const login = home.start(npm, home.home, 'login', '--auth-type=web', '--no-browser')
      const page = await until(
        'npm says which page to open',
        () => /(http:\S+\/v1\/login\/\S+)/.exec(login.stdout() + login.stderr())?.[1],
      )
      const { pathname, search } = new URL(page)
      const shown = await ask(site.service.address, { path: pathname + search, headers: { accept: 'text/html' } })
      assert.match(shown.text, /A program at <strong>127\.0\.0\.1<\/strong> waits/)
      const told = await ask(site.service.address, {
        method: 'POST',
        path: pathname + search,
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin: site.service.address },
        body: new URLSearchParams({ name: 'bea', password }).toString(),
      })
      assert.equal(told.status, 200, told.text)
      assert.equal((await login.ended).code, 0, login.stdout() + login.stderr())
      assert.equal(await home.run(npm, home.home, 'whoami'), 'bea')
      const token = await tokenAt(home)
      await home.run(npm, home.home, 'logout')
      await ended(token)
      await home[Symbol.asyncDispose]()
    }
  })

  test('make, list and revoke tokens', async () => {
    await account('cleo')
    const { token: session } = (
      await site.told({ path: '/api/v1/auth/login', json: { name: 'cleo', password }, credential: null }, 200)
    ).json
    const home = await sitDown(site.npmrc(session))
    const made = await home.types('npm 10', home.home, [password], 'token', 'create', '--read-only')
    assert.equal(made.code, 0, made.said)
    const [one, ...others] = JSON.parse(await home.run('npm 10', home.home, 'token', 'list', '--json'))
    assert.deepEqual([others, one.readonly], [[], true])
    assert.ok(made.said.includes(one.token), made.said)
    await home.run('npm 11', home.home, 'token', 'revoke', one.key)
    assert.deepEqual(JSON.parse(await home.run('npm 11', home.home, 'token', 'list', '--json')), [])
    await home[Symbol.asyncDispose]()
  })

  test('audit what a lock file names, and hear that nothing was looked up', async () => {
    const dependencies = { anything: '1.0.0' }
    const root = { name: 'audited', version: '1.0.0', dependencies }
    const at = { version: '1.0.0', resolved: `${site.registry()}anything/-/anything-1.0.0.tgz` }
    const packages = { '': root, 'node_modules/anything': at }
    const folder = await desk.folder('audited', {
      'package.json': root,
      'package-lock.json': { ...root, lockfileVersion: 3, requires: true, packages },
    })
    for (const npm of npms) {
      const program = desk.start(npm, folder, 'audit', '--package-lock-only', '--json')
      assert.equal((await program.ended).code, 0, program.stdout() + program.stderr())
      assert.equal(JSON.parse(program.stdout()).metadata.vulnerabilities.total, 0)
      assert.match(program.stderr(), /nothing was looked up/)
    }
  })

  test('leave a store in which the doctor finds nothing', async () => {
    assert.deepEqual((await askDoctor(site.service.settings)).damage, [])
  })
})
