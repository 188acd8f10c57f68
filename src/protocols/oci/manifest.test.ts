import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readManifest } from './manifest.ts'
import { Refusal } from './refusals.ts'
import { imageIndexType } from './vocabulary.ts'

const imageType = 'application/vnd.oci.image.manifest.v1+json'
const described = (digit: string, more: object = {}) => ({
  mediaType: 'application/x.layer',
  digest: `sha256:${digit.repeat(64)}`,
  size: 1,
  ...more,
})
const image = (more: object = {}) => ({
  ...{ schemaVersion: 2, mediaType: imageType, config: described('c'), layers: [described('a')] },
  ...more,
})
const read = (value: unknown, type = imageType) =>
  readManifest(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), type)

describe('a manifest', () => {
  it('names its config and layers, each once, and says which may lie elsewhere', () => {
    const foreign = 'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip'
    const layers = [
      described('a'),
      described('a'),
      described('b', { urls: ['https://example.org/b'] }),
      described('d', { mediaType: foreign }),
    ]
    const { names, artifactType } = read(image({ layers }), '')
    assert.deepEqual(
      names.map(({ role, digest, mayBeElsewhere }) => [role, digest.hex[0], mayBeElsewhere]),
      [
        ['config', 'c', false],
        ['layer', 'a', false],
        ['layer', 'b', true],
        ['layer', 'd', true],
      ],
    )
    assert.equal(artifactType, 'application/x.layer')
  })

  it('may have no layers, and no manifests, however a client writes that', () => {
    for (const layers of [[], null]) assert.equal(read(image({ layers, subject: null })).names.length, 1)
    for (const manifests of [[], null])
      assert.deepEqual(read({ schemaVersion: 2, manifests }, `${imageIndexType}; charset=utf-8`).names, [])
  })

  it('is refused, in words, when it is none', () => {
    const none: readonly (readonly [unknown, string?])[] = [
      ['nothing'],
      [[]],
      ['null'],
      ['{"schemaVersion":2,"schemaVersion":2}'],
      [image({ schemaVersion: 1 })],
      [image({ mediaType: imageIndexType })],
      [image({ mediaType: 'application/x' }), 'application/x'],
      [image({ mediaType: 7 })],
      [image({ config: undefined })],
      [image({ layers: undefined })],
      [image({ layers: {} })],
      [image({ layers: [described('a', { digest: 'sha256:short' })] })],
      [image({ layers: [described('a', { size: -1 })] })],
      [image({ layers: [described('a', { mediaType: '' })] })],
      [image({ layers: [described('a'), described('a', { size: 2 })] })],
      [image({ manifests: [] })],
      [{ schemaVersion: 2, manifests: [], layers: [] }, imageIndexType],
      [{ schemaVersion: 2, manifests: [described('a'), described('a', { mediaType: imageType })] }, imageIndexType],
      [image({ artifactType: 'a/b\0' })],
      [image({ annotations: { a: '\ud800' } })],
      [image({ subject: {} })],
      [image({ subject: described('s', { digest: 'md5:0' }) })],
    ]
    for (const [value, type] of none)
      assert.throws(
        () => read(value, type),
        (error) => error instanceof Refusal && error.errors[0]?.code === 'MANIFEST_INVALID' && error.message !== '',
        JSON.stringify(value),
      )
  })

  it('is counted before it is read, and refused where it is made of too much', () => {
    const of = (more: string): string => `${JSON.stringify(image()).slice(0, -1)},${more}}`
    const many = (length: number, piece: (at: number) => string): string =>
      Array.from({ length }, (_, at) => piece(at)).join()
    const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`
    read(of(`"annotations":{${many(40_000, (at) => `"${at}":""`)}}`))
    read(of(`"a":${deep(99)},"b":"${'[,'.repeat(200_000)}"`))
    for (const text of [
      of(`"annotations":{${many(400_000, (at) => `"${at}":""`)}}`),
      of(many(400_000, (at) => `"${at}":0`)),
      of(`"a":[${many(1_000_000, () => '{}')}]`),
      of(`"a":${deep(100)}`),
      of(`"a":${deep(1_000_000)}`),
      `{"schemaVersion":2,"manifests":[${many(1_000_000, () => '{}')}]}`,
      '['.repeat(3_000_000),
    ]) {
      const begun = process.cpuUsage()
      assert.throws(
        () => read(text),
        (error) => error instanceof Refusal && /brackets, commas and colons/.test(error.message),
      )
      assert.ok(process.cpuUsage(begun).user < 300_000)
    }
  })

  it('begins with no byte order mark', () => {
    assert.throws(
      () => read(`\ufeff${JSON.stringify(image())}`),
      (error) => error instanceof Refusal && /no JSON in UTF-8/.test(error.message),
    )
  })

  it('is refused in few words, however long what it says is', () => {
    const long = 'x'.repeat(1_000_000)
    const bad: readonly (readonly [object, string])[] = [
      [image({ mediaType: long }), ''],
      [image({ mediaType: long }), imageType],
      [image({ mediaType: undefined }), long],
      [image({ config: described('c', { digest: long }) }), imageType],
      [image({ config: described('c', { mediaType: long }) }), imageType],
      [image({ artifactType: long }), imageType],
      [image({ annotations: { [long]: 1 } }), imageType],
    ]
    for (const [value, type] of bad)
      assert.throws(
        () => read(value, type),
        (error) => error instanceof Refusal && JSON.stringify(error.errors).length < 1_000,
      )
  })
})
