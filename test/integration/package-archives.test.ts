import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { byEngine } from '../harness/kept-inline.ts'
import { file, manifest, manifestText, oddArchives, refusedArchives } from '../harness/odd-archives.ts'
import { register } from '../harness/packages.ts'
import { inDatabase } from '../harness/rows.ts'
import { zip } from '../harness/zip.ts'

after(closeConnections)

interface Change {
  readonly kind: 'flip' | 'set' | 'cut' | 'insert' | 'double' | 'zero' | 'large'
  readonly at: number
  readonly near: boolean
  readonly value: number
  readonly length: number
}

forEachEngine((engine) => {
  let catalog: Catalog
  before(async () => {
    catalog = await Catalog.open(engine, byEngine(engine))
  })
  after(() => catalog.close())

  const registered = async (bytes: Uint8Array): Promise<Told> => {
    const { service, writer, repository } = catalog
    return register(service, writer.token, repository, await catalog.published(bytes))
  }
  const packages = (): Promise<unknown[]> =>
    inDatabase(catalog.service, (q) => q.selectFrom('packages').select('artifact_id').execute())

  describe('an archive is refused, and it is said why, for', () => {
    after(() => catalog.inspection.inOrder())
    for (const [what, { bytes, says, entry }] of Object.entries(refusedArchives))
      it(what, async () => {
        const told = await registered(bytes())
        assert.equal(told.status, 400, told.text)
        assert.equal(told.json.code, 'invalid_request')
        assert.match(told.json.detail, says)
        assert.equal(told.json.details.length, 1)
        if (entry !== undefined)
          assert.ok(told.json.detail.includes(JSON.stringify(entry).slice(0, 100)), told.json.detail)
        assert.deepEqual(await packages(), [])
      })
  })

  describe('whatever the bytes are', () => {
    after(() => catalog.inspection.inOrder())
    const honest = (): Buffer =>
      zip(
        [manifest, file, { name: 'package/' }, { name: 'package/long.txt', content: 'l'.repeat(300), deflate: true }],
        {
          large: {},
          comment: Buffer.from('a comment'),
        },
      )
    const change = fc.record<Change>({
      kind: fc.constantFrom('flip', 'set', 'cut', 'insert', 'double', 'zero', 'large'),
      at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      near: fc.boolean(),
      value: fc.integer({ min: 0, max: 255 }),
      length: fc.integer({ min: 1, max: 12 }),
    })
    /** Half of the changes go to the directory and the end, where an archive says what it is. */
    const changed = (bytes: Buffer, { kind, at, near, value, length }: Change): Buffer => {
      const from = near ? Math.max(0, bytes.byteLength - 400) : 0
      const offset = from + Math.floor(at * (bytes.byteLength - from))
      const [before, after] = [bytes.subarray(0, offset), bytes.subarray(offset)]
      const copy = Buffer.from(bytes)
      if (offset >= copy.byteLength) return copy
      if (kind === 'flip') copy[offset] = (copy[offset] ?? 0) ^ (1 << (value % 8))
      else if (kind === 'set') copy[offset] = value
      else if (kind === 'zero') copy.fill(0, offset, Math.min(offset + length, copy.byteLength))
      else if (kind === 'large') copy.fill(0xff, offset, Math.min(offset + length, copy.byteLength))
      else if (kind === 'cut') return Buffer.concat([before, after.subarray(length)])
      else if (kind === 'insert') return Buffer.concat([before, Buffer.alloc(length, value), after])
      else return Buffer.concat([before, after.subarray(0, length * 8), after])
      return copy
    }

    // The engines differ in where they read from and not in what they make of it.
    const numRuns = engine.name === 'sqlite' ? 400 : 100

    it('it is taken for the package that it is, or refused with a reason', async () => {
      const seen = { taken: 0, refused: 0 }
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
          const told = await registered(changes.reduce(changed, honest()))
          if (told.status === 200) {
            seen.taken++
            assert.deepEqual(told.json.manifest, JSON.parse(manifestText))
            await inDatabase(catalog.service, (q) => q.deleteFrom('packages').execute())
            return
          }
          seen.refused++
          assert.equal(told.status, 400, told.text)
          assert.equal(told.json.code, 'invalid_request')
          assert.ok(told.json.details.length === 1 && told.json.detail.length < 600, told.text)
        }),
        { seed: 20_260, numRuns },
      )
      assert.ok(seen.taken > numRuns / 20 && seen.refused > numRuns / 2, JSON.stringify(seen))
      assert.deepEqual(await packages(), [])
    })
  })

  describe('an archive is taken with', () => {
    after(() => catalog.inspection.inOrder())
    for (const [what, bytes] of Object.entries(oddArchives))
      it(what, async () => {
        const told = await registered(bytes())
        assert.equal(told.status, 200, told.text)
        assert.equal(told.json.name, 'thing')
        await inDatabase(catalog.service, (q) => q.deleteFrom('packages').execute())
      })
  })
})
