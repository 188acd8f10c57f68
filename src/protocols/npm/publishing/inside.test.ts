import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Fields } from '../fields.ts'
import { refuseOtherManifest } from './inside.ts'

const same = (said: Fields, inner: Fields): void => {
  refuseOtherManifest({ name: '@a/b', ...said }, { name: '@a/b', ...inner })
}
const differs = (said: Fields, inner: Fields, words: RegExp): void => {
  assert.throws(() => same(said, inner), words)
}

describe('what a document says of a version', () => {
  it('is refused where it would have other things installed than the package.json in the tarball', () => {
    for (const field of ['dependencies', 'optionalDependencies', 'peerDependencies']) {
      const one = { [field]: { x: '^1.0.0' } }
      differs(one, {}, new RegExp(`In ${field}, "x" is "\\^1\\.0\\.0" by the document and nothing by`))
      differs({}, one, new RegExp(`In ${field}, "x" is nothing by the document`))
      differs(one, { [field]: { x: '^1.0.1' } }, new RegExp(`In ${field}`))
      same(one, { [field]: { x: ' ^1.0.0 ' } })
    }
    differs({ dependencies: { x: '1' } }, { devDependencies: { x: '1' } }, /In dependencies/)
    differs({ dependencies: { x: '1' } }, { dependencies: { x: '1' }, bundleDependencies: ['x'] }, /bundleDependencies/)
    const peers = { peerDependencies: { x: '1' } }
    differs({ ...peers, peerDependenciesMeta: { x: { optional: true } } }, peers, /peerDependenciesMeta/)
    same(peers, { ...peers, peerDependenciesMeta: { x: { optional: false } } })
  })

  it('may note optional and bundled dependencies twice, once or by themselves', () => {
    const optional = { optionalDependencies: { x: '1' } }
    same({ ...optional, dependencies: { x: '1' } }, optional)
    same(optional, { ...optional, dependencies: { x: '0' } })
    const dependencies = { y: '2' }
    same({ dependencies, bundleDependencies: ['y'] }, { dependencies, bundledDependencies: true })
    same({ dependencies: { y: '*' }, bundleDependencies: ['y'] }, { bundledDependencies: ['y'] })
    same({ dependencies }, { dependencies, bundleDependencies: false })
  })

  it('may write the address of a repository of Git out, and no other one', () => {
    const of = (source: string): Fields => ({ dependencies: { x: source } })
    for (const short of ['me/it#v1', 'github:me/it#v1', 'git@github.com:me/it#v1', 'https://github.com/me/it.git#v1'])
      for (const long of [
        'github:me/it#v1',
        'git+ssh://git@github.com/me/it.git#v1',
        'git+https://github.com/me/it.git#v1',
      ])
        same(of(long), of(short))
    for (const other of [
      'me/that#v1',
      'you/it#v1',
      'me/it#v2',
      'me/it',
      'gitlab:me/it#v1',
      'git+ssh://git@evil.example/me/it.git#v1',
    ])
      differs(of('github:me/it#v1'), of(other), /In dependencies, "x"/)
  })

  it('names commands as clients do, and no command that is not there', () => {
    same({ bin: { b: 'cli.js' } }, { bin: './cli.js' })
    same({ bin: { c: 'bin/c.js' } }, { bin: { 'sub/c': '../../bin/c.js', lost: 'lost.js' } })
    same({ bin: { d: 'commands/d' } }, { directories: { bin: './commands' } })
    same({}, { bin: 'cli.js' })
    differs({ bin: { b: 'cli.js' } }, {}, /In bin, "b" is "cli\.js" by the document and nothing/)
    differs({ bin: { npm: 'cli.js' } }, { bin: 'cli.js' }, /In bin, "npm"/)
    differs({ bin: { b: 'other.js' } }, { bin: 'cli.js' }, /In bin, "b"/)
    differs({ bin: { d: 'other/d' } }, { directories: { bin: 'commands' } }, /In bin, "d"/)
  })

  it('tells of all that is run when it is installed, and of nothing else', () => {
    const runs = { scripts: { postinstall: 'node run.js', test: 'node --test' } }
    same(runs, { scripts: { postinstall: './node_modules/.bin/node run.js' } })
    same({ scripts: { install: 'node-gyp rebuild' } }, {})
    differs({}, runs, /In scripts, "postinstall" is nothing by the document/)
    differs(runs, { scripts: { test: 'node --test' } }, /In scripts, "postinstall" is "node run\.js" by the document/)
    differs(
      { scripts: { install: 'node-gyp rebuild' } },
      { scripts: { install: 'node evil.js' } },
      /In scripts, "install"/,
    )
  })
})
