import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { hashRingBytes } from '../../kernel/limits/transfers.ts'
import { createHashing, HashLost } from './hashing.ts'

const digestOf = (...pieces: Uint8Array[]): string => createHash('sha256').update(Buffer.concat(pieces)).digest('hex')

for (const saveable of [false, true]) {
  const scene = (t: TestContext) => {
    const reports: unknown[] = []
    const hashing = createHashing({ saveable, report: (_message, error) => reports.push(error) })
    t.after(() => hashing.close())
    return { hashing, reports }
  }

  describe(`hashing in a thread, ${saveable ? 'with states that are saved' : 'fast'}`, () => {
    it('gives the digest of what came, for many at once, in pieces of any length', async (t) => {
      const { hashing } = scene(t)
      const lengths = [0, 1, 63, 64, 65, 65_536, hashRingBytes / 4, hashRingBytes + 1, 2 * hashRingBytes]
      const digest = async (pieces: readonly Uint8Array[]): Promise<string> => {
        const hash = hashing.begin()
        for (const piece of pieces) {
          await hash.update(piece)
          // Once it resolves the memory is the caller's again.
          piece.fill(0)
        }
        const answer = await hash.digest()
        hash.drop()
        return answer
      }
      await Promise.all(
        lengths.map(async (length) => {
          const pieces = [randomBytes(length), randomBytes(7), randomBytes(length >> 1)]
          const expected = digestOf(...pieces)
          assert.equal(await digest(pieces), expected)
        }),
      )
    })

    it('forks, goes on after a digest, and takes the same bytes for two', async (t) => {
      const { hashing } = scene(t)
      const [one, two, three] = [randomBytes(100), randomBytes(200_000), randomBytes(3)]
      const hash = hashing.begin()
      await hash.update(one)
      const fork = hash.fork()
      const fresh = hashing.begin()
      await fork.update(two, fresh)
      assert.equal(await hash.digest(), digestOf(one))
      assert.equal(await fork.digest(), digestOf(one, two))
      assert.equal(await fresh.digest(), digestOf(two))
      await hash.update(three)
      assert.equal(await hash.digest(), digestOf(one, three))
      hash.drop()
      hash.drop()
      assert.equal(await fork.digest(), digestOf(one, two))
    })

    it('gives the same bytes to hashes of two threads', async (t) => {
      const [one, two] = [scene(t).hashing.begin(), scene(t).hashing.begin()]
      const bytes = randomBytes(hashRingBytes)
      await one.update(bytes, two)
      assert.deepEqual([await one.digest(), await two.digest()], [digestOf(bytes), digestOf(bytes)])
    })

    it('is lost with its thread, says so to whoever asks, and the next begins another', async (t) => {
      const { hashing } = scene(t)
      const hash = hashing.begin()
      const asked = hash.digest()
      const closed = hashing.close()
      await assert.rejects(asked, HashLost)
      await closed
      assert.equal(hash.isLost, true)
      await hash.update(randomBytes(2 * hashRingBytes))
      await assert.rejects(hash.digest(), HashLost)
      await assert.rejects(hash.save(), HashLost)
      hash.drop()
      const next = hashing.begin()
      assert.equal(next.isLost, false)
      assert.equal(await next.digest(), digestOf())
    })
  })
}

describe('hashing in a thread that fails', () => {
  it('is reported once, and whoever waits is told', async (t) => {
    const reports: unknown[] = []
    const hashing = createHashing({ saveable: false, report: (_message, error) => reports.push(error) })
    t.after(() => hashing.close())
    const [hash, other] = [hashing.begin(), hashing.begin()]
    // A fast hash has no state: to ask for it is a bug of the caller's, and ends the thread.
    await assert.rejects(hash.save(), HashLost)
    await assert.rejects(other.digest(), HashLost)
    assert.equal(reports.length, 1)
    assert.equal(await hashing.begin().digest(), digestOf())
  })
})

describe('hashing with states that are saved', () => {
  it('goes on from a state in another thread', async (t) => {
    const [one, two] = [0, 1].map(() => createHashing({ saveable: true, report: () => {} }))
    t.after(() => Promise.all([one?.close(), two?.close()]))
    const [head, tail] = [randomBytes(100_001), randomBytes(99)]
    const hash = one?.begin()
    await hash?.update(head)
    const state = await hash?.save()
    const goesOn = two?.begin(state)
    await goesOn?.update(tail)
    assert.equal(await goesOn?.digest(), digestOf(head, tail))
  })
})
