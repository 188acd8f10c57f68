import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createOwner, createPerson, createRepository, grant, type Person, password } from '../harness/people.ts'
import {
  type Environment,
  endProgramsAfterTests,
  root,
  runProgram,
  runSvc,
  startProgram,
  svcFile,
} from '../harness/processes.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

endProgramsAfterTests()
after(closeConnections)

type Json = Told['json']

/** Signing in from a machine where no service is, and the commands that go on from there. */
forEachEngine((engine) => {
  let service: TestService
  let ann: Person
  let home: string
  let environment: Environment
  before(async () => {
    service = await startService(engine)
    await createOwner(service)
    ann = await createPerson(service, 'ann')
    await grant(service, ann, 'releases', 'write')
    await createRepository(service, 'hidden')
    home = mkdtempSync(join(tmpdir(), 'svc-home-'))
    environment = { XDG_CONFIG_HOME: home, SVC_DATA_DIR: join(home, 'no-data') }
  })
  after(async () => {
    await service.stop()
    rmSync(home, { recursive: true })
  })

  const file = (): string => join(home, 'svc', 'sign-ins.json')
  const svc = async (line: string, more: Environment = {}): Promise<string> => {
    const { code, stdout, stderr } = await runSvc(line.split(' '), { ...environment, ...more })
    assert.deepEqual([code, stderr], [0, ''], `svc ${line}\n${stdout}`)
    return stdout
  }
  const json = async (line: string): Promise<Json> => JSON.parse(await svc(`${line} --json`))
  const refused = async (code: number, line: string, more: Environment = {}): Promise<string> => {
    const ended = await runSvc(line.split(' '), { ...environment, ...more })
    assert.deepEqual([ended.code, ended.stdout], [code, ''], `svc ${line}\n${ended.stderr}`)
    assert.match(ended.stderr, /^svc: [^\n]+\n$/)
    return ended.stderr
  }
  /** Signs in with a password on standard input. */
  const login = async (name: string, secret = password): Promise<{ code: number | null; text: string }> => {
    const script = 'printf "%s\\n" "$PASSWORD" | "$0" "$1" login "$2" --user "$3"'
    const args = ['-c', script, process.execPath, svcFile, service.url, name]
    const program = startProgram('sh', args, { ...environment, PASSWORD: secret })
    const { code } = await program.ended
    return { code, text: program.stdout() + program.stderr() }
  }
  const sessionOf = (): string => JSON.parse(readFileSync(file(), 'utf8')).signIns[0].token
  const me = (credential: string): Promise<Told> => service.ask({ path: '/api/v1/auth/me', credential })

  describe('svc login', () => {
    it('is what commands ask for where nothing else lets them in', async () => {
      assert.match(await refused(4, 'user list'), /Sign in \(svc login\)/)
      assert.match(await refused(4, 'token'), /svc login/)
    })

    it('keeps the session for its address in a file of the owner alone, and commands take it from there', async () => {
      const { code, text } = await login('ANN')
      assert.equal(code, 0, text)
      assert.ok(text.startsWith(`Signed in at ${service.url} as ann, until 20`), text)
      assert.doesNotMatch(text, /dps_/)
      assert.equal(statSync(file()).mode & 0o777, 0o600)
      assert.equal(statSync(join(home, 'svc')).mode & 0o777, 0o700)
      assert.equal(await svc('token'), `${sessionOf()}\n`)
      assert.deepEqual(await json('repository list').then(({ items }) => items.map(({ id }: Json) => id)), ['releases'])
      assert.equal(await svc('repository list'), 'ID        YOU MAY\nreleases  write\n')
      // What the environment says comes first.
      assert.match(await svc('repository list', { SVC_URL: service.url, SVC_TOKEN: service.recoveryKey }), /^hidden/m)
      assert.match(await refused(4, 'user list'), /ann, signed in .* may not/)
    })

    it('asks at a terminal for the name, and for the password without showing it', async () => {
      const script = join(root, 'test/harness/typed-secretly.py')
      const command = [process.execPath, svcFile, 'login', service.url]
      const { code, stdout } = await runProgram('python3', [script, `owner,${password}`, ...command], environment)
      assert.equal(code, 0, stdout)
      assert.match(stdout, /Name: owner/)
      assert.ok(!stdout.includes(password), stdout)
      assert.match(stdout, /as owner, until/)
      assert.match(await svc('user list'), /^owner +administrator/m)
    })

    it('keeps nothing of a wrong password, and says nothing but that', async () => {
      const kept = readFileSync(file(), 'utf8')
      const { code, text } = await login('ann', 'a wrong password')
      assert.equal(code, 4)
      assert.match(text, /^svc: [^\n]+\n$/)
      assert.ok(!text.includes('a wrong password'))
      assert.equal(readFileSync(file(), 'utf8'), kept)
    })
  })

  describe('svc repository', () => {
    it('asks the service that one is signed in to: creates, lists and deletes, as that person', async () => {
      await login('owner')
      assert.match(await svc('repository add builds'), /^Created builds\./)
      assert.equal((await json('repository create more')).id, 'more')
      const { items } = await json('repository list')
      assert.deepEqual(
        items.map(({ id }: Json) => id),
        ['builds', 'hidden', 'more', 'releases'],
      )
      assert.deepEqual(items.find(({ id }: Json) => id === 'builds').permissions, [])
      assert.match(await refused(1, 'repository add builds'), /builds/)
      assert.equal(await svc('repository remove builds'), 'Deleted builds.\n')
      assert.deepEqual(await json('repository delete more'), { id: 'more' })
      assert.match(await refused(3, 'repository delete more'), /repository/)
      assert.match(await refused(1, 'repository add Not-An-Id'), /must be 1 to 64/)
      const { json: audit } = await service.ask({ path: '/api/v1/security-audit', credential: service.recoveryKey })
      const made = audit.items.filter(({ action }: Json) => action === 'repository.create')
      assert.match(made.at(-1).actor, /^account:/)
    })

    it('sets a quota with a key that may manage storage', async () => {
      const bindings = [binding('releases', 'storage.read', 'storage.manage')]
      const account = await createServiceAccount(service, bindings)
      const { secret } = await activeKey(service, account.id, { bindings })
      const asKeeper = { SVC_URL: service.url, SVC_TOKEN: secret }
      assert.equal(await svc('repository quota releases 5000', asKeeper), 'releases may reserve 5000 bytes.\n')
      const usage = { path: '/api/v1/repositories/releases/storage/policy', credential: secret }
      assert.equal((await service.ask(usage)).json.policy.quotaBytes, '5000')
      assert.equal(await svc('repository quota releases none', asKeeper), 'releases has no quota.\n')
      assert.match(await refused(4, 'repository quota releases 1'), /may not/)
    })
  })

  describe('svc logout', () => {
    it('ends the session, and forgets it', async () => {
      await login('ann')
      const session = sessionOf()
      assert.equal((await me(session)).status, 200)
      assert.equal(await svc('logout'), `Signed out at ${service.url}.\n`)
      assert.equal((await me(session)).status, 401)
      assert.doesNotMatch(readFileSync(file(), 'utf8'), /dps_/)
      assert.match(await refused(4, 'logout'), /Nobody is signed in/)
    })

    it('leaves a session that ended by itself to be named, with what to do', async () => {
      await login('ann')
      await service.ask({ method: 'POST', path: '/api/v1/auth/logout', credential: sessionOf() })
      assert.match(await refused(4, 'repository list'), /svc login http/)
    })

    it('does not guess what a file of others means', async () => {
      writeFileSync(file(), '{"signIns": [{"token": 5}]}')
      assert.match(await refused(1, 'repository list'), /sign-ins\.json cannot be read .* sign in again/)
    })
  })
})
