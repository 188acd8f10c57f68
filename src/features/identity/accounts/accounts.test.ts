import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { forEachEngine } from '../../../../test/harness/engines.ts'
import type { Database } from '../../../database/database.ts'
import { migrate } from '../../../database/migrate.ts'
import { migrations } from '../../../database/migrations/index.ts'
import { openDatabase } from '../../../database/open.ts'
import { unasked } from '../../../journal/security-audit/security-audit.ts'
import { systemClock } from '../../../kernel/clock.ts'
import type { Passwords } from '../sessions/passwords.ts'
import { callerOfSession } from '../sessions/sessions.ts'
import { type AccountDeps, changeAccount, createAccount, signIn } from './accounts.ts'

const actor = unasked({ actor: 'test', clientAddress: 'test' })
const right = 'the right password'

/** Compares in the clear, and counts. `meanwhile` happens while a password is being looked at. */
const watchedPasswords = () => {
  const asked: (string | null)[] = []
  const watch = { asked, meanwhile: async (): Promise<void> => {} }
  const passwords: Passwords = {
    hash: async (password) => `hash of ${password}`,
    matches: async (password, phc, _standing, onceNext) => {
      await onceNext()
      asked.push(phc)
      const { meanwhile } = watch
      watch.meanwhile = async () => {}
      await meanwhile()
      return phc === `hash of ${password}`
    },
  }
  return { passwords, watch }
}

forEachEngine((engine) => {
  describe('signIn', () => {
    let database: Database
    let deps: AccountDeps
    const { passwords, watch } = watchedPasswords()

    before(async () => {
      database = await openDatabase({ url: await engine.readyDatabaseUrl(), report: () => {} })
      await migrate(database, migrations)
      deps = { database, clock: systemClock, passwords, allowRegistration: false, report: () => {} }
    })
    after(() => database[Symbol.asyncDispose]())

    const newAccount = (name: string) => createAccount(deps, { name, password: right, administrator: false }, actor)
    const refused = { name: 'Failure', code: 'invalid_credentials' }

    it('looks at a password exactly once, also for a name that does not exist', async () => {
      const { id } = await newAccount('existing')
      await newAccount('disabled').then((account) => changeAccount(deps, account.id, { enabled: false }, actor))
      for (const [name, password, phc] of [
        ['existing', 'wrong', `hash of ${right}`],
        ['not-existing', right, null],
        ['disabled', right, `hash of ${right}`],
        ['disabled', 'wrong', `hash of ${right}`],
      ] as const) {
        watch.asked.length = 0
        await assert.rejects(signIn(deps, { name, password }, name + password), refused)
        assert.deepEqual(watch.asked, [phc], `${name} ${password}`)
      }
      const { account, token } = await signIn(deps, { name: 'EXISTING', password: right }, 'here')
      assert.equal(account.id, id)
      assert.equal((await callerOfSession(database.reader, token, Date.now())).id, id)
    })

    it('gives no session for a password that is replaced while it is looked at', async () => {
      const { id, name } = await newAccount('replaced')
      watch.meanwhile = async () => void (await changeAccount(deps, id, { password: 'a newer password' }, actor))
      await assert.rejects(signIn(deps, { name, password: right }, 'here'), refused)
      await signIn(deps, { name, password: 'a newer password' }, 'here')
    })

    it('gives no session to an account that is disabled while its password is looked at', async () => {
      const { id, name } = await newAccount('stopped')
      watch.meanwhile = async () => void (await changeAccount(deps, id, { enabled: false }, actor))
      await assert.rejects(signIn(deps, { name, password: right }, 'here'), refused)
    })

    it('gives no session that outlives a reset which comes right after it', async () => {
      const { id, name } = await newAccount('reset-after')
      const { token } = await signIn(deps, { name, password: right }, 'here')
      await changeAccount(deps, id, { password: 'a newer password' }, actor)
      await assert.rejects(callerOfSession(database.reader, token, Date.now()), { code: 'credential_invalid' })
    })
  })
})
