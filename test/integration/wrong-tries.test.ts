import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { signInFreeFailuresPerAccount, signInFreeFailuresPerKnownAccount } from '../../src/kernel/limits/identity.ts'
import { hour } from '../../src/kernel/units.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createPerson, password } from '../harness/people.ts'
import { refusalOf, signInFrom, signInSite } from '../harness/sign-in-site.ts'

const wrong = 'wrong horse battery staple'

after(closeConnections)

forEachEngine((engine) => {
  const site = signInSite(engine)
  const { freshAddress } = site

  describe('wrong tries', () => {
    /** Tries until told to wait; answers how many were looked at, and the refusal. */
    const tryUntilThrottled = async (name: string, from: string): Promise<{ tries: number; told: Told }> => {
      for (let tries = 0; tries < 100; tries++) {
        const told = await signInFrom(site.service, name, wrong, from)
        if (told.status === 429) return { tries, told }
        assert.equal(told.status, 401)
      }
      throw new Error('never throttled')
    }

    it('lead to a pause for the account, from whatever address, that no right password shortens', async () => {
      const { name } = await createPerson(site.service, 'guessed-at')
      const { tries, told } = await tryUntilThrottled(name, freshAddress())
      assert.equal(tries, signInFreeFailuresPerAccount + 1)
      assert.ok(tries < 20)
      assert.equal(told.json.code, 'rate_limited')
      const seconds = Number(told.headers['retry-after'])
      assert.ok(seconds >= 1 && seconds <= 2, told.text)
      for (const spelling of [name, name.toUpperCase()]) {
        const right = await signInFrom(site.service, spelling, password, freshAddress())
        assert.equal(right.status, 429)
      }
      assert.equal((await signInFrom(site.service, site.owner.name, password, freshAddress())).status, 200)
      site.service.clock.advance(seconds * 1000)
      assert.equal((await signInFrom(site.service, name, password, freshAddress())).status, 200)
    })

    it('from elsewhere keep nobody out who signed in from a network lately; those from there count by themselves', async () => {
      const { name } = await createPerson(site.service, 'at-home')
      const home = freshAddress()
      assert.equal((await signInFrom(site.service, name, password, home)).status, 200)
      for (const _ of ['once', 'again']) await tryUntilThrottled(name, freshAddress()).catch(() => {})
      assert.equal((await signInFrom(site.service, name, password, freshAddress())).status, 429)
      assert.equal((await signInFrom(site.service, name, password, home)).status, 200)
      const { tries } = await tryUntilThrottled(name, home)
      assert.ok(signInFreeFailuresPerAccount + 1 + tries < 20, `${tries} tries`)
      site.service.clock.advance(25 * hour)
      const later = await tryUntilThrottled(name, freshAddress())
      assert.equal(later.tries, signInFreeFailuresPerAccount + 1)
      // After a day the network is one like others.
      assert.equal((await signInFrom(site.service, name, password, home)).status, 429)
    })

    it('from one network that knows the account hold up no other that knows it', async () => {
      const { name } = await createPerson(site.service, 'of-many-homes')
      const [shared, own, third, last] = [freshAddress(), freshAddress(), freshAddress(), freshAddress()]
      for (const home of [shared, own, third, last])
        assert.equal((await signInFrom(site.service, name, password, home)).status, 200)
      const { tries } = await tryUntilThrottled(name, shared)
      assert.equal(tries, signInFreeFailuresPerKnownAccount + 1)
      // The free ones are of all of them together, the pause is of each alone.
      assert.equal((await tryUntilThrottled(name, third)).tries, 1)
      assert.equal((await tryUntilThrottled(name, last)).tries, 1)
      assert.equal((await signInFrom(site.service, name, password, own)).status, 200)
      for (const paused of [shared, third, last])
        assert.equal((await signInFrom(site.service, name, password, paused)).status, 429)
      // The right password came: all but those who wait have their free ones again.
      assert.equal((await tryUntilThrottled(name, own)).tries, signInFreeFailuresPerKnownAccount + 1)
    })

    it('from wherever keep no session from changing the password; those of a session count for it and where it is', async () => {
      const person = await createPerson(site.service, 'changes-his-mind')
      const { name } = person
      const change = (credential: string, currentPassword: string, from: string): Promise<Told> =>
        site.service.ask({
          path: '/api/v1/auth/password',
          credential,
          json: { currentPassword, newPassword: 'a wholly different sentence' },
          headers: { 'x-forwarded-for': from },
        })
      const [home, cafe] = [freshAddress(), freshAddress()]
      const mine = (await signInFrom(site.service, name, password, home)).json.token
      await tryUntilThrottled(name, freshAddress())
      await tryUntilThrottled(name, home)
      assert.equal((await change(person.token, wrong, cafe)).status, 401)
      let guesses = 1
      while (guesses < 40 && (await change(person.token, wrong, freshAddress())).status === 401) guesses += 1
      assert.equal(guesses, signInFreeFailuresPerKnownAccount + 1)
      assert.equal((await change(person.token, password, freshAddress())).status, 429)
      assert.equal((await signInFrom(site.service, name, password, cafe)).status, 429)
      assert.equal((await change(mine, password, freshAddress())).status, 204)
    })

    it('do not count any more once the right password came', async () => {
      const { name } = await createPerson(site.service, 'forgiven')
      const from = freshAddress()
      for (let tries = 0; tries < signInFreeFailuresPerAccount; tries++)
        assert.equal((await signInFrom(site.service, name, wrong, from)).status, 401)
      assert.equal((await signInFrom(site.service, name, password, from)).status, 200)
      assert.equal((await tryUntilThrottled(name, from)).tries, signInFreeFailuresPerKnownAccount + 1)
    })

    it('double the pause each time, up to 15 minutes', async () => {
      const { name } = await createPerson(site.service, 'stubborn')
      const from = freshAddress()
      let { told } = await tryUntilThrottled(name, from)
      const pauses: number[] = []
      for (let round = 0; round < 12; round++) {
        pauses.push(Number(told.headers['retry-after']))
        site.service.clock.advance(Number(told.headers['retry-after']) * 1000)
        assert.equal((await signInFrom(site.service, name, wrong, from)).status, 401)
        told = await signInFrom(site.service, name, password, from)
        assert.equal(told.status, 429)
      }
      // The clock goes on by itself, so a second may be missing.
      const expected = [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]
      pauses.forEach((pause, index) => {
        const full = expected[index] ?? 0
        assert.ok(pause === full || pause === full - 1, `${pauses}`)
      })
    })

    it('are counted for names that do not exist exactly as for those that do', async () => {
      const { name } = await createPerson(site.service, 'existing')
      const there = await tryUntilThrottled(name, freshAddress())
      const notThere = await tryUntilThrottled('not-existing', freshAddress())
      assert.equal(notThere.tries, there.tries)
      assert.equal(notThere.told.json.code, there.told.json.code)
    })

    it('lead to a pause for the address, whatever names were tried', async () => {
      const from = freshAddress()
      let told = await signInFrom(site.service, 'victim-0', wrong, from)
      let tries = 1
      // A right one in between does not hide the search.
      for (; told.status !== 429 && tries < 150; tries++) {
        told = await signInFrom(site.service, `victim-${tries}`, wrong, from)
        if (tries === 20 || tries === 40)
          assert.equal((await signInFrom(site.service, site.owner.name, password, from)).status, 200)
      }
      assert.equal(told.json.code, 'rate_limited')
      assert.ok(tries > 20 && tries <= 100, `${tries} tries`)
      const { name } = await createPerson(site.service, 'newly-here')
      assert.equal((await signInFrom(site.service, name, password, from)).status, 429)
      assert.equal((await signInFrom(site.service, name, password, freshAddress())).status, 200)
      // Who signed in from there lately is not held up by a search of others.
      assert.equal((await signInFrom(site.service, site.owner.name, password, from)).status, 200)
      site.service.clock.advance(Number(told.headers['retry-after']) * 1000)
      assert.equal((await signInFrom(site.service, name, password, from)).status, 200)
    })

    it('lead to a pause for the whole network of an IPv6 address, which one client has to itself', async () => {
      let told = await signInFrom(site.service, 'victim-v6', wrong, '2001:db8:0:7::1')
      let tries = 1
      for (; told.status !== 429 && tries < 150; tries++)
        told = await signInFrom(site.service, `victim-v6-${tries}`, wrong, `2001:db8:0:7::${tries.toString(16)}`)
      assert.ok(tries > 20 && tries <= 100, `${tries} tries`)
      assert.equal((await signInFrom(site.service, site.owner.name, password, '2001:db8:0:7:1:2:3:4')).status, 429)
      assert.equal((await signInFrom(site.service, site.owner.name, password, '2001:db8:0:8::1')).status, 200)
    })

    it('count for every gateway on the database', async () => {
      const { name } = await createPerson(site.service, 'two-doors')
      const from = freshAddress()
      let looked = 0
      for (let tries = 0; tries < 40; tries++) {
        const told = await signInFrom(tries % 2 === 0 ? site.service : site.second, name, wrong, from)
        if (told.status === 401) looked += 1
      }
      assert.equal(looked, signInFreeFailuresPerAccount + 1)
      assert.equal((await signInFrom(site.second, name, password, from)).status, 429)
    })

    it('are not forgotten when the service starts again', async () => {
      const { name } = await createPerson(site.service, 'remembered')
      const from = freshAddress()
      await tryUntilThrottled(name, from)
      await site.service.restart()
      assert.equal((await signInFrom(site.service, name, password, from)).status, 429)
    })

    it('are forgotten after a day without any', async () => {
      const { name } = await createPerson(site.service, 'long-ago')
      await tryUntilThrottled(name, freshAddress())
      site.service.clock.advance(25 * hour)
      assert.equal((await tryUntilThrottled(name, freshAddress())).tries, signInFreeFailuresPerAccount + 1)
    })

    it('that come all at once are not all looked at', async () => {
      const { name } = await createPerson(site.service, 'burst')
      const from = freshAddress()
      const told = await Promise.all(Array.from({ length: 60 }, () => signInFrom(site.service, name, wrong, from)))
      const looked = told.filter(({ status }) => status === 401).length
      assert.ok(looked >= signInFreeFailuresPerAccount && looked < 20, `${looked} of 60 were looked at`)
      assert.equal(told.filter(({ status }) => status === 429).length, 60 - looked)
    })

    it('of others do not touch a session that is open', async () => {
      const { name, token } = await createPerson(site.service, 'undisturbed')
      await tryUntilThrottled(name, freshAddress())
      assert.equal(await refusalOf(site.service, token), null)
    })
  })
})
