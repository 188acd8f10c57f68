import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { foldWildcards } from './wildcards.ts'

const images = [
  '/v2/',
  '/v2/_catalog',
  '/v2/{repository}/{name+}/blobs/{digest}',
  '/v2/{repository}/{name+}/blobs/uploads/',
  '/v2/{repository}/{name+}/blobs/uploads/{id}',
  '/v2/{repository}/{name+}/manifests/{reference}',
  '/v2/{repository}/{name+}/tags/list',
]

describe('a path with a wildcard in its middle', () => {
  const fold = foldWildcards(images)

  it('is folded into one segment, which is found from both ends', () => {
    for (const [path, expected] of [
      ['/v2/r/a/blobs/d', '/v2/r/a/blobs/d'],
      ['/v2/r/a/b/blobs/d', '/v2/r/a%2Fb/blobs/d'],
      ['/v2/r/a/b/c/manifests/latest', '/v2/r/a%2Fb%2Fc/manifests/latest'],
      ['/v2/r/a/b/blobs/uploads/', '/v2/r/a%2Fb/blobs/uploads/'],
      ['/v2/r/a/b/blobs/uploads/1', '/v2/r/a%2Fb/blobs/uploads/1'],
      ['/v2/r/a/b/tags/list', '/v2/r/a%2Fb/tags/list'],
      // Words of the templates are names like any other where they cannot be meant.
      ['/v2/r/blobs/blobs/blobs/d', '/v2/r/blobs%2Fblobs/blobs/d'],
      ['/v2/r/manifests/tags/list/manifests/x', '/v2/r/manifests%2Ftags%2Flist/manifests/x'],
      ['/v2/r/a/blobs/uploads/manifests/x', '/v2/r/a%2Fblobs%2Fuploads/manifests/x'],
      // An empty segment is one like any other.
      ['/v2/r/a//b/blobs/d', '/v2/r/a%2F%2Fb/blobs/d'],
      ['/v2//a/b/blobs/', '/v2//a%2Fb/blobs/'],
      // What is encoded stays so.
      ['/v2/r/a%2fb/c/blobs/%ff', '/v2/r/a%2fb%2Fc/blobs/%ff'],
    ] as const)
      assert.equal(fold(path), expected, path)
  })

  it('stays as it is where no template has it', () => {
    for (const path of [
      '/v2/',
      '/v2/_catalog',
      '/v2/r/blobs/d',
      '/v2/r/a/b/blobs/d/',
      '/v2/r/a/b/tags/lists',
      '/v3/r/a/b/blobs/d',
      '*',
      '',
    ])
      assert.equal(fold(path), path, path)
  })

  it('gives its wildcard all that stands between the ends, whatever that is', () => {
    const word = fc.constantFrom('a', 'blobs', 'uploads', 'manifests', 'tags', 'list', '%2f')
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), word, (name, digest) => {
        assert.equal(fold(`/v2/r/${name.join('/')}/blobs/x${digest}`), `/v2/r/${name.join('%2F')}/blobs/x${digest}`)
      }),
    )
  })

  it('belongs to the template that says more of it', () => {
    const fold = foldWildcards(['/x/{name+}', '/x/{name+}/of/{id}', '/x/{name+}/of/all', '/x/fixed/{a}'])
    assert.equal(fold('/x/a/b'), '/x/a%2Fb')
    assert.equal(fold('/x/a/b/of/1'), '/x/a%2Fb/of/1')
    assert.equal(fold('/x/a/b/of/all'), '/x/a%2Fb/of/all')
    assert.equal(fold('/x/fixed/a'), '/x/fixed/a')
    assert.equal(fold('/x/fixed/a/b'), '/x/fixed%2Fa%2Fb')
    const ofRest = foldWildcards(['/x/{name+}', '/x/rest/{b*}'])
    for (const path of ['/x/rest/a/b', '/x/rest/', '/x/rest/a//b']) assert.equal(ofRest(path), path)
    assert.equal(ofRest('/x/y/a/b'), '/x/y%2Fa%2Fb')
  })

  it('is not looked for where no template has a wildcard in its middle', () => {
    const fold = foldWildcards(['/a/{b}', '/a/{b}/c.{d}', '/e/{f*}'])
    assert.equal(fold('/a/b/c/d'), '/a/b/c/d')
  })
})

describe('templates', () => {
  it('that could mean the same path are refused', () => {
    for (const [one, other] of [
      ['/x/{name+}/blobs/{digest}', '/x/{name+}/{kind}/latest'],
      ['/x/{name+}/blobs/{digest}', '/x/{name+}/blobs/{id}'],
      ['/x/{name+}/blobs/{digest}', '/x/library/{kind}/{id}'],
      ['/x/{name+}', '/x/{name}'],
      ['/x/{name+}', '/x/{name*}'],
      ['/x/{name+}/blobs/{digest}', '/x/{name}/blobs/latest'],
      ['/x/{name+}/tags', '/x/all/{rest*}'],
    ] as const) {
      assert.throws(() => foldWildcards([one, other]), /could mean the same path/, `${one} ${other}`)
      assert.throws(() => foldWildcards([other, one]), /could mean the same path/, `${other} ${one}`)
    }
    assert.throws(() => foldWildcards(['/x/{a+}/{b+}']), /more than one wildcard/)
    assert.throws(() => foldWildcards(['/x/{a+}/b.{c}']), /a parameter is a whole segment/)
  })
})
