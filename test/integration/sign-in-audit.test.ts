import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { createOwner, createPerson, type Person, password } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

const login = '/api/v1/auth/login'

forEachEngine((engine) => {
  let service: TestService
  let owner: Person
  before(async () => {
    service = await startService(engine)
    owner = await createOwner(service)
  })
  after(() => service.stop())

  /** Lines of the security audit about sign-ins to an account. */
  const linesOf = async ({ id }: Person): Promise<string[]> => {
    const lines: string[] = []
    for (let after: string | null = '0'; after !== null; ) {
      const path = `/api/v1/security-audit?after=${after}`
      const page: {
        items: { action: string; actor: string; subject: string; clientAddress: string }[]
        next: string | null
      } = (await expectAnswer(service, { path, credential: service.recoveryKey }, 200)).json
      for (const { action, actor, subject, clientAddress } of page.items)
        if (subject === `account:${id}` && action.startsWith('account.sign-'))
          lines.push(`${action} ${actor.replace(id, 'self')} ${clientAddress}`)
      after = page.next
    }
    return lines
  }
  const tries = async (name: string, times: number): Promise<void> => {
    for (let tried = 0; tried < times; tried++) {
      await service.ask({ method: 'POST', path: login, json: { name, password: 'wrong horse battery staple' } })
      service.clock.advance(3600_000)
    }
  }

  it('tells who signed in and out, and from where', async () => {
    const ann = await createPerson(service, 'ann')
    const out = { method: 'POST', path: '/api/v1/auth/logout', credential: ann.token }
    await expectAnswer(service, out, 204)
    await service.ask(out)
    assert.deepEqual(await linesOf(ann), [
      'account.sign-in account:self 127.0.0.1',
      'account.sign-out account:self 127.0.0.1',
    ])
  })

  it('tells of sign-ins that failed, and is not filled by somebody who tries without end', async () => {
    const ben = await createPerson(service, 'ben')
    const failed = async () => (await linesOf(ben)).filter((line) => line.startsWith('account.sign-in-failed'))
    await tries('ben', 18)
    // The first four, the eighth and the sixteenth.
    await until('they are told', async () => (await failed()).length >= 6)
    await tries('ben', 1)
    assert.deepEqual(await failed(), new Array(6).fill('account.sign-in-failed unknown 127.0.0.1'))
  })

  it('holds nothing of names that nobody has', async () => {
    const { length } = await linesOf(owner)
    await tries('nobody-at-all', 3)
    assert.equal((await linesOf(owner)).length, length)
    const all = await expectAnswer(service, { path: '/api/v1/security-audit', credential: service.recoveryKey }, 200)
    assert.ok(!all.text.includes('nobody-at-all'))
    assert.ok(!all.text.includes(password))
  })
})
