import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Failure } from '../kernel/failure.ts'
import { bearerCredential } from './credential.ts'

const credential = 'x'.repeat(32)

describe('bearerCredential', () => {
  it('is what follows the scheme, whose case does not count', () => {
    for (const header of [`Bearer ${credential}`, `bearer ${credential}`, `BEARER   ${credential}  `])
      assert.equal(bearerCredential(header), credential)
    const longest = '~'.repeat(512)
    assert.equal(bearerCredential(`Bearer ${longest}`), longest)
  })

  it('is null without a header', () => {
    assert.equal(bearerCredential(undefined), null)
    assert.equal(bearerCredential(''), null)
  })

  it('is refused at once in another form or length, without being repeated', () => {
    for (const header of [
      'Bearer',
      'Bearer ',
      credential,
      `Basic ${credential}`,
      `Bearer${credential}`,
      `Bearer\t${credential}`,
      `Bearer ${credential} ${credential}`,
      `Bearer ${credential},${' '}x`,
      `Bearer ${'x'.repeat(31)}`,
      `Bearer ${'x'.repeat(513)}`,
      `Bearer ${'ä'.repeat(32)}`,
      `Bearer ${credential}\u0000`,
    ])
      assert.throws(
        () => bearerCredential(header),
        (error: unknown) =>
          error instanceof Failure && error.code === 'credential_invalid' && !error.message.includes('xxx'),
        header,
      )
  })
})
