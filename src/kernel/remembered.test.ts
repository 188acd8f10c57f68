import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { rememberedKeyCharactersMax, rememberedMax } from './limits/process.ts'
import { remembered } from './remembered.ts'

const counted = () => {
  const asked: string[] = []
  const of = remembered((text) => {
    asked.push(text)
    return text.toUpperCase()
  })
  return { asked, of }
}

describe('what is remembered of a text', () => {
  it('is what the function says of it, which is asked once', () => {
    const { asked, of } = counted()
    assert.deepEqual([of('a'), of('b'), of('a')], ['A', 'B', 'A'])
    assert.deepEqual(asked, ['a', 'b'])
  })

  it('is bounded, in how many and how long', () => {
    const { asked, of } = counted()
    for (let n = 0; n <= rememberedMax; n++) of(String(n))
    of('0')
    assert.equal(asked.filter((text) => text === '0').length, 2)
    const long = 'x'.repeat(rememberedKeyCharactersMax + 1)
    assert.equal(of(long), of(long))
    assert.equal(asked.filter((text) => text === long).length, 2)
  })
})
