import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { type Ask, ask, closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { createOwner, type Person, password } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount, revocation } from '../harness/service-keys.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

const me = '/api/v1/auth/me'
const raw = '/api/v1/repositories/releases/raw'

interface Line {
  readonly level: string
  readonly msg: string
  readonly [field: string]: unknown
}

const linesOf = ({ log }: Pick<TestService, 'log'>): Line[] => log.map((line) => JSON.parse(line))

forEachEngine((engine) => {
  let service: TestService
  let owner: Person
  before(async () => {
    service = await startService(engine)
    owner = await createOwner(service)
  })
  after(() => service.stop())

  /** The line of a request that was just answered. */
  const lineOf = async (request: Ask, on: Pick<TestService, 'url' | 'log'> = service): Promise<Line> => {
    const told = await ask(on.url, request)
    const id = told.headers['x-request-id']
    return until('its line', () => linesOf(on).find((line) => line['requestId'] === id))
  }

  it('is a line a request: what was asked, by whom, from where, and what came of it', async () => {
    const put = await lineOf({
      method: 'PUT',
      path: `${raw}/a/b%20c.bin?x=1`,
      credential: owner.token,
      body: 'twelve bytes',
    })
    const { time, requestId, milliseconds, sent, ...rest } = put
    assert.deepEqual(rest, {
      level: 'info',
      method: 'PUT',
      path: `${raw}/a/b%20c.bin`,
      status: 400,
      operation: 'putRaw',
      code: 'invalid_request',
      caller: `account:${owner.id}`,
      name: 'owner',
      address: '127.0.0.1',
      msg: 'request',
    })
    const kept = await lineOf({ method: 'PUT', path: `${raw}/a/b.bin`, credential: owner.token, body: 'twelve bytes' })
    assert.equal(kept['status'], 201)
    assert.equal(kept['received'], 12)
    const got = await lineOf({ path: `${raw}/a/b.bin`, credential: owner.token })
    assert.deepEqual([got['status'], got['sent'], got['code']], [200, 12, undefined])
    const head = await lineOf({ method: 'HEAD', path: `${raw}/a/b.bin`, credential: owner.token })
    assert.equal(head['sent'], 0)
    for (const value of [milliseconds, sent]) assert.equal(typeof value, 'number')
    assert.match(String(requestId), /-/)
    assert.match(String(time), /Z$/)
  })

  it('says of a wrong credential what is wrong with it, and whose it was', async () => {
    const account = await createServiceAccount(service, [binding('releases', 'artifact.list')], 'build-server')
    const key = await activeKey(service, account.id, { bindings: account.bindings, name: 'nightly' })
    const because = async (credential: string, path = me): Promise<Line> => {
      const line = await lineOf({ path, credential })
      assert.equal(line.level, 'warn')
      return line
    }
    const used = await lineOf({ path: me, credential: key.secret })
    assert.deepEqual([used['caller'], used['key'], used.level], [`service-account:${account.id}`, key.id, 'info'])
    const lacking = await because(key.secret, `${raw}/a/b.bin`)
    assert.match(String(lacking['why']), /content\.read|such repository/)
    const twisted = await because(`${key.secret.slice(0, -4)}zzzz`)
    assert.deepEqual(
      [twisted['why'], twisted['key'], twisted['keyName'], twisted['serviceAccount']],
      ['wrong secret of a service key', key.id, 'nightly', 'build-server'],
    )
    await expectAnswer(service, revocation(key.id, service.recoveryKey), 200)
    assert.equal((await because(key.secret))['why'], 'revoked service key')
    const expiresAt = new Date(service.clock.now() + 3_600_000).toISOString()
    const token = { method: 'POST', path: '/api/v1/auth/tokens', credential: owner.token }
    const { id, token: secret } = (await expectAnswer(service, { ...token, json: { name: 'laptop', expiresAt } }, 201))
      .json
    service.clock.advance(25 * 3600_000)
    const expired = await because(secret)
    assert.match(String(expired['why']), /^token expired at 20/)
    assert.deepEqual([expired['token'], expired['account'], expired['code']], [id, 'owner', 'token_expired'])
    const unknown = await because(`pat_${'x'.repeat(43)}`)
    assert.deepEqual([unknown['why'], unknown['token']], ['unknown token', 'pat_xxxxxxxx…'])
    const session = await because(owner.token)
    assert.match(String(session['why']), /^session expired at 20/)
    assert.equal(session['account'], 'owner')
    const none = await lineOf({ path: me })
    assert.deepEqual([none.level, none['code']], ['info', 'credential_missing'])
  })

  it('tells of sign-ins that fail: the name of an account, and never what else was typed', async () => {
    const signIn = (name: string, secret: string) =>
      lineOf({ method: 'POST', path: '/api/v1/auth/login', json: { name, password: secret } })
    const wrong = await signIn('Owner', 'wrong horse battery staple')
    assert.deepEqual([wrong.level, wrong['why'], wrong['account']], ['warn', 'wrong password', 'owner'])
    const nobody = await signIn('my-secret-in-the-wrong-field', password)
    assert.deepEqual([nobody.level, nobody['why']], ['warn', 'no account of this name'])
    const text = service.log.join('\n')
    for (const secret of ['wrong horse', 'my-secret-in', password]) assert.ok(!text.includes(secret), secret)
  })

  it('does not fill the disk because somebody tries without end, and says how much it left out', async (t) => {
    const flooded = await startService(engine)
    t.after(() => flooded.stop())
    const account = { name: 'owner', password }
    await expectAnswer(flooded, { path: '/api/v1/users', credential: flooded.recoveryKey, json: account }, 201)
    const before = flooded.log.length
    for (let sent = 0; sent < 150; sent++)
      await ask(flooded.url, { path: me, credential: `dps_${String(sent).padStart(43, '0')}` })
    const told = linesOf(flooded)
      .slice(before)
      .filter(({ msg }) => msg === 'request')
    assert.equal(told.length, 60)
    const metrics = await expectAnswer(flooded, { path: '/health/metrics', credential: flooded.healthKey }, 200)
    assert.match(metrics.text, /^svc_log_lines_dropped_total 90$/m)
    assert.match(metrics.text, /^svc_credentials_refused_total 150$/m)
    // Those who are known are heard all the same.
    const known = await lineOf({ path: me, credential: flooded.recoveryKey }, flooded)
    assert.equal(known['caller'], 'key:bootstrap-owner')
    const refused = await lineOf({ path: '/api/v1/users', credential: flooded.healthKey }, flooded)
    assert.deepEqual([refused['caller'], refused.level], ['key:health', 'warn'])
    const json = { name: 'owner', password: 'wrong horse battery staple' }
    const tried = await lineOf({ method: 'POST', path: '/api/v1/auth/login', json }, flooded)
    assert.deepEqual([tried['account'], tried.level], ['owner', 'warn'])
  })

  it('is left out where the setting says so, but for what needs a person; health is a matter of debugging', async (t) => {
    const quiet = await startService(engine, { settings: { SVC_ACCESS_LOG: 'false' } })
    t.after(() => quiet.stop())
    const health = await lineOf({ path: '/health/ready', credential: quiet.healthKey }, quiet)
    assert.equal(health.level, 'debug')
    await ask(quiet.url, { path: me, credential: quiet.recoveryKey })
    await lineOf({ path: me, credential: `dps_${'0'.repeat(43)}` }, quiet)
    assert.deepEqual(
      linesOf(quiet)
        .filter(({ msg, level }) => msg === 'request' && level !== 'debug')
        .map((line) => line['status']),
      [401],
    )
  })

  it('tells of a credential in a path only what kind it is', async () => {
    for (const [sent, told] of [
      [`x/${owner.token}/y`, 'x/dps_…/y'],
      [owner.token.replace('_', '%5F'), 'dps_…'],
      ['compat_and_paths/svc_config.tar', 'compat_and_paths/svc_config.tar'],
    ] as const)
      assert.equal((await lineOf({ path: `${raw}/${sent}`, credential: owner.token }))['path'], `${raw}/${told}`)
    assert.ok(!service.log.join('\n').includes(owner.token.slice(4)))
  })

  it('draws nothing on a screen, whatever a path holds, and ends somewhere', async () => {
    const line = await lineOf({ path: `/nothing%1b[31m/${'x'.repeat(4_000)}?token=secret-token` })
    assert.match(String(line['path']), /^\/nothing%1b\[31m\/x{1000,}…$/)
    assert.ok(!service.log.join('\n').includes('secret-token'))
  })
})
