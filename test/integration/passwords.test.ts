import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { assertAnswer, expectAnswer } from '../harness/expect.ts'
import { createOwner, createPerson, type Person, password, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

const path = '/api/v1/auth/password'
const me = '/api/v1/auth/me'
const another = 'a wholly different sentence'

forEachEngine((engine) => {
  let service: TestService
  let owner: Person
  before(async () => {
    service = await startService(engine)
    owner = await createOwner(service)
  })
  after(() => service.stop())

  const change = (credential: string, newPassword = another, currentPassword = password): Ask => ({
    path,
    credential,
    json: { currentPassword, newPassword },
  })
  const login = (name: string, secret: string): Promise<Told> =>
    service.ask({ path: '/api/v1/auth/login', json: { name, password: secret } })
  const newToken = async (person: Person): Promise<string> => {
    const request = { path: '/api/v1/auth/tokens', credential: person.token, json: { name: 'script' } }
    return (await expectAnswer(service, request, 201)).json.token
  }
  const works = (credential: string) => expectAnswer(service, { path: me, credential }, 200)
  const ended = (credential: string) => expectAnswer(service, { path: me, credential }, 401, 'credential_invalid')

  it('is changed by who knows it, which ends every session and token of the account, and no other', async () => {
    const ann = await createPerson(service, 'ann')
    const elsewhere = await signIn(service, 'ann')
    const tokens = [await newToken(ann), await newToken(ann)]
    const ownersToken = await newToken(owner)
    await expectAnswer(service, change(ann.token), 204)
    for (const credential of [ann.token, elsewhere, ...tokens]) await ended(credential)
    for (const credential of [owner.token, ownersToken]) await works(credential)
    assertAnswer({ path }, await login('ann', password), 401, 'invalid_credentials')
    const told = await login('ann', another)
    assertAnswer({ path }, told, 200)
    const listed = await expectAnswer(service, { path: '/api/v1/auth/tokens', credential: told.json.token }, 200)
    assert.deepEqual(
      listed.json.items.map((item: { revoked: boolean }) => item.revoked),
      [true, true],
    )
  })

  it('is not changed by who does not, and what is signed in stays signed in', async () => {
    const ben = await createPerson(service, 'ben')
    const token = await newToken(ben)
    await expectAnswer(service, change(ben.token, another, 'not the password'), 401, 'current_password_invalid')
    for (const credential of [ben.token, token]) await works(credential)
    assertAnswer({ path }, await login('ben', another), 401, 'invalid_credentials')
    assertAnswer({ path }, await login('ben', password), 200)
  })

  it('is changed with a session alone', async () => {
    const token = await newToken(owner)
    const robot = await createServiceAccount(service, [binding('releases', 'repository.read')])
    const key = await activeKey(service, robot.id, { bindings: robot.bindings })
    for (const credential of [token, service.recoveryKey, service.healthKey, key.secret])
      await expectAnswer(service, change(credential), 403, 'permission_missing')
    await works(owner.token)
  })

  it('has 12 to 128 characters and no control characters', async () => {
    const cat = await createPerson(service, 'cat')
    for (const bad of [
      'x'.repeat(11),
      'x'.repeat(129),
      '',
      'with a\nnew line',
      'with a\u0000 zero byte',
      '\ud800 half of a pair',
      12,
      null,
    ]) {
      const json = { currentPassword: password, newPassword: bad }
      const told = await expectAnswer(service, { path, credential: cat.token, json }, 400, 'invalid_request')
      assert.ok(['/newPassword', ''].includes(told.json.details[0].pointer), String(bad))
    }
    await works(cat.token)
    let current: string = password
    for (const good of ['x'.repeat(12), '𝔸'.repeat(128), 'pässwörter sind gut']) {
      await expectAnswer(service, change(await signIn(service, 'cat', current), good, current), 204)
      current = good
    }
    assertAnswer({ path }, await login('cat', current), 200)
  })

  it('is changed once when two do it at the same moment', async () => {
    const dan = await createPerson(service, 'dan')
    const second = await signIn(service, 'dan')
    const passwords = ['the first new password', 'the second new password']
    const told = await Promise.all([
      service.ask(change(dan.token, passwords[0])),
      service.ask(change(second, passwords[1])),
    ])
    assert.deepEqual(told.map(({ status }) => status).sort(), [204, 401])
    const winner = told.findIndex(({ status }) => status === 204)
    assertAnswer({ path }, await login('dan', passwords[winner] ?? ''), 200)
    assertAnswer({ path }, await login('dan', passwords[1 - winner] ?? ''), 401, 'invalid_credentials')
    assertAnswer({ path }, await login('dan', password), 401, 'invalid_credentials')
    for (const credential of [dan.token, second]) await ended(credential)
  })

  it('that is wrong counts toward the pauses of sign-in, and a pause of sign-in holds here', async () => {
    const eve = await createPerson(service, 'eve')
    let wrong = 0
    let told = await service.ask(change(eve.token, another, 'not the password'))
    while (told.status === 401) {
      wrong++
      assert.equal(told.json.code, 'current_password_invalid')
      assert.ok(wrong < 20, 'the 20th wrong try in a row waits')
      told = await service.ask(change(eve.token, another, 'not the password'))
    }
    assertAnswer({ path }, told, 429, 'rate_limited')
    assert.ok(wrong >= 4, `a few wrong tries are free, here ${wrong}`)
    assertAnswer({ path }, await login('EVE', password), 429, 'rate_limited')
    await expectAnswer(service, change(eve.token), 429, 'rate_limited')
    service.clock.advance(Number(told.headers['retry-after']) * 1000 + 1)
    await expectAnswer(service, change(eve.token), 204)
  })

  it('is not found by trying many at once', async () => {
    const fay = await createPerson(service, 'fay')
    const tries = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        i % 2 === 0
          ? login('fay', `wrong password ${i}`)
          : service.ask(change(fay.token, another, `wrong password ${i}`)),
      ),
    )
    const answered = tries.filter(({ status }) => status === 401).length
    assert.ok(answered < 20, `${answered} of 60 wrong tries at once were told that they were wrong`)
    for (const { status } of tries) assert.ok(status === 401 || status === 429)
    service.clock.advance(16 * 60_000)
    assertAnswer({ path }, await login('fay', password), 200)
  })

  it('is reset by an administrator and by the recovery key, which ends sessions and tokens', async () => {
    for (const credential of [owner.token, service.recoveryKey]) {
      const name = credential === owner.token ? 'gil' : 'hal'
      const person = await createPerson(service, name)
      const token = await newToken(person)
      const request = { method: 'PATCH', path: `/api/v1/users/${person.id}`, credential, json: { password: another } }
      await expectAnswer(service, { ...request, credential: person.token }, 403, 'permission_missing')
      await expectAnswer(service, { ...request, json: { password: 'too short' } }, 400, 'invalid_request')
      for (const mine of [person.token, token]) await works(mine)
      const told = await expectAnswer(service, request, 200)
      assert.deepEqual(told.json, { id: person.id, name, administrator: false, enabled: true })
      for (const mine of [person.token, token]) await ended(mine)
      assertAnswer({ path }, await login(name, password), 401, 'invalid_credentials')
      assertAnswer({ path }, await login(name, another), 200)
    }
  })

  it('stays as it is when an account is changed in nothing', async () => {
    const ida = await createPerson(service, 'ida')
    const request = { method: 'PATCH', path: `/api/v1/users/${ida.id}`, credential: owner.token, json: {} }
    const told = await expectAnswer(service, request, 200)
    assert.deepEqual(told.json, { id: ida.id, name: 'ida', administrator: false, enabled: true })
    await works(ida.token)
    const nobody = { ...request, path: '/api/v1/users/00000000-0000-7000-8000-000000000000' }
    await expectAnswer(service, nobody, 404, 'not_found')
  })

  it('that was taken away opens no session, not even for who was just signing in', async () => {
    const joy = await createPerson(service, 'joy')
    let current: string = password
    for (let round = 0; round < 6; round++) {
      const next = `password of round ${round}`
      const reset = {
        method: 'PATCH',
        path: `/api/v1/users/${joy.id}`,
        credential: service.recoveryKey,
        json: { password: next },
      }
      const [, ...opened] = await Promise.all([
        expectAnswer(service, reset, 200),
        ...Array.from({ length: 3 }, () => login('joy', current)),
      ])
      for (const told of opened) {
        if (told.status === 200) await ended(told.json.token)
        else assertAnswer({ path }, told, 401, 'invalid_credentials')
      }
      current = next
      assertAnswer({ path }, await login('joy', current), 200)
    }
  })
})
