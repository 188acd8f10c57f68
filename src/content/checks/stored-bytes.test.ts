import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { archiveWindowBytes } from '../../kernel/limits/packages.ts'
import { lookedInto, someBytes } from './stored-bytes.suite.ts'

const size = 3 * archiveWindowBytes + 17

describe('looking into stored bytes', () => {
  const whole = someBytes(size)

  it('gives the bytes of any range, in any order', async () => {
    const range = fc.tuple(fc.nat(size), fc.nat(2 * archiveWindowBytes))
    await fc.assert(
      fc.asyncProperty(fc.array(range, { minLength: 1, maxLength: 8 }), async (ranges) => {
        const { file } = lookedInto(whole)
        for (const [at, length] of ranges) {
          const end = Math.min(at + length, size)
          assert.ok((await file.read(at, end - at)).equals(whole.subarray(at, end)))
        }
      }),
      { numRuns: 60 },
    )
  })

  it('gives copies, which later reads do not change', async () => {
    const { file } = lookedInto(whole)
    const first = await file.read(0, 100)
    first.fill(0)
    await file.read(archiveWindowBytes * 2, 100)
    assert.ok((await file.read(0, 100)).equals(whole.subarray(0, 100)))
  })

  it('asks once for what lies close together', async () => {
    const { file, asked } = lookedInto(whole)
    for (let at = 0; at < archiveWindowBytes; at += 64) await file.read(at, 64)
    assert.equal(asked.length, 1)
  })

  it('refuses ranges outside, without asking', async () => {
    const { file, asked } = lookedInto(whole)
    for (const [at, length] of [
      [-1, 2],
      [size, 1],
      [0, size + 1],
      [2 ** 53, 1],
      [1.5, 1],
      [0, -1],
    ] as const)
      await assert.rejects(file.read(at, length), RangeError)
    assert.equal((await file.read(size, 0)).byteLength, 0)
    assert.deepEqual(asked, [])
  })
})
