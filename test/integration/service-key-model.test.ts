import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import fc from 'fast-check'
import { day, hour, minute } from '../../src/kernel/units.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { walks } from '../harness/depth.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { startService, stillClock, type TestService } from '../harness/service.ts'
import {
  activation,
  binding,
  createServiceAccount,
  issueRequest,
  readKey,
  revocation,
  rotateRequest,
} from '../harness/service-keys.ts'

after(closeConnections)

interface Key {
  readonly id: string
  readonly secret: string
  state: 'pending' | 'active' | 'revoked'
  expiresMs: number
  readonly activationEndMs: number
  readonly rotatedFrom: Key | null
  superseded: boolean
  supersededMs: number
}

/** `pick` chooses a key, `side` the process that is asked. */
const step = fc.record({
  action: fc.oneof(
    { weight: 4, arbitrary: fc.constant('issue' as const) },
    { weight: 4, arbitrary: fc.constant('rotate' as const) },
    { weight: 8, arbitrary: fc.constant('activate' as const) },
    { weight: 3, arbitrary: fc.constant('rotate at once' as const) },
    { weight: 3, arbitrary: fc.constant('activate at once' as const) },
    { weight: 2, arbitrary: fc.constant('revoke' as const) },
    { weight: 2, arbitrary: fc.constant('switch' as const) },
    { weight: 5, arbitrary: fc.constant('wait' as const) },
    { weight: 1, arbitrary: fc.constant('restart' as const) },
  ),
  pick: fc.nat(),
  side: fc.nat(1),
  /** The hands of a clock are also put back. */
  waitMs: fc.constantFrom(-hour, minute, 14 * minute, 15 * minute, hour, 23 * hour, day, 30 * day, 60 * day),
  days: fc.constantFrom(1, 30, 90, 365),
})

forEachEngine((engine) => {
  const clock = stillClock()
  let sides: TestService[]
  before(async () => {
    const first = await startService(engine, { clock })
    sides = [first, await startService(engine, { on: first })]
  })
  after(async () => {
    for (const service of sides.toReversed()) await service.stop()
  })

  it('keeps the rules of service keys through any order of events, in two processes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 45 }), async (steps) => {
        const [first] = sides
        assert(first !== undefined)
        const bindings = [binding('releases', 'repository.read')]
        const account = await createServiceAccount(first, bindings)
        const keys: Key[] = []
        let enabled = true
        let revision = 1
        const now = () => clock.now()
        const pending = () => keys.filter((key) => key.state === 'pending' && key.activationEndMs > now())
        const active = () => keys.filter((key) => key.state === 'active' && key.expiresMs > now() && !key.superseded)
        const replaced = () =>
          keys
            .filter((key) => key.state === 'active' && key.expiresMs > now() && key.superseded)
            .sort((one, other) => other.supersededMs - one.supersededMs || (other.id > one.id ? 1 : -1))
        const refusalOf = (key: Key): string | null => {
          if (key.state === 'revoked' || !enabled) return 'credential_invalid'
          if (key.expiresMs <= now() || (key.state === 'pending' && key.activationEndMs <= now()))
            return 'token_expired'
          return null
        }
        const remember = (json: { id: string; secret: string; expiresAt: string }, rotatedFrom: Key | null): void => {
          const { id, secret, expiresAt } = json
          const expiresMs = Date.parse(expiresAt)
          const activationEndMs = now() + 15 * minute
          keys.push({
            id,
            secret,
            state: 'pending',
            expiresMs,
            activationEndMs,
            rotatedFrom,
            superseded: false,
            supersededMs: 0,
          })
        }
        const activated = (key: Key): void => {
          key.state = 'active'
          const old = key.rotatedFrom
          if (old === null) return
          if (!old.superseded) old.supersededMs = now()
          old.superseded = true
          old.expiresMs = Math.min(old.expiresMs, now() + day)
          const end = (ended: Key): void => {
            ended.expiresMs = Math.min(ended.expiresMs, now())
          }
          if (old.rotatedFrom !== null) end(old.rotatedFrom)
          for (const each of replaced().slice(3)) end(each)
        }
        const checkAll = async (service: TestService): Promise<void> => {
          for (const key of keys) {
            const code = refusalOf(key) ?? (key.state === 'pending' ? 'credential_invalid' : null)
            const request = { path: '/api/v1/auth/me', credential: key.secret }
            if (code === null) await expectAnswer(service, request, 200)
            else await expectAnswer(service, request, 401, code)
          }
        }

        for (const { action, pick, side, waitMs, days } of steps) {
          clock.advance(1)
          const service: TestService = sides[side] ?? first
          const key = keys.length === 0 ? undefined : keys[pick % keys.length]
          const wish = { bindings, expiresAt: new Date(now() + days * day).toISOString() }
          const canRotate = key !== undefined && key.state === 'active' && key.expiresMs > now() && !key.superseded
          if (action === 'issue') {
            const room = pending().length < 2
            const told = await expectAnswer(service, issueRequest(service, account.id, wish), room ? 201 : 507)
            if (room) remember(told.json, null)
          } else if (action === 'wait') clock.advance(waitMs)
          else if (action === 'restart') await service.restart()
          else if (action === 'switch') {
            const json = { expectedRevision: revision, enabled: !enabled }
            const path = `/api/v1/service-accounts/${account.id}`
            await expectAnswer(service, { method: 'PATCH', path, credential: service.recoveryKey, json }, 200)
            enabled = !enabled
            revision++
          } else if (action === 'activate at once') {
            const waiting = pending()
            const told: Told[] = await Promise.all(
              waiting.map(({ secret }, i) => (sides[i % 2] ?? first).ask(activation(secret))),
            )
            if (!enabled) assert.ok(told.every(({ status }) => status === 401))
            for (const [i, each] of waiting.entries()) if (told[i]?.status === 204) activated(each)
            if (enabled && told.some(({ status }) => status !== 204)) assert.equal(active().length, 3)
          } else if (key === undefined) continue
          else if (action === 'rotate') {
            const expected = !canRotate ? 409 : pending().length < 2 ? 201 : 507
            const told = await expectAnswer(service, rotateRequest(service, key.id, wish), expected)
            if (expected === 201) remember(told.json, key)
          } else if (action === 'rotate at once') {
            const room = canRotate ? 2 - pending().length : 0
            const told: Told[] = await Promise.all(
              [0, 1, 0, 1].map((i) => (sides[i] ?? first).ask(rotateRequest(first, key.id, wish))),
            )
            const made = told.filter(({ status }) => status === 201)
            assert.equal(made.length, room)
            for (const { json } of made) remember(json, key)
          } else if (action === 'activate') {
            const refused = refusalOf(key)
            const others = active().filter((other) => other !== key.rotatedFrom).length
            if (refused !== null) await expectAnswer(service, activation(key.secret), 401, refused)
            else if (key.state === 'active') await expectAnswer(service, activation(key.secret), 204)
            else if (others >= 3) await expectAnswer(service, activation(key.secret), 507, 'key_limit')
            else {
              await expectAnswer(service, activation(key.secret), 204)
              activated(key)
            }
          } else {
            await expectAnswer(service, revocation(key.id, service.recoveryKey), 200)
            key.state = 'revoked'
          }
          assert.ok(active().length <= 3)
          assert.ok(replaced().length <= 3)
          assert.ok(pending().length <= 2)
          await checkAll(sides[1 - side] ?? first)
        }
        for (const key of keys) {
          const { state, expiresAt } = await readKey(first, key.id)
          assert.deepEqual([state, Date.parse(expiresAt)], [key.state, key.expiresMs])
        }
      }),
      walks(4, 20),
    )
  })
})
