import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { withPlainPath } from './plain-path.ts'

describe('a plain path', () => {
  test('has unreserved characters as themselves, and nothing else', () => {
    for (const [sent, plain] of [
      ['/%6fther/%2E%2e/%7E?a=%6f', '/other/../~?a=%6f'],
      ['http://h%6fst/%6f?%6f', 'http://h%6fst/o?%6f'],
      ['/svc/a%2Fb%20%25%3f%c3%A9', '/svc/a%2Fb%20%25%3f%c3%A9'],
      ['/a%2541', '/a%2541'],
      ['*', '*'],
    ] as const)
      assert.equal(withPlainPath(sent), plain)
    for (let code = 0; code < 0x80; code++) {
      const encoded = `%${code.toString(16).padStart(2, '0')}`
      const character = String.fromCharCode(code)
      assert.equal(withPlainPath(`/${encoded}`), `/${/[A-Za-z0-9._~-]/.test(character) ? character : encoded}`)
    }
  })

  test('is plain already', () => {
    for (const sent of ['/%%36f', '/%6%66', '/%%%36%31', '/%4%31', '/%25%36%66', '/%', '/%6'])
      assert.equal(withPlainPath(withPlainPath(sent)), withPlainPath(sent), sent)
  })
})
