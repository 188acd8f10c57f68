import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Failure } from '../kernel/failure.ts'
import { bearerCredential, bearerOrBasicCredential } from './credential.ts'

const secret = `svc_${'a'.repeat(60)}`
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const isInvalid = (error: unknown): boolean => error instanceof Failure && error.code === 'credential_invalid'

describe('a credential in the Authorization header', () => {
  it('is null without a header', () => {
    for (const read of [bearerCredential, bearerOrBasicCredential])
      for (const header of [undefined, '']) assert.equal(read(header), null)
  })

  it('follows Bearer, in any case, with any number of spaces', () => {
    for (const read of [bearerCredential, bearerOrBasicCredential])
      for (const header of [`Bearer ${secret}`, `bearer ${secret}`, `BEARER   ${secret} `])
        assert.equal(read(header), secret)
  })

  it('has 32 to 512 visible characters', () => {
    for (const length of [32, 512]) {
      assert.equal(bearerCredential(`Bearer ${'x'.repeat(length)}`), 'x'.repeat(length))
      assert.equal(bearerOrBasicCredential(`Basic ${base64(`:${'x'.repeat(length)}`)}`), 'x'.repeat(length))
    }
    for (const length of [1, 31, 513]) {
      assert.throws(() => bearerCredential(`Bearer ${'x'.repeat(length)}`), isInvalid)
      assert.throws(() => bearerOrBasicCredential(`Basic ${base64(`:${'x'.repeat(length)}`)}`), isInvalid)
    }
  })

  it('is refused in another form', () => {
    for (const header of [
      'Bearer',
      'Bearer ',
      secret,
      `Token ${secret}`,
      `Bearer ${secret} ${secret}`,
      `Bearer ${secret}é`,
    ])
      for (const read of [bearerCredential, bearerOrBasicCredential])
        assert.throws(() => read(header), isInvalid, header)
  })

  it('is not read from Basic where only Bearer is due', () => {
    assert.throws(() => bearerCredential(`Basic ${base64(`user:${secret}`)}`), isInvalid)
  })
})

describe('a credential in Basic', () => {
  it('is the password, whatever the user name is', () => {
    for (const name of ['user', '', 'someone@example.com', 'name with spaces', 'Jürgen'])
      assert.equal(bearerOrBasicCredential(`Basic ${base64(`${name}:${secret}`)}`), secret)
    assert.equal(bearerOrBasicCredential(`bAsIc  ${base64(`user:${secret}`)} `), secret)
  })

  it('begins after the first colon', () => {
    assert.equal(bearerOrBasicCredential(`Basic ${base64(`user:${secret}:more`)}`), `${secret}:more`)
    assert.equal(bearerOrBasicCredential(`Basic ${base64(`::${secret}`)}`), `:${secret}`)
  })

  it('is read with and without padding', () => {
    for (const name of ['a', 'ab', 'abc']) {
      const padded = base64(`${name}:${secret}`)
      assert.equal(bearerOrBasicCredential(`Basic ${padded}`), secret)
      assert.equal(bearerOrBasicCredential(`Basic ${padded.replace(/=+$/, '')}`), secret)
    }
  })

  it('is refused without a colon, with characters that no credential has, and when it is no Base64', () => {
    for (const header of [
      'Basic',
      'Basic ',
      `Basic ${base64(secret)}`,
      `Basic ${base64('user:')}`,
      `Basic ${base64(`user:${secret} ${secret}`)}`,
      `Basic ${base64(`user:${secret}\n`)}`,
      `Basic ${base64(`user:${secret}é`)}`,
      `Basic user:${secret}`,
      `Basic ${base64(`user:${secret}`)}!`,
      `Basic ${base64(`user:${secret}`)} ${base64(`user:${secret}`)}`,
    ])
      assert.throws(() => bearerOrBasicCredential(header), isInvalid, header)
  })
})
