import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { closeConnections, type Told } from '../harness/client.ts'
import { onSqlite } from '../harness/engines.ts'
import { addFileKeys } from '../harness/file-keys.ts'
import { createOwner, createPerson, createRepository, type Person, password, signIn } from '../harness/people.ts'
import {
  type Environment,
  endProgramsAfterTests,
  ownService,
  root,
  runProgram,
  runSvc,
  startProgram,
  svcFile,
} from '../harness/processes.ts'
import { startService, type TestService } from '../harness/service.ts'

endProgramsAfterTests()
after(closeConnections)

type Json = Told['json']

/**
 * Commands as people type them, in processes of their own, against a service that runs. What they ask it is asked on
 * both engines elsewhere.
 */
onSqlite((engine) => {
  let service: TestService
  let owner: Person
  let environment: Environment
  before(async () => {
    service = await startService(engine)
    owner = await createOwner(service)
    await createPerson(service, 'Ann')
    for (const id of ['builds', 'attic']) await createRepository(service, id)
    environment = { ...ownService(service.url), SVC_TOKEN: service.recoveryKey }
  })
  after(() => service.stop())

  const svc = async (line: string, more: Environment = {}): Promise<string> => {
    const { code, stdout, stderr } = await runSvc(line.split(' '), { ...environment, ...more })
    assert.deepEqual([code, stderr], [0, ''], `svc ${line}\n${stdout}`)
    return stdout
  }
  const json = async (line: string): Promise<Json> => JSON.parse(await svc(`${line} --json`))
  /** A command that ends so, with one sentence. */
  const refused = async (code: number, line: string, more: Environment = {}): Promise<string> => {
    const ended = await runSvc(line.split(' '), { ...environment, ...more })
    assert.deepEqual([ended.code, ended.stdout], [code, ''], `svc ${line}\n${ended.stderr}`)
    assert.match(ended.stderr, /^svc: [^\n]+\n$/)
    return ended.stderr
  }
  const may = async (credential: string, repository: string): Promise<string[]> => {
    const told = await service.ask({ path: '/api/v1/auth/me', credential })
    return told.json.grants.find((each: Json) => each.repository === repository)?.permissions ?? []
  }

  describe('svc user', () => {
    it('adds, lists, disables and enables, by name whatever its case', async () => {
      const made = await json('user add ben --generate')
      assert.equal(made.password.length, 24)
      await signIn(service, 'ben', made.password)
      assert.match(await svc('user disable BEN'), /^ben is disabled/)
      assert.match(
        await svc('user list'),
        /^NAME +ROLE +STATE\n(?:.*\n)*ben +disabled\n(?:.*\n)*owner +administrator\n$/,
      )
      assert.equal((await json('user enable ben')).enabled, true)
      const { items } = await json('user list')
      assert.deepEqual(Object.keys(items[0]), ['id', 'name', 'administrator', 'enabled'])
      assert.equal(
        await json('user add chief --administrator --generate').then(({ administrator }) => administrator),
        true,
      )
    })

    it('takes a password from standard input, and from a terminal without showing it', async () => {
      const typed = 'typed at a terminal'
      const script = join(root, 'test/harness/typed-secretly.py')
      const atTerminal = (lines: string, ...command: string[]) =>
        runProgram('python3', [script, lines, process.execPath, svcFile, ...command], environment)
      const { code, stdout } = await atTerminal(`${typed},${typed}`, 'user', 'add', 'dora')
      assert.equal(code, 0, stdout)
      assert.match(stdout, /^Password: \r\nAgain: \r\nCreated dora\./)
      await signIn(service, 'dora', typed)
      const differ = await atTerminal(`${typed},another password`, 'user', 'password', 'dora')
      assert.deepEqual([differ.code, differ.stdout.includes('The two passwords differ.')], [1, true])
      const piped = startProgram(
        'sh',
        ['-c', `echo 'piped into it' | "$0" "$1" user password dora`, process.execPath, svcFile],
        environment,
      )
      assert.equal((await piped.ended).code, 0, piped.stderr())
      await signIn(service, 'dora', 'piped into it')
      assert.match(await refused(1, 'user add nobody'), /nothing was given/)
    })

    it('lists the tokens of an account and revokes one by its name', async () => {
      const credential = await signIn(service, 'Ann')
      for (const name of ['laptop', 'phone'])
        await service.ask({ method: 'POST', path: '/api/v1/auth/tokens', credential, json: { name } })
      assert.match(await svc('user tokens ann --revoke laptop'), /^Revoked the token laptop of Ann/)
      const { items } = await json('user tokens ann')
      assert.deepEqual(
        items.map((token: Json) => [token.name, token.revoked]),
        [
          ['phone', false],
          ['laptop', true],
        ],
      )
      assert.match(await refused(3, 'user tokens ann --revoke laptop'), /no active token "laptop"/)
    })
  })

  it('svc group: adds, fills, lists, empties and removes', async () => {
    await svc('group add deployers')
    await svc('grant deployers attic read')
    assert.match(await svc('group add-member deployers ann ben'), /^In deployers: Ann, ben. It grants attic:read.\n$/)
    assert.equal(await svc('group members deployers'), 'MEMBER\nAnn\nben\n')
    assert.match(await svc('group list'), /^deployers +Ann, ben +attic:read$/m)
    await svc('group remove-member deployers ben')
    assert.deepEqual(
      (await json('group members deployers')).accounts.map(({ name }: Json) => name),
      ['Ann'],
    )
    assert.equal(await svc('group remove deployers'), 'Removed the group deployers. Its members lost attic:read.\n')
    assert.match(await refused(3, 'group members deployers'), /no group "deployers"/)
    assert.match(await refused(3, 'group add-member svc-owners anm'), /Did you mean Ann\?/)
  })

  describe('svc grant and revoke', () => {
    it('give a user exactly what was asked for, through a group that they name, and take it back', async () => {
      const credential = await signIn(service, 'Ann')
      const given = await json('grant ann builds write')
      assert.deepEqual(given, {
        who: 'Ann',
        repository: 'builds',
        access: 'write',
        through: ['builds-writers'],
        done: ['created the group builds-writers', 'granted it write on builds', 'made Ann a member of builds-writers'],
      })
      assert.deepEqual(await may(credential, 'builds'), ['read', 'write'])
      assert.deepEqual((await json('grant ann builds read')).done, [])
      const left = await json('revoke ann builds write')
      assert.deepEqual([left.access, left.through], ['read', ['builds-readers']])
      assert.deepEqual(await may(credential, 'builds'), ['read'])
      assert.match(await svc('revoke ann builds'), /^Took Ann out of builds-readers.\nAnn may do nothing in builds.\n$/)
      assert.deepEqual(await may(credential, 'builds'), [])
    })

    it('have a group of its own for each repository, however long its id is', async () => {
      const [one, other] = [`${'long-'.repeat(12)}ida`, `${'long-'.repeat(12)}idb`]
      for (const id of [one, other]) await createRepository(service, id)
      for (const id of [one, other]) assert.equal((await json(`grant ann ${id} write`)).access, 'write')
      assert.equal((await json(`revoke ann ${one}`)).access, null)
      assert.match(await svc(`who ${other}`), /Ann/)
      assert.equal((await json(`revoke ann ${other}`)).access, null)
    })

    it('give a group what was asked for', async () => {
      await svc('group add testers')
      assert.deepEqual((await json('grant testers builds write')).done, ['granted testers write on builds'])
      assert.equal((await json('revoke testers builds write')).access, 'read')
      assert.equal((await json('revoke testers builds')).access, null)
    })

    it('change nothing where that would change more, or where it is unclear who is meant', async () => {
      const told = await refused(1, 'revoke owner releases write')
      assert.match(told, /through the group svc-owners.*nothing was changed.*svc group remove-member svc-owners owner/)
      await svc('group add attic-readers')
      await svc('grant attic-readers releases read')
      assert.match(await refused(1, 'grant ann attic read'), /attic-readers grants something else/)
      await svc('group add ann')
      assert.match(await refused(3, 'grant ann builds read'), /user:ann or group:ann/)
      assert.equal((await json('grant group:ann builds read')).through[0], 'ann')
      assert.match(await refused(3, 'grant an builds read'), /no user or group "an"\. Did you mean Ann/)
      assert.match(await refused(3, 'grant owner bulids read'), /no repository "bulids"\. Did you mean builds\?/)
      await svc('group remove ann')
    })
  })

  it('svc grant lets nobody in again who was left in a group without its grant', async () => {
    await createRepository(service, 'cellar')
    await createPerson(service, 'Left')
    await svc('grant Left cellar write')
    await svc('revoke group:cellar-writers cellar')
    assert.match(await refused(1, 'grant ann cellar write'), /cellar-writers grants nothing and has members/)
    assert.doesNotMatch(await svc('who cellar'), /Left|Ann/)
    await svc('group remove-member cellar-writers Left')
    assert.match(await svc('grant ann cellar write'), /Ann may read and write/)
    await svc('grant group:cellar-writers builds read')
    assert.match(await refused(1, 'revoke ann cellar write'), /cellar-writers.*nothing was changed/)
    await svc('group remove cellar-writers')
  })

  it('an id means whose it is, whatever somebody else is called', async () => {
    const { id } = (await json('user list')).items.find(({ name }: Json) => name === 'Ann')
    const named = await createPerson(service, id)
    assert.match(await svc(`user disable ${id}`), /^Ann is disabled/)
    assert.match(await svc(`user enable ${id}`), /^Ann may/)
    assert.match(await svc(`user disable ${named.id}`), new RegExp(`^${id} is disabled`))
  })

  it('the recovery key goes through no proxy, and to no name that a name server says', async () => {
    const asked: string[] = []
    const proxy = createServer((request, response) => response.end(asked.push(String(request.url)))).listen(
      0,
      '127.0.0.1',
    )
    await once(proxy, 'listening')
    const { port } = proxy.address() as AddressInfo
    const mine = { SVC_TOKEN: '', SVC_DATA_DIR: service.dataDir, NODE_USE_ENV_PROXY: '1' }
    const through = `http://127.0.0.1:${port}`
    assert.match(await svc('user list', { ...mine, HTTP_PROXY: through, http_proxy: through }), /owner/)
    proxy.close()
    assert.deepEqual(asked, [])
    assert.match(await refused(4, 'user list', { ...mine, SVC_URL: 'http://files.localhost:1' }), /goes nowhere but/)
    assert.doesNotMatch(await refused(1, 'user list', { SVC_URL: 'http://:secret@127.0.0.1:9' }), /secret/)
  })

  it('svc service-account and key: from a policy to a key that works, is replaced and goes', async () => {
    const policy = 'builds=asset.write,asset.read,artifact.delete'
    assert.match(await svc(`service-account add robot --may ${policy} releases=read`), /releases=read\n/)
    const issued = await json('key issue robot --name nightly --days 3')
    assert.match(issued.secret, /^svc_/)
    assert.deepEqual(await may(service.recoveryKey, 'builds'), [])
    const activation = startProgram(
      'sh',
      ['-c', 'echo "$2" | "$0" "$1" key activate', process.execPath, svcFile, issued.secret],
      { SVC_URL: service.url },
    )
    assert.equal((await activation.ended).code, 0, activation.stderr())
    assert.deepEqual(await may(issued.secret, 'builds'), ['read', 'write'])
    assert.match(
      await svc('key list robot'),
      /^nightly +active +\S+ +\S+ +builds=artifact.delete,asset.read,asset.write/m,
    )
    assert.match(
      await svc('explain robot builds artifact.delete'),
      /^Yes: .* the policy of robot, the key nightly\.\n$/,
    )
    const rotated = await json('key rotate robot --name weekly --activate')
    assert.deepEqual([rotated.state, rotated.rotatedFrom, rotated.name], ['active', issued.id, 'weekly'])
    assert.match(await refused(3, 'key revoke robot'), /nightly \(.*\), weekly \(.*\)/)
    assert.match(await svc('key revoke robot nightly'), /^Revoked the key nightly of robot/)
    assert.match(await svc('service-account policy robot --may builds=read'), /: builds=read\n$/)
    assert.deepEqual(await may(rotated.secret, 'builds'), ['read'])
    await svc('service-account disable robot')
    assert.match(await svc('service-account list'), /^robot +disabled +builds=read$/m)
    assert.match(await svc('explain robot builds asset.read'), /^No: .* disabled\.\n$/)
    await svc('service-account enable robot')
    assert.match(await refused(1, 'service-account add other --may builds'), /write it like/)
    assert.match(await refused(1, 'service-account add other --may builds=everything'), /is no action/)
  })

  it('svc who: everybody, and through what', async () => {
    assert.match(await svc('who releases'), /^owner +user +write +group svc-owners$/m)
    const writers = await json('who releases --may write')
    assert.deepEqual(
      writers.items.map(({ who }: Json) => who.name),
      ['owner', 'bootstrap-owner'],
    )
    assert.equal(await svc('who builds --may storage.manage'), 'Nobody may do that in builds.\n')
  })

  it('says what is wrong, and ends with the code that is documented', async () => {
    assert.match(await refused(4, 'user list', { SVC_TOKEN: 'x'.repeat(40) }), /refuses the credential of SVC_TOKEN/)
    const token = await signIn(service, 'Ann')
    assert.match(await refused(4, 'user list', { SVC_TOKEN: token }), /may not: This needs an administrator/)
    assert.match(await svc('user list', { SVC_TOKEN: owner.token }), /owner/)
    const noToken = { SVC_TOKEN: '', SVC_DATA_DIR: join(service.dataDir, 'nothing') }
    assert.match(await refused(4, 'user list', noToken), /SVC_TOKEN is not set, and there is no .*bootstrap-token.txt/)
    assert.match(
      await refused(4, 'user list', { ...noToken, SVC_URL: 'https://files.example.org' }),
      /goes nowhere but/,
    )
    assert.match(await refused(5, 'user list', { SVC_URL: 'http://127.0.0.1:9' }), /127.0.0.1:9/)
    const other = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1')
    const { port } = await new Promise<AddressInfo>((resolve) =>
      other.on('listening', () => resolve(other.address() as AddressInfo)),
    )
    assert.match(await refused(5, 'user list', { SVC_URL: `http://127.0.0.1:${port}` }), /it is not svc/)
    other.close()
    assert.match(await svc('user list', { SVC_TOKEN: '', SVC_DATA_DIR: service.dataDir }), /owner/)
  })

  it('shows what a service says, and lets no terminal obey it', async () => {
    const evil = 'x\u001b]0;title\u0007\u001b[2J\u009b2J\u007f\u202e\nroot  administrator'
    const user = { id: owner.id, name: evil, administrator: false, enabled: true }
    const falseOne = createServer(({ method }, response) => {
      if (method === 'GET') return response.end(JSON.stringify({ items: [user] }))
      return response.writeHead(403).end(JSON.stringify({ code: 'permission_missing', detail: evil }))
    }).listen(0, '127.0.0.1')
    await once(falseOne, 'listening')
    const url = { SVC_URL: `http://127.0.0.1:${(falseOne.address() as AddressInfo).port}` }
    try {
      const shown = 'x\\u001b]0;title\\u0007\\u001b[2J\\u009b2J\\u007f\\u202e\\u000aroot  administrator'
      const list = await svc('user list', url)
      assert.deepEqual(list.split('\n').slice(1), [shown, ''])
      assert.ok((await refused(4, `user disable ${owner.id}`, url)).endsWith(`may not: ${shown}\n`))
      assert.ok((await refused(3, 'user disable x', url)).startsWith('svc: There is no user "x".'))
      const json = await svc('user list --json', url)
      assert.equal(JSON.parse(json).items[0].name, evil)
      assert.doesNotMatch(json.replaceAll('\n', ''), /[\p{Cc}\p{Bidi_Control}]/u)
    } finally {
      falseOne.close()
      falseOne.closeAllConnections()
    }
  })

  it('leaves no secret in the log of the service', async () => {
    const { password: generated } = await json('user password ann --generate')
    const { secret } = await json('key issue robot --name logged')
    for (const hidden of [generated, secret, password, service.recoveryKey])
      assert.equal(
        service.log.some((line) => line.includes(hidden)),
        false,
      )
  })
})

onSqlite((engine) => {
  it('svc recovery-key rotate: the new key is good from the next start on, the old one no more, others stay', async () => {
    const service = await startService(engine)
    try {
      const other = await addFileKeys(service, [{ id: 'other' }])
      const old = service.recoveryKey
      const file = join(service.dataDir, 'config', 'bootstrap-token.txt')
      const { code, stdout, stderr } = await runSvc(['recovery-key', 'rotate'], { SVC_DATA_DIR: service.dataDir })
      assert.deepEqual([code, stderr], [0, ''])
      assert.match(stdout, /The new recovery key is in .*bootstrap-token.txt\nIt works once every process/)
      const fresh = (await readFile(file, 'utf8')).trim()
      assert.match(fresh, /^[0-9a-f]{64}$/)
      assert.notEqual(fresh, old)
      assert.equal(stdout.includes(fresh), false)
      for (const name of ['bootstrap-token.txt', 'keys.json'])
        assert.equal((await stat(join(service.dataDir, 'config', name))).mode & 0o077, 0)
      const status = async (credential: string): Promise<number> =>
        (await service.ask({ path: '/api/v1/auth/me', credential })).status
      assert.deepEqual([await status(old), await status(fresh)], [200, 401])
      await service.restart()
      assert.deepEqual([await status(old), await status(fresh)], [401, 200])
      assert.deepEqual([await status(String(other['other'])), await status(service.healthKey)], [200, 200])
    } finally {
      await service.stop()
    }
  })
})
