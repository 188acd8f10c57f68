import assert from 'node:assert/strict'
import { posix } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { isVaultName, toVaultName } from './vault-name.ts'

describe('the name of something in a vault', () => {
  it('is that of a file or an object, in up to four words', () => {
    for (const name of [
      'export.json',
      'tables/job_runs-000001.ndjson.zst',
      `blobs/ab/${'a'.repeat(64)}`,
      'a/b/c/d',
      '_',
    ])
      assert.equal(toVaultName(name), name)
  })

  it('is nothing else', () => {
    const long = 'a'.repeat(129)
    for (const none of [
      '',
      '.',
      '..',
      'a/',
      '/a',
      'a//b',
      '-rf',
      '.a',
      'A',
      'a b',
      'a\\b',
      'a\n',
      'ä',
      long,
      'a/b/c/d/e',
    ])
      assert.throws(() => toVaultName(none), RangeError, none)
    for (const ofTheVault of ['export.lock', 'a.new', 'a.lock/b']) assert.equal(isVaultName(ofTheVault), false)
  })

  it('never leads out of the vault', () => {
    const parts = fc.constantFrom('.', '..', '/', 'a', 'b.c', '-', '_', '\0', '%2e', '\\')
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 9 }), (chosen) => {
        const text = chosen.join('')
        fc.pre(isVaultName(text))
        assert.equal(posix.join('/vault', text), `/vault/${text}`)
      }),
    )
  })
})
