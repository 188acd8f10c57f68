import assert from 'node:assert/strict'
import { beforeEach, it } from 'node:test'
import { forEachEngine } from '../../../../test/harness/engines.ts'
import { type ManualClock, stillClock } from '../../../../test/harness/service.ts'
import type { AccessRule } from '../../../contract/operation.ts'
import type { Database } from '../../../database/database.ts'
import { migrate } from '../../../database/migrate.ts'
import { migrations } from '../../../database/migrations/index.ts'
import { openDatabase } from '../../../database/open.ts'
import type { Actor } from '../../../journal/security-audit/security-audit.ts'
import { administrationActions } from '../../../kernel/actions.ts'
import type { Caller, FileKeyCaller, ServiceKeyCaller } from '../../../kernel/caller.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { Admission } from '../access/admission.ts'
import { callerOfServiceKey } from './calling-keys.ts'
import { putDelegation } from './delegations.ts'
import { createServiceAccount, setServiceAccountEnabled } from './service-accounts.ts'
import { activateKey, issueKey, revokeKey } from './service-keys.ts'

const recovery: FileKeyCaller = {
  kind: 'file-key',
  credential: 'file-key',
  id: 'bootstrap-owner',
  administrator: true,
  serviceAdministrator: true,
  repositories: new Map(),
}

forEachEngine((engine) => {
  let database: Database
  let clock: ManualClock
  let operator: ServiceKeyCaller
  let operatorSecret: string
  let target: string
  beforeEach(async () => {
    const url = await engine.readyDatabaseUrl()
    database = engine.use(await openDatabase({ url, report: () => {} }))
    await migrate(database, migrations)
    clock = stillClock()
    const own = await createServiceAccount(parts(), { name: 'operator', bindings: [] }, actor)
    target = (await createServiceAccount(parts(), { name: 'target', bindings: [] }, actor)).id
    operatorSecret = (await issue(actor, own.id)).secret ?? ''
    const caller = async () => callerOfServiceKey(database.reader, operatorSecret, clock.now())
    await activateKey(parts(), actorBehind(await caller(), operatorSecret, { kind: 'own-key' }, ''))
    operator = await caller()
    const delegation = { accountId: target, actions: [...administrationActions], ceiling: [] }
    await putDelegation(parts(), operator.keyId, delegation, actor)
  })

  const parts = () => ({ database, clock })
  let asked = 0
  /** Whoever sent this credential, as the gate let it in. */
  const actorBehind = (caller: Caller, credential: string, rule: AccessRule, id: string): Actor => {
    const access = { clock, findFileKey: () => recovery, findNamedFileKey: () => null }
    const admission = new Admission(access, caller, {
      credential,
      wire: 'rest',
      passFor: null,
      rule,
      parameters: { id },
    })
    return { actor: 'test', clientAddress: 'test', stillMay: (tx) => admission.within(tx) }
  }
  const actor: Actor = { actor: 'test', clientAddress: 'test', stillMay: async () => recovery }
  const delegate = (): Actor =>
    actorBehind(
      operator,
      operatorSecret,
      { kind: 'administration', action: 'credential.manage', of: 'service-account' },
      target,
    )
  const issue = (by: Actor, accountId: string, expiresAt?: string) =>
    issueKey(
      parts(),
      accountId,
      { name: 'key', bindings: [], ...(expiresAt === undefined ? {} : { expiresAt }) },
      { idempotencyKey: `key-${++asked}`, actor: by },
    )
  /** The caller is the one that the pipeline let in; what follows happened since. */
  const refused = (code: string) => assert.rejects(issue(delegate(), target), { name: 'Failure', code })

  it('hands out a key for a delegate whose own key works', async () => {
    assert.equal((await issue(delegate(), target)).key.accountId, target)
  })

  it('hands out none for a delegate whose key was revoked since its request was let in', async () => {
    await revokeKey(parts(), operator.keyId, actor)
    await refused('credential_invalid')
  })

  it('hands out none for a delegate whose account was disabled since', async () => {
    await setServiceAccountEnabled(parts(), operator.id, { expectedRevision: 1, enabled: false }, actor)
    await refused('credential_invalid')
  })

  it('hands out none for a delegate whose key expired since', async () => {
    clock.advance(Date.parse(operator.expiresAt) - clock.now())
    await refused('token_expired')
  })

  it('hands out none that outlives a key whose end was cut since', async () => {
    const end = timestamp(clock.now() + 3_600_000)
    await database.transaction(async (tx) => {
      await tx.updateTable('service_keys').set({ expires_at: end }).where('id', '=', operator.keyId).execute()
    })
    await assert.rejects(issue(delegate(), target, operator.expiresAt), { code: 'ceiling_exceeded' })
    assert.equal((await issue(delegate(), target)).key.expiresAt, end)
  })
})
