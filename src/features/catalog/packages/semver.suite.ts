import fc from 'fast-check'

/** Versions and ranges that are close to each other, so that they have something to do with each other. */

const small = fc.nat(3)
const identifier = fc.oneof(small.map(String), fc.constantFrom('alpha', 'beta', 'rc', 'a-', 'x1', '0a'))
const prerelease = fc.array(identifier, { minLength: 1, maxLength: 2 }).map((all) => `-${all.join('.')}`)
const maybe = (text: fc.Arbitrary<string>, weight = 1): fc.Arbitrary<string> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant('') }, { weight, arbitrary: text })
const build = maybe(fc.constantFrom('+build', '+7', '+a.b'))

export const someVersion = fc
  .tuple(fc.tuple(small, small, small), maybe(prerelease, 2), build)
  .map(([numbers, pre, meta]) => numbers.join('.') + pre + meta)

const exact = fc
  .tuple(fc.tuple(small, small, small), maybe(prerelease, 2))
  .map(([numbers, pre]) => numbers.join('.') + pre)
const wild = fc.constantFrom('x', 'X', '*')
const partial = fc.oneof(
  { weight: 4, arbitrary: exact },
  { weight: 1, arbitrary: small.map(String) },
  { weight: 1, arbitrary: fc.tuple(small, small).map((all) => all.join('.')) },
  { weight: 1, arbitrary: fc.tuple(small, wild).map((all) => all.join('.')) },
  { weight: 1, arbitrary: fc.tuple(small, small, wild).map((all) => all.join('.')) },
  { weight: 1, arbitrary: wild },
)
const simple = fc
  .tuple(fc.constantFrom('', '', '^', '~', '<', '<=', '>', '>=', '=', '^ ', '>= ', '< '), partial)
  .map((all) => all.join(''))
const set = fc.oneof(
  { weight: 4, arbitrary: fc.array(simple, { minLength: 1, maxLength: 3 }).map((all) => all.join(' ')) },
  { weight: 1, arbitrary: fc.tuple(partial, partial).map((all) => all.join(' - ')) },
)
export const someRange = fc.array(set, { minLength: 1, maxLength: 3 }).map((all) => all.join('||'))
