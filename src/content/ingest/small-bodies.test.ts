import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gatheredBytesMax } from '../../kernel/limits/transfers.ts'
import { createSmallBodies, type Gathered, type SmallBodies } from './small-bodies.ts'

const most = 16

async function* body(...pieces: string[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield Buffer.from(piece)
}

/** All of a body, and whether it came whole. */
const seen = async ({ whole, pieces }: Gathered): Promise<readonly ['whole' | 'pieces', string]> =>
  whole === null
    ? ['pieces', Buffer.concat(await Array.fromAsync(pieces)).toString()]
    : ['whole', Buffer.from(whole).toString()]

describe('small bodies', () => {
  const small = createSmallBodies(most)
  const gathered = (declared: number | null, ...pieces: string[]) => small.gather(declared, body(...pieces), seen)

  it('are whole, whether their length is declared or not', async () => {
    assert.deepEqual(await gathered(5, 'he', 'llo'), ['whole', 'hello'])
    assert.deepEqual(await gathered(null, 'he', '', 'llo'), ['whole', 'hello'])
    assert.deepEqual(await gathered(most, 'x'.repeat(most)), ['whole', 'x'.repeat(most)])
    assert.deepEqual(await gathered(null), ['whole', ''])
  })

  it('that are shorter than declared are whole: whoever verifies them sees it', async () => {
    assert.deepEqual(await gathered(10, 'hello'), ['whole', 'hello'])
  })

  it('of unknown length are whole up to more than is kept, where that is asked for', async () => {
    const upTo = (bytes: number, ...pieces: string[]) => small.gather(null, body(...pieces), seen, bytes)
    const longer = 'x'.repeat(2 * most)
    assert.deepEqual(await upTo(2 * most, longer), ['whole', longer])
    assert.deepEqual(await upTo(2 * most - 1, longer), ['pieces', longer])
    assert.deepEqual(await upTo(1, 'x'.repeat(most)), ['whole', 'x'.repeat(most)])
    assert.deepEqual(await createSmallBodies(0).gather(null, body('x'), seen, 1), ['whole', 'x'])
    assert.deepEqual(await small.gather(2 * most, body(longer), seen, 2 * most), ['pieces', longer])
    assert.deepEqual([small.isInline(most), small.isInline(most + 1)], [true, false])
    assert.equal(createSmallBodies(0).isInline(0), false)
  })

  it('that turn out to be larger go on as they came, from their first byte', async () => {
    const large = ['x'.repeat(most), 'y', 'z'.repeat(most)]
    assert.deepEqual(await gathered(null, ...large), ['pieces', large.join('')])
  })

  it('that are longer than declared are not read to their end before that is known', async () => {
    let asked = 0
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        asked += 1
        yield Buffer.from('x')
      }
    }
    const first = await small.gather(3, endless(), async ({ pieces }) => {
      assert.ok(pieces !== null)
      for await (const piece of pieces) return Buffer.from(piece).toString()
      return ''
    })
    assert.deepEqual([first, asked], ['xxx', 4])
  })

  it('take no more memory than is counted, however small the pieces are that they come in', async () => {
    const pieces = Array.from({ length: most }, () => 'x')
    await small.gather(null, body(...pieces), async ({ whole }) => {
      assert.equal(whole?.byteLength, most)
      assert.equal(whole?.buffer.byteLength, most)
    })
  })

  it('that are declared larger, and all of them where nothing is kept in the database, are left alone', async () => {
    const check = async (bodies: SmallBodies, declared: number | null): Promise<void> => {
      const pieces = body('hello')
      assert.equal(await bodies.gather(declared, pieces, async (it) => it.pieces), pieces)
    }
    await check(small, most + 1)
    await check(createSmallBodies(0), null)
    await check(createSmallBodies(0), 0)
  })

  it('end the body when who works with it ends early', async () => {
    let ended = false
    async function* watched(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield Buffer.alloc(most)
      } finally {
        ended = true
      }
    }
    await small.gather(null, watched(), async ({ pieces }) => {
      for await (const _ of pieces ?? []) break
    })
    assert.equal(ended, true)
  })

  it('hold no more memory together than the bound; beyond it they count as large, until others are done', async () => {
    const each = gatheredBytesMax / 4
    const bodies = createSmallBodies(each)
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
    const held = Array.from({ length: 4 }, () => bodies.gather(each, body('x'), () => mayEnd))
    assert.deepEqual(await bodies.gather(1, body('x'), seen), ['pieces', 'x'])
    assert.deepEqual(await bodies.gather(null, body('x'), seen), ['pieces', 'x'])
    end()
    await Promise.all(held)
    assert.deepEqual(await bodies.gather(null, body('x'), seen), ['whole', 'x'])
  })
})
