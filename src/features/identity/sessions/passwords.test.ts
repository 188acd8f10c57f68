import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { argon2Sync } from 'node:crypto'
import { before, describe, it } from 'node:test'
import { passwordHashesAtOnce, passwordHashesWaitingMax } from '../../../kernel/limits/identity.ts'
import { createPasswords } from './passwords.ts'

const here = { line: 'other', subject: 'one', network: 'here', party: 'here' } as const
const whenever = async (): Promise<void> => {}

/** How many argon2 jobs are given to the thread pool while the work runs. */
const argon2Jobs = async (work: () => Promise<unknown>): Promise<number> => {
  let jobs = 0
  const hook = createHook({
    init(_, type) {
      if (/argon2/i.test(type)) jobs += 1
    },
  }).enable()
  try {
    await work()
  } finally {
    hook.disable()
  }
  return jobs
}

describe('passwords', () => {
  const passwords = createPasswords()
  let stored: string
  before(async () => {
    stored = await passwords.hash('correct horse', here)
  })

  it('are stored as argon2id with a salt of their own, and match themselves alone', async () => {
    assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    assert.notEqual(await passwords.hash('correct horse', here), stored)
    assert.equal(await passwords.matches('correct horse', stored, here, whenever), true)
    for (const wrong of ['correct horse ', 'Correct horse', '', 'correct hors', 'correct horse\u0000'])
      assert.equal(await passwords.matches(wrong, stored, here, whenever), false, wrong)
  })

  it('cost the same work for an account that does not exist, and never match there', async () => {
    const real = await argon2Jobs(() => passwords.matches('correct horse', stored, here, whenever))
    assert.equal(real, 1)
    const none = await argon2Jobs(async () => {
      assert.equal(await passwords.matches('correct horse', null, here, whenever), false)
    })
    assert.equal(none, real)
  })

  it('that were hashed with other parameters still match', async () => {
    const nonce = Buffer.from('saltsalt')
    const parameters = { message: 'password', nonce, parallelism: 1, tagLength: 16, memory: 8, passes: 1 }
    const base64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '')
    const phc = `$argon2id$v=19$m=8,t=1,p=1$${base64(nonce)}$${base64(argon2Sync('argon2id', parameters))}`
    assert.equal(await passwords.matches('password', phc, here, whenever), true)
    assert.equal(await passwords.matches('passwore', phc, here, whenever), false)
  })

  it('in another form stop the look, whoever asks', async () => {
    for (const broken of ['', 'plain', '$argon2i$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$AAAA', `${stored}$`])
      await assert.rejects(passwords.matches('password', broken, here, whenever), /not argon2id/)
  })

  it('are looked at a few at a time, and the line has an end', async () => {
    const line = createPasswords(passwordHashesAtOnce)
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    let atServing = 0
    let most = 0
    let asked = 0
    const look = (): Promise<unknown> =>
      line
        .matches('x', null, { ...here, subject: `${++asked}`, network: `${asked}`, party: `${asked}` }, async () => {
          atServing += 1
          most = Math.max(most, atServing)
          await gate
          atServing -= 1
          throw new Error('seen enough')
        })
        .catch((error: unknown) => error)
    const room = passwordHashesAtOnce + passwordHashesWaitingMax
    const looks = Array.from({ length: room + 3 }, look)
    const refused = await Promise.all(looks.slice(room))
    for (const error of refused) assert.ok(error instanceof Error && 'code' in error && error.code === 'busy')
    assert.equal(atServing, passwordHashesAtOnce)
    open()
    // More come while turns are handed over.
    const late = Array.from({ length: 50 }, look)
    await Promise.all([...looks, ...late])
    assert.equal(most, passwordHashesAtOnce)
    assert.equal(await line.matches('correct horse', stored, here, whenever), true)
  })
})
