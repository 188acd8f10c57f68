import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { after, before, it } from 'node:test'
import { sql } from 'kysely'
import { openDatabase } from '../../src/database/open.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine, type TestEngine } from '../harness/engines.ts'
import { assertAnswer } from '../harness/expect.ts'
import { addFileKeys } from '../harness/file-keys.ts'
import { createOwner, createPerson, password } from '../harness/people.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { startService, type TestService } from '../harness/service.ts'
import {
  activation,
  binding,
  createServiceAccount,
  issueRequest,
  revocation,
  rotateRequest,
} from '../harness/service-keys.ts'

after(closeConnections)

/** Everything that a database holds, as text. */
const contents = async (engine: TestEngine, url: string): Promise<string> => {
  const database = await openDatabase({ url, report: () => {} })
  try {
    const names =
      engine.name === 'sqlite'
        ? sql<{ name: string }>`select name from sqlite_master where type = 'table'`
        : sql<{ name: string }>`select table_name as name from information_schema.tables where table_schema = 'public'`
    const tables = (await names.execute(database.reader)).rows
    assert.ok(tables.length > 10)
    const dump: string[] = []
    for (const { name } of tables) {
      const { rows } = await sql`select * from ${sql.table(name)}`.execute(database.reader)
      dump.push(
        JSON.stringify([name, rows], (_, value) =>
          typeof value === 'bigint'
            ? String(value)
            : value instanceof Uint8Array
              ? Buffer.from(value).toString('latin1')
              : value,
        ),
      )
    }
    return dump.join('\n')
  } finally {
    await database[Symbol.asyncDispose]()
  }
}

/** The bytes of an SQLite database with its log. */
const fileBytes = async (url: string): Promise<string> => {
  const path = url.slice('sqlite:'.length)
  const names = (await readdir(dirname(path))).filter((name) => name.startsWith(basename(path)))
  const files = await Promise.all(names.map((name) => readFile(join(dirname(path), name), 'latin1')))
  return files.join('\n')
}

forEachEngine((engine) => {
  let service: TestService
  /** By what it is. */
  const secrets = new Map<string, string>()
  /** Answers that were not meant to show a secret. */
  const answers: string[] = []

  const keep = (what: string, secret: string): string => {
    assert.ok(secret.length >= 12, what)
    secrets.set(what, secret)
    // What is left without the part that everybody knows.
    const own = secret.replace(/^(?:dps_|pat_|dtl_|dpp_|svc_[0-9a-f-]{36}\.)/, '')
    if (own !== secret) secrets.set(`${what}, its random part`, own)
    return secret
  }
  const quiet = async (request: Ask, status?: number): Promise<Told> => {
    const told = await service.ask(request)
    if (status !== undefined) assertAnswer(request, told, status)
    answers.push(JSON.stringify(told.headers) + told.text)
    return told
  }
  const telling = async (request: Ask, status: number): Promise<Told> => {
    const told = await service.ask(request)
    assertAnswer(request, told, status)
    return told
  }
  /** Uses a secret in all the ways in which it could slip into a log or an answer. */
  const abuse = async (secret: string): Promise<void> => {
    const me = '/api/v1/auth/me'
    await quiet({ path: me, credential: secret })
    await quiet({ path: `${me}?token=${secret}`, credential: secret })
    await quiet({ path: `${me}?token=${secret}` }, 401)
    await quiet({ path: me, headers: { authorization: `Basic ${btoa(`user:${secret}`)}` } }, 401)
    await quiet({ path: me, headers: { authorization: `Bearer ${secret} and more` } }, 401)
    for (const path of [
      '/v2/',
      '/v2/_catalog',
      `/v2/token?account=${secret}&scope=`,
      `/v2/${secret}/${secret}/tags/list`,
    ])
      await quiet({ path, headers: { authorization: `Basic ${btoa(`${secret}:${secret}x`)}` } })
    await quiet({ path: me, credential: `${secret}x` }, 401)
    await quiet({ path: me, credential: secret, headers: { cookie: `session=${secret}` } })
    await quiet({ path: '/api/v1/users', credential: secret, json: { name: 'x', password: secret } })
    await quiet({ path: '/api/v1/auth/login', json: { name: 'nobody', password: secret } })
    await quiet(
      { path: '/api/v1/auth/login', body: `{"password": "${secret}"`, headers: { 'content-type': 'application/json' } },
      400,
    )
  }

  before(async () => {
    service = await startService(engine)
    const fileKeys = await addFileKeys(service, [
      { id: 'ci', repositories: [{ repository: 'releases', permissions: ['write'] }] },
    ])
    keep('the file key', fileKeys['ci'] ?? '')
    keep('the recovery key', service.recoveryKey)
    keep('the health key', service.healthKey)
    keep('the first password', password)
    const owner = await createOwner(service)
    const ann = await createPerson(service, 'ann')
    keep('the session of the owner', owner.token)
    keep('a session', ann.token)

    const tokens = '/api/v1/auth/tokens'
    for (const scope of ['read', 'read-write']) {
      const told = await telling({ path: tokens, credential: ann.token, json: { name: 'script', scope } }, 201)
      await abuse(keep(`a ${scope} token`, told.json.token))
    }
    await quiet({ path: tokens, credential: ann.token }, 200)
    await quiet({ path: `/api/v1/users/${ann.id}/tokens`, credential: owner.token }, 200)

    const wish = { bindings: [binding('releases', 'repository.read')] }
    const robot = await createServiceAccount(service, wish.bindings)
    const issuing = issueRequest(service, robot.id, wish)
    const issued = (await telling(issuing, 201)).json
    keep('an issued key', issued.secret)
    await quiet(issuing, 200)
    await quiet({ ...issuing, json: { name: 'another', bindings: [] } }, 409)
    await quiet(activation(issued.secret), 204)
    const rotating = rotateRequest(service, issued.id, wish)
    const rotated = (await telling(rotating, 201)).json
    keep('a rotated key', rotated.secret)
    await quiet(rotating, 200)
    await abuse(rotated.secret)
    await quiet(activation(rotated.secret), 204)
    for (const path of [
      `/api/v1/service-accounts/${robot.id}/keys`,
      `/api/v1/service-accounts/${robot.id}/audit`,
      `/api/v1/api-keys/${issued.id}`,
    ])
      await quiet({ path, credential: service.recoveryKey }, 200)
    await abuse(issued.secret)
    await quiet(revocation(issued.id, service.recoveryKey), 200)

    const file = await publish(service, owner.token, 'releases', newFile('a file', 'some bytes'))
    const artifact = `/api/v1/repositories/releases/artifacts/${file}`
    const links = { path: `${artifact}/links`, credential: owner.token, json: {} }
    const link = keep('a download link', (await telling(links, 201)).json.token)
    // Id of its key, end and what tells it apart are no secret; the signature is all that opens.
    keep('the signature of a link', link.slice('dtl_'.length + 43))
    const content = `${artifact}/content`
    await quiet({ path: `${content}?token=${link}` }, 200)
    await quiet({ path: `${content}?token=${link}`, headers: { range: 'bytes=99-' } }, 416)
    await quiet({ path: `${content}?token=${link}`, headers: { 'svc-download-id': link } }, 400)
    await quiet({ path: `${content}?token=${link}&token=${link}` }, 401)
    await quiet({ path: `${content}?token=${link}&limit=1` }, 400)
    await quiet({ path: `${content}?token=${link}`, credential: ann.token }, 404)
    await quiet({ path: `${content}?token=${link}`, method: 'DELETE' }, 405)
    await quiet({ path: `${content}/nothing?token=${link}` }, 404)
    await quiet({ path: `${artifact}x/content?token=${link}` }, 401)
    await quiet({ path: `${content}?token=${link}`, headers: { origin: 'https://evil.example.org' } }, 403)
    await abuse(link)

    const pass = keep('a pass', (await telling({ path: '/v2/token', credential: owner.token }, 200)).json.token)
    for (const path of ['/v2/', '/v2/releases/tool/tags/list']) await quiet({ path, credential: pass }, 200)
    await quiet({ path: '/v2/token', credential: pass }, 403)
    await abuse(pass)

    const change = { path: '/api/v1/auth/password', credential: ann.token }
    const wrong = keep('a wrong password', 'no password of anybody at all')
    const next = keep('the next password', 'an entirely new sentence 42')
    const reset = keep('the reset password', 'what the administrator chose')
    const short = keep('a password that is too long', 'z9'.repeat(65))
    await quiet({ ...change, json: { currentPassword: wrong, newPassword: next } }, 401)
    await quiet({ ...change, json: { currentPassword: password, newPassword: short } }, 400)
    await quiet({ ...change, json: { currentPassword: password, newPassword: next, again: next } }, 400)
    await quiet({ ...change, json: { currentPassword: password, newPassword: next } }, 204)
    const patch = { method: 'PATCH', path: `/api/v1/users/${ann.id}`, credential: owner.token }
    await quiet({ ...patch, json: { password: reset } }, 200)
    await quiet({ ...patch, json: { password: short } }, 400)
    await quiet({ path: '/api/v1/auth/login', json: { name: 'ann', password: wrong } }, 401)
    const again = await telling({ path: '/api/v1/auth/login', json: { name: 'ann', password: reset } }, 200)
    keep('the session after the reset', again.json.token)

    for (const secret of [owner.token, again.json.token, service.healthKey, service.recoveryKey, fileKeys['ci'] ?? ''])
      await abuse(secret)
    await quiet({ path: '/api/v1/users', credential: owner.token, json: { name: 'ann', password: next } }, 409)
    for (const path of ['/api/v1/users', '/api/v1/security-audit', '/api/v1/auth/permissions', '/health/metrics'])
      await quiet({ path, credential: owner.token }, 200)
  })
  after(() => service.stop())

  const free = (text: string, where: string): void => {
    for (const [what, secret] of secrets) assert.ok(!text.includes(secret), `${what} is in ${where}`)
  }

  it('leaves no secret in the log', () => {
    const log = service.log.join('\n')
    assert.ok(log.includes('createToken') && log.includes('changePassword'), 'the log was on')
    free(log, 'the log')
  })

  it('leaves no secret in an answer but the one that made it', () => {
    assert.ok(answers.length > 80)
    for (const answer of answers) free(answer, `an answer: ${answer}`)
  })

  it('leaves no secret in the database', async () => {
    const dump = await contents(engine, service.databaseUrl)
    for (const what of ['a read token', 'a session', 'an issued key', 'the session after the reset']) {
      // The first session ended with the password; what lives on is there as its digest, so the search finds things.
      const there = dump.includes(hash('sha256', secrets.get(what) ?? ''))
      assert.equal(there, what !== 'a session', what)
    }
    free(dump, 'the database')
    if (engine.name !== 'sqlite') return
    const bytes = await fileBytes(service.databaseUrl)
    assert.ok(bytes.includes(hash('sha256', secrets.get('a read token') ?? '')))
    free(bytes, 'the file of the database')
  })
})
