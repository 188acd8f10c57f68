import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { reads } from '../../src/contract/operation.ts'
import { day } from '../../src/kernel/units.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { assertAnswer, expectAnswer } from '../harness/expect.ts'
import { createOwner, createPerson, grant, type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

const path = '/api/v1/auth/tokens'
const me = '/api/v1/auth/me'

/** What is no read and changes nothing that a read token should not: it ends itself, or only asks. */
const openToAll = ['logout', 'endNpmToken', 'revokeNpmToken', 'listNpmAdvisories', 'askLfsBatch']

/** What nobody needs a credential for. */
const signingIn = ['login', 'register', 'putNpmUser', 'beginNpmSignIn', 'confirmNpmSignIn']

interface Token {
  readonly id: string
  readonly token: string
  readonly prefix: string
  readonly expiresAt: string
}

forEachEngine((engine) => {
  let service: TestService
  let owner: Person
  /** Has no other tokens than those of the test at hand: each test takes a new person where it matters. */
  let ann: Person
  before(async () => {
    service = await startService(engine)
    owner = await createOwner(service)
    ann = await createPerson(service, 'ann')
    await grant(service, ann, 'releases', 'write')
  })
  after(() => service.stop())

  const iso = (fromNowMs: number): string => new Date(service.clock.now() + fromNowMs).toISOString()
  const create = async (person: Person, json: object = {}): Promise<Token> =>
    (await expectAnswer(service, { path, credential: person.token, json: { name: 'script', ...json } }, 201)).json
  const list = async (person: Person) =>
    (await expectAnswer(service, { path, credential: person.token }, 200)).json.items
  const revoke = (person: Person, id: string): Ask => ({
    method: 'DELETE',
    path: `${path}/${id}`,
    credential: person.token,
  })
  const works = (credential: string) => expectAnswer(service, { path: me, credential }, 200)
  const fails = (credential: string, code: string) => expectAnswer(service, { path: me, credential }, 401, code)
  /** Sessions last 12 hours: after the clock was turned people sign in again. */
  const signInAgain = async (person: Person): Promise<Person> => ({
    ...person,
    token: await signIn(service, person.name),
  })

  it('need somebody in their last two weeks, as far as they are there', async () => {
    const olga = await createPerson(service, 'olga')
    const soon = await create(olga, { name: 'soon', expiresAt: iso(13 * day) })
    await create(olga, { name: 'later', expiresAt: iso(15 * day) })
    const attention = async (credential: string) =>
      (await expectAnswer(service, { path: '/api/v1/attention', credential }, 200)).json.items
    const line = { code: 'token_ends_soon', severity: 'warning', subject: 'soon', count: null }
    assert.deepEqual(await attention(olga.token), [line])
    assert.deepEqual(await attention(soon.token), [])
    assert.deepEqual(await attention(ann.token), [])
    const critical = { code: 'vault_not_configured', severity: 'critical', subject: null, count: null }
    assert.deepEqual((await attention(owner.token)).slice(0, 1), [critical])
    assert.deepEqual(await attention(service.recoveryKey), await attention(owner.token))
    await expectAnswer(service, revoke(olga, soon.id), 204)
    assert.deepEqual(await attention(olga.token), [])
  })

  it('gives the secret once, with a prefix that is shown for ever', async () => {
    const before = service.clock.now()
    const told = await expectAnswer(service, { path, credential: ann.token, json: { name: 'ci' } }, 201)
    const { token, ...shown } = told.json
    assert.match(token, /^pat_[A-Za-z0-9_-]{43}$/)
    assert.ok(token.startsWith(shown.prefix))
    assert.ok(shown.prefix.length < 20)
    assert.deepEqual(
      { ...shown, id: null, prefix: null, createdAt: null, expiresAt: null },
      {
        id: null,
        name: 'ci',
        prefix: null,
        scope: 'read-write',
        createdAt: null,
        expiresAt: null,
        lastUsedAt: null,
        revoked: false,
      },
    )
    assert.ok(Date.parse(shown.createdAt) >= before)
    assert.equal(Date.parse(shown.expiresAt) - Date.parse(shown.createdAt), 90 * day)
    const again = await expectAnswer(service, { path, credential: ann.token }, 200)
    assert.deepEqual(
      again.json.items.find((item: Token) => item.id === shown.id),
      shown,
    )
    assert.ok(!again.text.includes(token.slice(shown.prefix.length)))
    await works(token)
  })

  it('takes names of 1 to 64 characters without control characters', async () => {
    for (const name of ['x', 'y'.repeat(64), '𝔸'.repeat(64), 'my laptop, at home'])
      await expectAnswer(service, revoke(ann, (await create(ann, { name })).id), 204)
    for (const name of ['', 'y'.repeat(65), '𝔸'.repeat(65), 'a\nb', 'a\u0000b', 7, null, undefined])
      await expectAnswer(service, { path, credential: ann.token, json: { name } }, 400, 'invalid_request')
  })

  it('reads and writes unless asked otherwise, and knows no third scope', async () => {
    const read = await create(ann, { scope: 'read' })
    assert.equal((await works(read.token)).json.tokenScope, 'read')
    assert.equal((await works((await create(ann)).token)).json.tokenScope, 'read-write')
    for (const scope of ['write', '', null, ['read']])
      await expectAnswer(service, { path, credential: ann.token, json: { name: 'x', scope } }, 400, 'invalid_request')
  })

  it('ends within 365 days, after 90 if nobody says when, and never in the past', async () => {
    const within = (text: string, ms: number) => {
      const off = Math.abs(Date.parse(text) - service.clock.now() - ms)
      assert.ok(off < 60_000, `${text} is off by ${off} ms`)
    }
    within((await create(ann, { expiresAt: null })).expiresAt, 90 * day)
    const end = iso(364.9 * day)
    assert.equal((await create(ann, { expiresAt: end })).expiresAt, end)
    const seconds = `${iso(day).slice(0, 19)}Z`
    assert.equal(Date.parse((await create(ann, { expiresAt: seconds })).expiresAt), Date.parse(seconds))
    for (const expiresAt of [
      iso(-1),
      iso(-400 * day),
      iso(365.1 * day),
      'tomorrow',
      '',
      iso(day).slice(0, 10),
      iso(day).replace('Z', ''),
      iso(day).replace('Z', '+01'),
      '2026-13-01T00:00:00Z',
      `${new Date(service.clock.now()).getUTCFullYear() + 1}-02-30T00:00:00Z`,
      `${iso(day).slice(0, 10)}T24:00:00Z`,
      12,
      false,
    ]) {
      const json = { name: 'x', expiresAt }
      const told = await expectAnswer(service, { path, credential: ann.token, json }, 400, 'invalid_request')
      assert.equal(told.json.details[0].pointer, '/expiresAt', String(expiresAt))
    }
  })

  it('lists active ones first, the newest first, at most 100, and only one’s own', async () => {
    let bea = await createPerson(service, 'bea')
    const ended: string[] = []
    for (let i = 0; i < 60; i++) {
      const { id } = await create(bea)
      ended.unshift(id)
      await expectAnswer(service, revoke(bea, id), 204)
    }
    const short: string[] = []
    for (let i = 0; i < 5; i++) short.unshift((await create(bea, { expiresAt: iso(1_000) })).id)
    service.clock.advance(2_000)
    const active: string[] = []
    for (let i = 0; i < 50; i++) active.unshift((await create(bea)).id)
    const items = await list(bea)
    assert.equal(items.length, 100)
    assert.deepEqual(
      items.map((item: Token) => item.id),
      [...active, ...short, ...ended].slice(0, 100),
    )
    assert.deepEqual(
      items.map((item: { revoked: boolean }) => item.revoked),
      [...new Array(55).fill(false), ...new Array(45).fill(true)],
    )
    bea = await createPerson(service, 'bea2')
    assert.deepEqual(await list(bea), [])
  })

  it('is revoked at once, again without harm, and only by its own account', async () => {
    const { id, token } = await create(ann)
    await works(token)
    const stranger = await createPerson(service, 'stranger')
    await expectAnswer(service, revoke(stranger, id), 404, 'not_found')
    await works(token)
    await expectAnswer(service, revoke(ann, id), 204)
    await fails(token, 'credential_invalid')
    await expectAnswer(service, revoke(ann, id), 204)
    await expectAnswer(service, revoke(ann, '00000000-0000-7000-8000-000000000000'), 404, 'not_found')
    await expectAnswer(service, revoke(ann, 'x'), 400, 'invalid_request')
    assert.equal((await list(ann)).find((item: Token) => item.id === id).revoked, true)
  })

  it('is made, listed and revoked with a session alone', async () => {
    const { id, token } = await create(ann)
    const robot = await createServiceAccount(service, [binding('releases', 'repository.read')])
    const key = await activeKey(service, robot.id, { bindings: robot.bindings })
    for (const credential of [token, service.recoveryKey, service.healthKey, key.secret]) {
      await expectAnswer(service, { path, credential }, 403, 'permission_missing')
      await expectAnswer(service, { path, credential, json: { name: 'x' } }, 403, 'permission_missing')
      await expectAnswer(service, { ...revoke(ann, id), credential }, 403, 'permission_missing')
    }
    await works(token)
  })

  it('exists at most 50 times at once; revoked and expired ones make room', async () => {
    const cat = await createPerson(service, 'cat')
    const first = await create(cat, { expiresAt: iso(60_000) })
    const second = await create(cat)
    for (let i = 0; i < 47; i++) await create(cat)
    const json = { name: 'x' }
    const rush = await Promise.all(Array.from({ length: 8 }, () => service.ask({ path, credential: cat.token, json })))
    assert.deepEqual(rush.map((told) => told.status).sort(), [201, ...new Array(7).fill(507)])
    for (const told of rush) if (told.status === 507) assert.equal(told.json.code, 'token_limit')
    await expectAnswer(service, revoke(cat, second.id), 204)
    await create(cat)
    await expectAnswer(service, { path, credential: cat.token, json }, 507, 'token_limit')
    service.clock.advance(61_000)
    await fails(first.token, 'token_expired')
    await create(cat)
    await expectAnswer(service, { path, credential: cat.token, json }, 507, 'token_limit')
  })

  it('that only reads is refused every change but logout, before anything else is looked at', async () => {
    const { token } = await create(ann, { scope: 'read' })
    const changing = catalogue().filter((operation) => !reads(operation) && operation.access.kind !== 'anyone')
    assert.ok(changing.length > 20)
    const open = changing.filter(({ openToReadTokens }) => openToReadTokens).map(({ id }) => id)
    assert.deepEqual(open.toSorted(), openToAll.toSorted())
    for (const { id, method, path: template } of changing) {
      // Neither a repository nor an id that exists, no body, no header: the token is what is wrong with it.
      const request = { method, path: template.replaceAll(/\{[a-zA-Z]+[*+]?\}/g, 'nothing'), credential: token }
      if (id === 'logout') await expectAnswer(service, request, 204)
      else if (!openToAll.includes(id)) await expectAnswer(service, request, 403, 'read_only_token')
    }
    await works(token)
  })

  it('that only reads can read what its account can', async () => {
    const raw = '/api/v1/repositories/releases/raw/tokens/read.txt'
    const { token } = await create(ann, { scope: 'read' })
    const writing = await create(ann)
    await expectAnswer(service, { method: 'PUT', path: raw, credential: token, body: 'no' }, 403, 'read_only_token')
    await expectAnswer(service, { method: 'PUT', path: raw, credential: writing.token, body: 'yes' }, 201)
    assert.equal((await expectAnswer(service, { path: raw, credential: token }, 200)).text, 'yes')
    const size = '3'
    const sha256 = '0'.repeat(64)
    const headers = { 'idempotency-key': 'by-a-token' }
    const uploads = '/api/v1/repositories/releases/uploads'
    const json = { name: 'a', size, sha256 }
    const opened = await expectAnswer(service, { path: uploads, credential: writing.token, json, headers }, 201)
    await expectAnswer(service, { path: `${uploads}/${opened.json.id}`, credential: token }, 200)
  })

  it('carries the repository access of its account and never the administrator', async () => {
    const { token } = await create(owner)
    const told = await works(token)
    assert.equal(told.json.administrator, false)
    assert.equal(told.json.id, owner.id)
    assert.equal(told.json.credential, 'personal-token')
    assert.deepEqual(told.json.grants, [{ repository: 'releases', permissions: ['read', 'write'] }])
    const permissions = await expectAnswer(service, { path: '/api/v1/auth/permissions', credential: token }, 200)
    assert.deepEqual(permissions.json.system, [])
    assert.deepEqual(permissions.json.administration, [])
    for (const forAdministrators of ['/api/v1/users', '/api/v1/access-groups', '/api/v1/security-audit']) {
      await expectAnswer(service, { path: forAdministrators, credential: owner.token }, 200)
      await expectAnswer(service, { path: forAdministrators, credential: token }, 403, 'permission_missing')
    }
  })

  it('says that it may only read where permissions are told', async () => {
    const { token } = await create(ann, { scope: 'read' })
    const told = await expectAnswer(service, { path: '/api/v1/auth/permissions', credential: token }, 200)
    const { actions } = told.json.repositories[0]
    assert.ok(actions.includes('content.read') && actions.includes('upload.read'))
    for (const action of ['upload.create', 'upload.write', 'asset.write', 'annotation.write', 'package.publish'])
      assert.ok(!actions.includes(action), action)
    assert.deepEqual((await works(token)).json.grants, [{ repository: 'releases', permissions: ['read'] }])
    const card = await expectAnswer(service, { path: '/api/v1/repositories/releases', credential: token }, 200)
    assert.deepEqual(card.json.permissions, actions)
    const open: { method: string; operationId: string }[] = []
    for (let after: string | null = ''; after !== null; ) {
      const all: string = `/api/v1/operations?repository=releases&limit=100${after === '' ? '' : `&after=${after}`}`
      const page: Told['json'] = (await expectAnswer(service, { path: all, credential: token }, 200)).json
      open.push(...page.items)
      after = page.next
    }
    assert.deepEqual(
      open
        .filter(({ method }) => method !== 'get')
        .map(({ operationId }) => operationId)
        .toSorted(),
      [...signingIn, ...openToAll].toSorted(),
    )
  })

  it('stops while its account is disabled and works again once it is enabled', async () => {
    const dan = await createPerson(service, 'dan')
    const { token } = await create(dan)
    const patch = (enabled: boolean): Ask => ({
      method: 'PATCH',
      path: `/api/v1/users/${dan.id}`,
      credential: owner.token,
      json: { enabled },
    })
    await expectAnswer(service, patch(false), 200)
    await fails(token, 'credential_invalid')
    await expectAnswer(service, patch(true), 200)
    await works(token)
    await fails(dan.token, 'credential_invalid')
  })

  it('is listed and revoked by administrators, which the security audit records', async () => {
    const eve = await createPerson(service, 'eve')
    const { id, token } = await create(eve)
    const ofEve = `/api/v1/users/${eve.id}/tokens`
    for (const credential of [owner.token, service.recoveryKey]) {
      const told = await expectAnswer(service, { path: ofEve, credential }, 200)
      assert.deepEqual(
        told.json.items.map((item: Token) => item.id),
        [id],
      )
      assert.ok(!told.text.includes(token.slice(12)))
    }
    const other = { method: 'DELETE', path: `/api/v1/users/${ann.id}/tokens/${id}`, credential: owner.token }
    await expectAnswer(service, other, 404, 'not_found')
    const one = { method: 'DELETE', path: `${ofEve}/${id}`, credential: owner.token }
    await expectAnswer(service, { ...one, credential: eve.token }, 403, 'permission_missing')
    await works(token)
    await expectAnswer(service, one, 204)
    await fails(token, 'credential_invalid')
    await expectAnswer(service, { ...one, credential: service.recoveryKey }, 204)
    const nobody = '/api/v1/users/00000000-0000-7000-8000-000000000000/tokens'
    await expectAnswer(service, { path: nobody, credential: owner.token }, 404, 'not_found')
    const lines: { actor: string; action: string; subject: string }[] = []
    for (let after: string | null = '0'; after !== null; ) {
      const page = await expectAnswer(
        service,
        { path: `/api/v1/security-audit?after=${after}`, credential: owner.token },
        200,
      )
      lines.push(...page.json.items)
      after = page.json.next
    }
    const revoked = lines.filter((line) => line.action === 'token.revoke' && line.subject.includes(id))
    assert.deepEqual(
      revoked.map(({ actor, subject }) => ({ actor, subject })),
      [{ actor: `account:${owner.id}`, subject: `account:${eve.id} token:${id}` }],
    )
  })

  it('is not touched by logout, which ends nothing but a session', async () => {
    const fay = await createPerson(service, 'fay')
    const logout = { method: 'POST', path: '/api/v1/auth/logout' }
    const { token } = await create(fay)
    await expectAnswer(service, { ...logout, credential: token }, 204)
    await works(token)
    await works(fay.token)
    await expectAnswer(service, { ...logout, credential: fay.token }, 204)
    await fails(fay.token, 'credential_invalid')
    await works(token)
  })

  it('remembers its last use without writing on each request', async () => {
    const { id, token } = await create(ann)
    const lastUsed = async (): Promise<string | null> =>
      (await list(ann)).find((item: { id: string }) => item.id === id).lastUsedAt
    /** Nobody waits for the writing of it, so the test does. */
    const moved = async (from: string | null): Promise<string> => {
      for (;;) {
        const now = await lastUsed()
        if (now !== from && now !== null) return now
      }
    }
    assert.equal(await lastUsed(), null)
    await works(token)
    const first = await moved(null)
    for (let i = 0; i < 20; i++) await works(token)
    service.clock.advance(9 * 60_000)
    for (let i = 0; i < 20; i++) await works(token)
    assert.equal(await lastUsed(), first, 'ten minutes are not over')
    service.clock.advance(60_000)
    await works(token)
    const second = await moved(first)
    const gap = Date.parse(second) - Date.parse(first)
    assert.ok(gap >= 600_000 && gap < 700_000, `it moved after ${gap} ms`)
  })

  it('tells that it has expired to who holds the very secret, and to nobody else', async () => {
    const gil = await createPerson(service, 'gil')
    const { id, token } = await create(gil, { expiresAt: iso(day) })
    const dead = await create(gil, { expiresAt: iso(day) })
    await expectAnswer(service, revoke(gil, dead.id), 204)
    service.clock.advance(day - 5_000)
    await works(token)
    service.clock.advance(6_000)
    const told = await fails(token, 'token_expired')
    assert.match(String(told.headers['www-authenticate']), /error="token_expired"/)
    await fails(`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`, 'credential_invalid')
    await fails(dead.token, 'credential_invalid')
    await expectAnswer(service, revoke(await signInAgain(gil), id), 204)
    await fails(token, 'credential_invalid')
  })

  it('is not made by a session that a new password has ended meanwhile', async () => {
    const hal = await createPerson(service, 'hal')
    const json = { name: 'x' }
    const reset = { method: 'PATCH', path: `/api/v1/users/${hal.id}`, credential: service.recoveryKey }
    for (let round = 0; round < 4; round++) {
      const token = await signIn(service, hal.name)
      let over = false
      const resetting = expectAnswer(service, { ...reset, json: { password: hal.password } }, 200).finally(() => {
        over = true
      })
      const made: string[] = []
      const keepMaking = async (): Promise<void> => {
        while (!over) {
          const told = await service.ask({ path, credential: token, json })
          if (told.status === 201) made.push(told.json.token)
          else if (told.status !== 507) assertAnswer({ path }, told, 401, 'credential_invalid')
        }
      }
      await Promise.all([resetting, ...Array.from({ length: 6 }, keepMaking)])
      for (const secret of made) await fails(secret, 'credential_invalid')
    }
  })
})
