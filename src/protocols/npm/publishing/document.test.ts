import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { KiB } from '../../../kernel/units.ts'
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
})
