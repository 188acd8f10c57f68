import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AccessRule } from '../../../contract/operation.ts'
import { actionsOf, type RepositoryAction } from '../../../kernel/actions.ts'
import { type AccountCaller, byPass, type Caller, type FileKeyCaller } from '../../../kernel/caller.ts'
import { toSha256 } from '../../../kernel/digest.ts'
import { secretDigest } from '../sessions/secrets.ts'
import { refusal } from './access.ts'
import { fileKeyFinder } from './file-keys.ts'

const account = (administrator: boolean): AccountCaller => ({
  kind: 'account',
  credential: 'session',
  id: 'a',
  name: 'a',
  administrator,
  scope: 'read-write',
  credentialId: 's',
})
const fileKey = (id: string, administrator: boolean, serviceAdministrator: boolean): FileKeyCaller => ({
  kind: 'file-key',
  credential: 'file-key',
  id,
  administrator,
  serviceAdministrator,
  repositories: new Map(),
})

const callers = {
  nobody: null,
  person: account(false),
  administrator: account(true),
  'plain key': fileKey('ci', false, false),
  'administrator key': fileKey('ops', true, false),
  'service key': fileKey('keys', false, true),
  'recovery key': fileKey('bootstrap-owner', true, true),
  pass: byPass(account(true)),
  'pass of the recovery key': byPass(fileKey('bootstrap-owner', true, true)),
} satisfies Record<string, Caller | null>

const rules = {
  anyone: { kind: 'anyone', reason: 'a test' },
  credential: { kind: 'credential' },
  'credential itself': { kind: 'credential', itself: true },
  visible: { kind: 'visible', actions: ['repository.read'] },
  session: { kind: 'session' },
  administrator: { kind: 'administrator' },
  'service-administrator': { kind: 'service-administrator' },
  system: { kind: 'system', action: 'backup.read' },
} satisfies Record<string, AccessRule>

const holders = ['person', 'administrator', 'plain key', 'administrator key', 'service key', 'recovery key'] as const
const passes = ['pass', 'pass of the recovery key'] as const

/** Who gets what; null is a yes. A caller that is not named gets 403. */
const table: Record<keyof typeof rules, readonly (keyof typeof callers)[]> = {
  anyone: ['nobody', ...holders, ...passes],
  credential: [...holders, ...passes],
  'credential itself': holders,
  visible: [...holders, ...passes],
  session: ['person', 'administrator'],
  administrator: ['administrator', 'administrator key', 'recovery key'],
  'service-administrator': ['service key', 'recovery key'],
  system: ['administrator', 'administrator key', 'recovery key'],
}

const names = <T extends object>(of: T): (keyof T)[] => Object.keys(of) as (keyof T)[]

describe('the decision', () => {
  it('follows the table for every caller and rule, whatever is held in a repository', () => {
    for (const rule of names(rules))
      for (const who of names(callers))
        for (const held of [actionsOf(null), actionsOf('write')]) {
          const refused = refusal(callers[who], rules[rule], held)
          const expected = table[rule].includes(who)
            ? null
            : who === 'nobody'
              ? 'credential_missing'
              : 'permission_missing'
          assert.equal(refused?.code ?? null, expected, `${who}: ${rule}`)
        }
  })

  it('about a repository is made of what is held there, not of who asks', () => {
    const decide = (caller: Caller | null, actions: RepositoryAction[], held: RepositoryAction[]) =>
      refusal(caller, { kind: 'repository', actions }, new Set(held))?.code ?? null
    for (const who of names(callers)) {
      const caller = callers[who]
      if (caller === null) {
        assert.equal(decide(caller, ['asset.read'], ['asset.read']), 'credential_missing')
        continue
      }
      assert.equal(decide(caller, ['asset.read'], []), 'not_found', who)
      assert.equal(decide(caller, ['asset.read'], ['asset.read']), null, who)
      assert.equal(decide(caller, ['asset.read', 'asset.write'], ['asset.read']), 'permission_missing', who)
      assert.equal(decide(caller, ['asset.read', 'asset.write'], ['asset.write', 'asset.read']), null, who)
      // Who may not read the card is told what a stranger is told; its other actions work.
      assert.equal(decide(caller, ['repository.read'], ['upload.create']), 'not_found', who)
      assert.equal(decide(caller, ['upload.create'], ['upload.create']), null, who)
    }
  })

  it('names what is missing, and only what is missing', () => {
    const rule: AccessRule = { kind: 'repository', actions: ['asset.read', 'asset.write', 'artifact.read'] }
    const refused = refusal(callers.person, rule, new Set(['asset.read']))
    assert.equal(refused?.message, 'This needs asset.write, artifact.read on this repository.')
  })
})

describe('fileKeyFinder', () => {
  const keys = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      id: `key-${index}`,
      sha256: secretDigest(`secret ${index}`),
      administrator: false,
      serviceAdministrator: false,
      repositories: new Map(),
    }))

  it('finds a key by the digest of its secret, among few and among many', () => {
    for (const count of [1, 64, 65, 1000]) {
      const find = fileKeyFinder(keys(count))
      assert.equal(find(secretDigest('secret 0'))?.id, 'key-0')
      assert.equal(find(secretDigest(`secret ${count - 1}`))?.id, `key-${count - 1}`)
      assert.equal(find(secretDigest(`secret ${count}`)), null)
      assert.equal(find(toSha256('0'.repeat(64))), null)
    }
    assert.equal(fileKeyFinder([])(secretDigest('secret 0')), null)
  })
})
