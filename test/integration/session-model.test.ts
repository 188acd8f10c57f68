import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import fc from 'fast-check'
import { day, hour } from '../../src/kernel/units.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { walks } from '../harness/depth.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { createPerson, password, signIn } from '../harness/people.ts'
import { startService, stillClock, type TestService } from '../harness/service.ts'
import { freshName } from '../harness/service-keys.ts'

after(closeConnections)

/** How long the holder of an expired secret is told so for certain; later it may be forgotten. */
const rememberedMs = { session: 7 * day, token: 30 * day }

interface Secret {
  readonly kind: 'session' | 'token'
  readonly id: string
  readonly secret: string
  readonly expiresMs: number
  ended: boolean
}

const step = fc.record({
  action: fc.oneof(
    { weight: 4, arbitrary: fc.constant('sign in' as const) },
    { weight: 6, arbitrary: fc.constant('make a token' as const) },
    { weight: 2, arbitrary: fc.constant('sign out' as const) },
    { weight: 3, arbitrary: fc.constant('revoke a token' as const) },
    { weight: 1, arbitrary: fc.constant('change the password' as const) },
    { weight: 1, arbitrary: fc.constant('reset the password' as const) },
    { weight: 2, arbitrary: fc.constant('switch' as const) },
    { weight: 4, arbitrary: fc.constant('wait' as const) },
    { weight: 1, arbitrary: fc.constant('restart' as const) },
  ),
  pick: fc.nat(),
  side: fc.nat(1),
  /** The hands of a clock are also put back. */
  waitMs: fc.constantFrom(-hour, hour, 6 * hour, 12 * hour, day, 20 * day, 90 * day),
  days: fc.constantFrom(1, 30, 90, 365),
})

forEachEngine((engine) => {
  const clock = stillClock()
  let sides: TestService[]
  before(async () => {
    const first = await startService(engine, { clock })
    sides = [first, await startService(engine, { on: first })]
    await createPerson(first, 'first')
  })
  after(async () => {
    for (const service of sides.toReversed()) await service.stop()
  })

  it('keeps the rules of sessions and tokens through any order of events, in two processes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 25, maxLength: 40 }), async (steps) => {
        const [first] = sides
        assert(first !== undefined)
        const person = await createPerson(first, freshName('person'))
        let current: string = password
        let enabled = true
        const now = () => clock.now()
        const secrets: Secret[] = [
          { kind: 'session', id: '', secret: person.token, expiresMs: now() + 12 * hour, ended: false },
        ]
        const works = (each: Secret): boolean => !each.ended && enabled && each.expiresMs > now()
        const endAll = (kind?: Secret['kind']): void => {
          for (const each of secrets) if (kind === undefined || each.kind === kind) each.ended = true
        }
        const check = async (service: TestService, each: Secret): Promise<void> => {
          const request = { path: '/api/v1/auth/me', credential: each.secret }
          if (works(each)) {
            await expectAnswer(service, request, 200)
            return
          }
          const told = await expectAnswer(service, request, 401)
          const codes = ['credential_invalid']
          if (!each.ended && enabled) {
            if (each.expiresMs > now() - rememberedMs[each.kind]) codes.pop()
            codes.push(`${each.kind}_expired`)
          }
          assert.ok(codes.includes(told.json.code), `${told.json.code} is none of ${codes.join()}`)
        }

        for (const { action, pick, side, waitMs, days } of steps) {
          clock.advance(1)
          const service: TestService = sides[side] ?? first
          const mine = secrets.filter((each) => each.kind === 'session' && works(each))
          const session = mine[pick % Math.max(1, mine.length)]
          const tokens = secrets.filter((each) => each.kind === 'token')
          const reset = { method: 'PATCH', path: `/api/v1/users/${person.id}`, credential: service.recoveryKey }
          if (action === 'wait') clock.advance(waitMs)
          else if (action === 'restart') await service.restart()
          else if (action === 'sign in') {
            if (enabled) {
              const secret = await signIn(service, person.name, current)
              secrets.push({ kind: 'session', id: '', secret, expiresMs: now() + 12 * hour, ended: false })
            } else {
              const json = { name: person.name, password: current }
              await expectAnswer(service, { path: '/api/v1/auth/login', json }, 401, 'invalid_credentials')
              // Not more wrong tries than are free.
              await expectAnswer(service, { ...reset, json: { enabled: true } }, 200)
              enabled = true
            }
          } else if (action === 'switch') {
            enabled = !enabled
            await expectAnswer(service, { ...reset, json: { enabled } }, 200)
            if (!enabled) endAll('session')
          } else if (action === 'reset the password') {
            current = `${freshName('a new password')} for ${person.name}`
            await expectAnswer(service, { ...reset, json: { password: current } }, 200)
            endAll()
          } else if (session === undefined) continue
          else if (action === 'make a token') {
            const expiresAt = new Date(now() + days * day).toISOString()
            const request = { path: '/api/v1/auth/tokens', credential: session.secret, json: { name: 'x', expiresAt } }
            const { json } = await expectAnswer(service, request, 201)
            const { id, token } = json
            secrets.push({ kind: 'token', id, secret: token, expiresMs: Date.parse(expiresAt), ended: false })
          } else if (action === 'sign out') {
            await expectAnswer(
              service,
              { method: 'POST', path: '/api/v1/auth/logout', credential: session.secret },
              204,
            )
            session.ended = true
          } else if (action === 'revoke a token') {
            const token = tokens[pick % Math.max(1, tokens.length)]
            if (token === undefined) continue
            const path = `/api/v1/auth/tokens/${token.id}`
            const told: Told = await service.ask({ method: 'DELETE', path, credential: session.secret })
            const forgotten = token.expiresMs <= now() - rememberedMs.token
            assert.ok(told.status === 204 || (forgotten && told.status === 404), told.text)
            token.ended = true
          } else {
            const newPassword = `${freshName('my next password')} for ${person.name}`
            const json = { currentPassword: current, newPassword }
            await expectAnswer(service, { path: '/api/v1/auth/password', credential: session.secret, json }, 204)
            current = newPassword
            endAll()
          }
          for (const each of secrets.slice(-12)) await check(sides[1 - side] ?? first, each)
        }
        for (const each of secrets) await check(first, each)
      }),
      walks(4, 7),
    )
  })
})
