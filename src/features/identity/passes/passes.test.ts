import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { forEachEngine } from '../../../../test/harness/engines.ts'
import { type ManualClock, stillClock } from '../../../../test/harness/service.ts'
import type { Database } from '../../../database/database.ts'
import { migrate } from '../../../database/migrate.ts'
import { migrations } from '../../../database/migrations/index.ts'
import { openDatabase } from '../../../database/open.ts'
import type { Actor } from '../../../journal/security-audit/security-audit.ts'
import { type CredentialCaller, type FileKeyCaller, recoveryKeyId } from '../../../kernel/caller.ts'
import { Failure, type FailureCode } from '../../../kernel/failure.ts'
import { passSeconds, sessionLifetimeMs } from '../../../kernel/limits/identity.ts'
import { callerOf } from '../access/access.ts'
import { type FileKey, fileKeyFinder, namedFileKeyFinder } from '../access/file-keys.ts'
import { changeAccount, createAccount, signIn, signOut } from '../accounts/accounts.ts'
import { createSigner } from '../links/signer.ts'
import { createServiceAccount, setServiceAccountEnabled } from '../service-accounts/service-accounts.ts'
import { activateKey, issueKey, revokeKey } from '../service-accounts/service-keys.ts'
import { secretDigest } from '../sessions/secrets.ts'
import { createToken, revokeToken } from '../tokens/tokens.ts'
import { callerOfPass, makePass } from './passes.ts'

const passwords = {
  hash: async (password: string) => `hash of ${password}`,
  matches: async (password: string, phc: string | null) => phc === `hash of ${password}`,
}
const fileSecret = 'f'.repeat(40)
const fileKey = (secret: string): FileKey => ({
  id: recoveryKeyId,
  sha256: secretDigest(secret),
  administrator: true,
  serviceAdministrator: true,
  repositories: new Map(),
})
const recovery: FileKeyCaller = { ...fileKey(''), kind: 'file-key', credential: 'file-key' }

forEachEngine((engine) => {
  let database: Database
  let clock: ManualClock
  let keys: readonly FileKey[]
  beforeEach(async () => {
    database = engine.use(await openDatabase({ url: await engine.readyDatabaseUrl(), report: () => {} }))
    await migrate(database, migrations)
    clock = stillClock()
    keys = [fileKey(fileSecret)]
  })

  const parts = () => ({ database, clock, passwords, allowRegistration: false, report: () => {} })
  const operator: Actor = { actor: 'test', clientAddress: 'test', stillMay: async () => recovery }
  /** As a process of its own has them. */
  const passParts = () => ({
    clock,
    signer: createSigner({ database, clock }),
    findFileKey: fileKeyFinder(keys),
    findNamedFileKey: namedFileKeyFinder(keys),
  })
  const callerBehind = (credential: string) =>
    callerOf(database.reader, passParts(), credential, { wire: 'images', passFor: null, again: false })
  const passFor = async (credential: string): Promise<string> =>
    (await makePass(database.reader, passParts(), await callerBehind(credential), 'images')).token
  const open = (pass: string, shown = { wire: 'images', passFor: null, again: false }) =>
    callerOfPass(database.reader, passParts(), pass, shown)
  const refused = (pass: string, code: FailureCode, shown?: Parameters<typeof open>[1]) =>
    assert.rejects(open(pass, shown), (error) => error instanceof Failure && error.code === code, pass)

  const signedIn = async () => {
    const account = await createAccount(parts(), { name: 'doer', password: 'right', administrator: true }, operator)
    const { token } = await signIn(parts(), { name: 'doer', password: 'right' }, 'test')
    return { id: account.id, token }
  }
  const serviceKey = async () => {
    const account = await createServiceAccount(parts(), { name: 'robot', bindings: [] }, operator)
    const wish = { name: 'key', bindings: [] }
    const { key, secret } = await issueKey(parts(), account.id, wish, { idempotencyKey: 'one', actor: operator })
    const caller = await callerBehind(secret ?? '')
    await activateKey(parts(), { ...operator, stillMay: async () => caller })
    return { account: account.id, key: key.id, secret: secret ?? '' }
  }

  /** A credential, and ways in which it ends with what a request is told then. */
  const holders: Readonly<
    Record<string, () => Promise<{ credential: string; ends: Readonly<Record<string, () => Promise<FailureCode>>> }>>
  > = {
    session: async () => {
      const { id, token } = await signedIn()
      const caller = await callerBehind(token)
      assert.ok(caller.kind === 'account')
      const ends = {
        'is ended': () => signOut(parts(), caller, 'test').then(() => 'credential_invalid' as const),
        'has a disabled account': () =>
          changeAccount(parts(), id, { enabled: false }, operator).then(() => 'credential_invalid' as const),
      }
      return { credential: token, ends }
    },
    'personal token': async () => {
      const { id } = await signedIn()
      const { id: tokenId, token } = await createToken(parts(), id, { name: 'ci', scope: 'read' }, operator)
      const ends = {
        'is revoked': () => revokeToken(parts(), id, tokenId, operator).then(() => 'credential_invalid' as const),
        'has an account with a new password': () =>
          changeAccount(parts(), id, { password: 'another' }, operator).then(() => 'credential_invalid' as const),
      }
      return { credential: token, ends }
    },
    'service key': async () => {
      const { account, key, secret } = await serviceKey()
      const disabled = { expectedRevision: 1, enabled: false }
      const ends = {
        'is revoked': () => revokeKey(parts(), key, operator).then(() => 'credential_invalid' as const),
        'has a disabled account': () =>
          setServiceAccountEnabled(parts(), account, disabled, operator).then(() => 'credential_invalid' as const),
      }
      return { credential: secret, ends }
    },
    'key of the keys file': async () => ({
      credential: fileSecret,
      ends: {
        'is out of the file': async () => {
          keys = []
          return 'credential_invalid'
        },
        'has another secret': async () => {
          keys = [fileKey('g'.repeat(40))]
          return 'credential_invalid'
        },
      },
    }),
  }

  const withoutAdministration = (caller: CredentialCaller) => ({
    ...caller,
    administrator: false,
    ...(caller.kind === 'file-key' ? { serviceAdministrator: false } : {}),
  })

  for (const [what, make] of Object.entries(holders))
    describe(`a pass of a ${what}`, () => {
      it('stands for it, without administration, in every process', async () => {
        const { credential } = await make()
        const pass = await passFor(credential)
        assert.match(pass, /^dpp_[A-Za-z0-9_-]{140}$/)
        assert.deepEqual(await open(pass), { ...withoutAdministration(await callerBehind(credential)), byPass: true })
      })

      it('lasts some minutes, and a request that it let in goes on', async () => {
        const pass = await passFor((await make()).credential)
        clock.advance(passSeconds * 1000 - 1)
        await open(pass)
        clock.advance(1)
        await refused(pass, 'token_expired')
        await open(pass, { wire: 'images', passFor: null, again: true })
      })

      it('is good at its own wire alone, and for nothing that was changed', async () => {
        const pass = await passFor((await make()).credential)
        await refused(pass, 'credential_invalid', { wire: 'rest', passFor: null, again: false })
        for (let at = 0; at < pass.length; at++) {
          const other = pass[at] === 'A' ? 'B' : 'A'
          await refused(pass.slice(0, at) + other + pass.slice(at + 1), 'credential_invalid')
        }
      })

      it('ends with it, also for a request that it let in', async () => {
        const { ends } = await make()
        for (const how of Object.keys(ends)) {
          const url = await engine.readyDatabaseUrl()
          database = engine.use(await openDatabase({ url, report: () => {} }))
          await migrate(database, migrations)
          keys = [fileKey(fileSecret)]
          const { credential, ends } = await make()
          const pass = await passFor(credential)
          const code = (await ends[how]?.()) ?? assert.fail(how)
          await refused(pass, code)
          await refused(pass, code, { wire: 'images', passFor: null, again: true })
          await assert.rejects(callerBehind(credential), { code })
        }
      })
    })

  describe('a pass', () => {
    it('says when its credential has expired, as that would', async () => {
      const { token } = await signedIn()
      clock.advance(sessionLifetimeMs - 1)
      const pass = await passFor(token)
      clock.advance(1)
      await refused(pass, 'session_expired')
    })

    it('tells nothing of a credential to whoever made the pass up', async () => {
      const { token } = await signedIn()
      const pass = await passFor(token)
      clock.advance(sessionLifetimeMs)
      const forged = pass.slice(0, -4) + (pass.endsWith('AAAA') ? 'BBBB' : 'AAAA')
      await refused(forged, 'credential_invalid')
      await refused(pass, 'session_expired')
    })

    it('of one credential is none of another, and no download link', async () => {
      const [one, other] = [await passFor((await signedIn()).token), await passFor(fileSecret)]
      const [head, tail] = [other.slice(0, 4 + 56), one.slice(4 + 56)]
      await refused(head + tail, 'credential_invalid')
      await refused(one.replace('dpp_', 'dtl_'), 'credential_invalid')
    })
  })
})
