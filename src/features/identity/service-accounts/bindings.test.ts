import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type RepositoryAction, repositoryActions } from '../../../kernel/actions.ts'
import { bindingsRememberedCharacters } from '../../../kernel/limits/identity.ts'
import { idIn } from '../../../kernel/repository-identity.ts'
import { effectivePermissions } from './bindings.ts'

const stored = (...bindings: readonly (readonly [string, ...RepositoryAction[]])[]): string =>
  JSON.stringify(bindings.map(([id, ...actions]) => ({ resource: { kind: 'repository', id }, actions })))

const plainly = (policy: string, bindings: string) =>
  [...effectivePermissions(policy, bindings)].map(([repository, actions]) => [idIn(repository), ...actions])

describe('effectivePermissions', () => {
  it('are what both texts allow, the first time and again', () => {
    const policy = stored(['a', 'content.read', 'artifact.read'], ['b', 'content.read'], ['a', 'asset.read'])
    const bindings = stored(['a', 'asset.read', 'content.read', 'asset.write'], ['c', 'content.read'])
    for (let time = 0; time < 3; time++) {
      assert.deepEqual(plainly(policy, bindings), [['a', 'content.read', 'asset.read']])
      assert.deepEqual(plainly(policy, stored()), [])
      assert.deepEqual(plainly(stored(), bindings), [])
      assert.deepEqual(plainly(bindings, policy), [['a', 'asset.read', 'content.read']])
    }
  })

  it('are none where the two mean different repositories of one id', () => {
    const bindings = [{ resource: { kind: 'repository', id: 'a' }, actions: ['content.read'], incarnation: 2 }]
    assert.deepEqual(plainly(stored(['a', 'content.read']), JSON.stringify(bindings)), [])
    assert.deepEqual([...effectivePermissions(JSON.stringify(bindings), JSON.stringify(bindings)).keys()], ['a#2'])
  })

  it('are right beyond what is remembered', () => {
    const count = Math.ceil(bindingsRememberedCharacters / 20_000) + 5
    const largest = (name: string) =>
      stored(...Array.from({ length: 64 }, (_, i) => [`${name}-${i}`, ...repositoryActions] as const))
    for (const round of [1, 2])
      for (let i = 0; i < count; i++) {
        const policy = largest(`policy-${i}`)
        const found = plainly(policy, stored([`policy-${i}-7`, 'content.read'], ['other', 'content.read']))
        assert.deepEqual(found, [[`policy-${i}-7`, 'content.read']], `round ${round}`)
      }
  })

  it('of a damaged row are an error, not nothing', () => {
    for (const damaged of ['{}', '[7]', '[{"resource":1,"actions":[]}]', 'nonsense'])
      assert.throws(() => effectivePermissions(damaged, stored()))
  })
})
