import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import { forEachEngine } from '../../../../test/harness/engines.ts'
import { until } from '../../../../test/harness/until.ts'
import type { AccessRule } from '../../../contract/operation.ts'
import type { Database } from '../../../database/database.ts'
import { migrate } from '../../../database/migrate.ts'
import { migrations } from '../../../database/migrations/index.ts'
import { openDatabase } from '../../../database/open.ts'
import {
  type Actor,
  appendSecurityAudit,
  changeAuthority,
  unasked,
} from '../../../journal/security-audit/security-audit.ts'
import { administrationActions } from '../../../kernel/actions.ts'
import type { Caller, FileKeyCaller } from '../../../kernel/caller.ts'
import { systemClock as clock } from '../../../kernel/clock.ts'
import { changeAccount, changeOwnPassword, createAccount, signIn, signOut } from '../accounts/accounts.ts'
import { endDelegation, putDelegation } from '../service-accounts/delegations.ts'
import { createServiceAccount, setServiceAccountEnabled } from '../service-accounts/service-accounts.ts'
import { activateKey, issueKey, revokeKey } from '../service-accounts/service-keys.ts'
import { callerOf } from './access.ts'
import { Admission } from './admission.ts'

const recovery: FileKeyCaller = {
  kind: 'file-key',
  credential: 'file-key',
  id: 'bootstrap-owner',
  administrator: true,
  serviceAdministrator: true,
  repositories: new Map(),
}
const operator: Actor = { actor: 'test', clientAddress: 'test', stillMay: async () => recovery }
const passwords = {
  hash: async (password: string) => `hash of ${password}`,
  matches: async (password: string, phc: string | null) => phc === `hash of ${password}`,
}
const finding = { clock, findFileKey: () => null, findNamedFileKey: () => null }
const isAdministrator: AccessRule = { kind: 'administrator' }
const mayIssue: AccessRule = { kind: 'administration', action: 'credential.manage', of: 'service-account' }

forEachEngine((engine) => {
  describe('a change of authority', () => {
    let database: Database
    beforeEach(async () => {
      database = engine.use(await openDatabase({ url: await engine.freshDatabaseUrl(), report: () => {} }))
      await migrate(database, migrations)
    })
    const parts = () => ({ database, clock, passwords, allowRegistration: false, report: () => {} })
    const callerBehind = (credential: string): Promise<Caller> =>
      callerOf(database.reader, finding, credential, { wire: 'rest', passFor: null, again: false })

    const letIn = async (credential: string, rule: AccessRule, id = ''): Promise<Actor> => {
      const question = { credential, wire: 'rest', passFor: null, rule, parameters: { id } }
      const admission = new Admission(finding, await callerBehind(credential), question)
      return { actor: 'doer', clientAddress: 'test', stillMay: (tx) => admission.within(tx) }
    }

    /** An administrator who is signed in. */
    const person = async () => {
      const { id } = await createAccount(parts(), { name: 'doer', password: 'right', administrator: true }, operator)
      const { token } = await signIn(parts(), { name: 'doer', password: 'right' }, 'test')
      return { id, actor: await letIn(token, isAdministrator), caller: await callerBehind(token) }
    }
    /** A key that may issue keys for another account. */
    const delegate = async () => {
      const own = await createServiceAccount(parts(), { name: 'own', bindings: [] }, operator)
      const target = await createServiceAccount(parts(), { name: 'target', bindings: [] }, operator)
      const wish = { name: 'key', bindings: [] }
      const { key, secret } = await issueKey(parts(), own.id, wish, { idempotencyKey: 'one', actor: operator })
      await activateKey(parts(), await letIn(secret ?? '', { kind: 'own-key' }))
      const delegation = { accountId: target.id, actions: [...administrationActions], ceiling: [] }
      await putDelegation(parts(), key.id, delegation, operator)
      return { own: own.id, target: target.id, keyId: key.id, actor: await letIn(secret ?? '', mayIssue, target.id) }
    }

    /** An actor, how its right is taken away, and what it is told then. */
    const losses: Readonly<
      Record<string, () => Promise<{ actor: Actor; takeAway: () => Promise<unknown>; code: string }>>
    > = {
      'a disabled account': async () => {
        const { id, actor } = await person()
        const takeAway = () => changeAccount(parts(), id, { enabled: false }, operator)
        return { actor, takeAway, code: 'credential_invalid' }
      },
      'a session that was ended': async () => {
        const { actor, caller } = await person()
        assert.ok(caller.kind === 'account')
        return { actor, takeAway: () => signOut(parts(), caller, 'test'), code: 'credential_invalid' }
      },
      'a password that was changed': async () => {
        const { actor, caller } = await person()
        assert.ok(caller.kind === 'account')
        const change = { currentPassword: 'right', newPassword: 'another' }
        return {
          actor,
          takeAway: () => changeOwnPassword(parts(), caller, change, operator),
          code: 'credential_invalid',
        }
      },
      'a revoked key': async () => {
        const { keyId, actor } = await delegate()
        return { actor, takeAway: () => revokeKey(parts(), keyId, operator), code: 'credential_invalid' }
      },
      'a disabled service account': async () => {
        const { own, actor } = await delegate()
        const change = { expectedRevision: 1, enabled: false }
        const takeAway = () => setServiceAccountEnabled(parts(), own, change, operator)
        return { actor, takeAway, code: 'credential_invalid' }
      },
      'a delegation that was ended': async () => {
        const { keyId, target, actor } = await delegate()
        return { actor, takeAway: () => endDelegation(parts(), keyId, target, operator), code: 'not_found' }
      },
    }

    const waitForLocks = async (): Promise<boolean> => {
      const asked = sql<{ n: string }>`select count(*) as n from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`
      return Number((await asked.execute(database.reader)).rows[0]?.n) === 1
    }

    for (const [what, make] of Object.entries(losses)) {
      it(`is refused to ${what}`, async () => {
        const { actor, takeAway, code } = await make()
        await takeAway()
        await assert.rejects(
          changeAuthority(database, actor, async () => assert.fail('it was let in')),
          { name: 'Failure', code },
        )
      })

      it(`is over before ${what} is one`, async () => {
        const { actor, takeAway } = await make()
        const events: string[] = []
        const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
        const { promise: mayEnd, resolve: letEnd } = Promise.withResolvers<void>()
        const change = changeAuthority(database, actor, async () => {
          begin()
          await mayEnd
          events.push('changed')
        })
        await begun
        const taken = takeAway().then(() => events.push('taken away'))
        // On SQLite it waits for its turn in any case.
        if (engine.name === 'postgres') await until('it waits for a lock', waitForLocks)
        letEnd()
        await Promise.all([change, taken])
        assert.deepEqual(events, ['changed', 'taken away'])
      })
    }

    it('cannot be recorded by whoever forgot to ask', async () => {
      const entry = { action: 'account.create', subject: 'account:one', occurredAt: '' }
      const forgetful = unasked({ actor: 'test', clientAddress: 'test' })
      await assert.rejects(
        database.transaction((tx) => appendSecurityAudit(tx, forgetful, entry)),
        /account\.create: a change of authority goes through changeAuthority/,
      )
    })
  })
})
