import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { npmMaintainersMax, npmStarsMax, npmTagsMax, npmVersionsMax } from '../../../kernel/limits/npm.ts'
import { KiB } from '../../../kernel/units.ts'
import { frameTexts } from '../rendering.ts'
import { readDocument } from './document.ts'

describe('a document that is published', () => {
  it('counts what it keeps while it comes: versions, also one that is not whole, and never an attachment', async () => {
    let kept = 0
    const seen: number[] = []
    async function* pieces(): AsyncGenerator<Buffer> {
      const text = 'x'.repeat(64 * KiB)
      for (const piece of [`{"versions":{"1.0.0":{"a":"${text}`, `${text}"},"1.0.1":{}`]) {
        yield Buffer.from(piece)
        seen.push(kept)
      }
      yield Buffer.from(`},"_attachments":{"a.tgz":{"data":"`)
      seen.push(kept)
      for (let count = 0; count < 10; count++) yield Buffer.from(text)
      seen.push(kept)
      yield Buffer.from('"}}}')
    }
    const keeps = (bytes: number): void => {
      kept += bytes
    }
    const document = readDocument({ pieces: pieces(), keeps })
    for (let next = await document.next(); next !== null; next = await document.next())
      for await (const _ of next.data);
    const [first = 0, second = 0, before = 0, behind = 0] = seen
    assert.ok(first > 64 * KiB && first < 70 * KiB, String(first))
    assert.ok(second > 128 * KiB && second < 140 * KiB, String(second))
    assert.ok(before >= second && behind - before < KiB, String(behind - before))
  })

  it('may tell of as many versions, tags, owners and stars as a package has: clients send all that they read', async () => {
    const at = '2026-01-01T00:00:00.000Z'
    const many = <T>(count: number, of: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => of(n))
    const { head, times, tail } = frameTexts(
      {
        ...{ id: 'x', name: 'x', revision: 1, created_at: at, modified_at: at },
        maintainers: JSON.stringify(many(npmMaintainersMax, (n) => ({ name: `m${n}`, email: '' }))),
        stars: JSON.stringify(many(npmStarsMax, (n) => `s${n}`)),
      },
      many(npmTagsMax, (n) => ({ tag: `t${n}`, version: '1.0.0' })),
      { manifest: '{"license":"MIT","keywords":["a"],"author":{"name":"b"}}', readme: 'Read me.' },
    )
    const versions = many(npmVersionsMax, (n) => `"1.${n}.0":{}`)
    const published = many(npmVersionsMax, (n) => `"1.${n}.0":"${at}"`)
    async function* whole(more = ''): AsyncGenerator<Buffer> {
      yield Buffer.from(`${head}"versions":{${versions}${more}},"time":{${times},${published}}${tail}`)
    }
    const document = readDocument({ pieces: whole(), keeps: () => {} })
    assert.equal(await document.next(), null)
    assert.deepEqual([document.versions.size, document.rest()['name']], [npmVersionsMax, 'x'])
    const larger = readDocument({ pieces: whole(',"2.0.0":{}'), keeps: () => {} })
    await assert.rejects(larger.next(), /at most 20000 versions/)
  })
})
