import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, it } from 'node:test'
import { othersRoundsWhile } from '../../../../test/harness/others-rounds.ts'
import { toSha256 } from '../../../kernel/digest.ts'
import { MiB } from '../../../kernel/units.ts'
import type { BackupVault } from '../../../ports/backup-vault.ts'
import { type Chunk, ChunkCutter, linesOf, rowIn } from './chunks.ts'
import { compressedWhole, plainCoding } from './coding.ts'
import { BackupDamaged } from './data-files.ts'
import { dataName } from './layout.ts'

describe('a chunk that somebody else put into the vault', () => {
  const chunkOf = async (text: string, lines: number) => {
    const bytes = await compressedWhole(Buffer.from(text))
    const digest = toSha256(hash('sha256', text))
    const vault: Pick<BackupVault, 'open'> = {
      async *open() {
        yield bytes
      },
    }
    const file = dataName(digest, digest, 0, { kind: 'rows', compressed: true, encrypted: false })
    const stored = { bytes: bytes.byteLength, sha256: hash('sha256', bytes) }
    const chunk: Chunk = { file, lines, sha256: digest, stored }
    return { chunk, room: { vault: vault as BackupVault, coding: plainCoding } }
  }

  it('has as many lines as the manifest says, or is damaged before one is made of it', async () => {
    const { chunk, room } = await chunkOf('\n'.repeat(16_000_000), 3)
    const before = process.memoryUsage().heapUsed
    await assert.rejects(linesOf(room, chunk), BackupDamaged)
    assert.ok(process.memoryUsage().heapUsed - before < 64 * MiB)
    const sound = await chunkOf('1\n2\n3\n', 3)
    assert.deepEqual(await linesOf(sound.room, sound.chunk), ['1', '2', '3'])
  })

  it('is damaged where a line is no row', async () => {
    const { chunk } = await chunkOf('', 1)
    assert.deepEqual(rowIn(chunk, '{"id":"one"}', ['id']), { id: 'one' })
    for (const line of ['', '{', 'null', '[]', '{"id":"one","other":1}', '{"id":{}}'])
      assert.throws(() => rowIn(chunk, line, ['id']), BackupDamaged, line)
  })
})

describe('rows that are cut', () => {
  it('let others have their turn, also where every chunk of them is known and nothing waits for a vault', async () => {
    const taken: number[] = []
    const cutter = new ChunkCutter(async (text, lines) => {
      assert.ok(text.byteLength <= 4 * MiB)
      taken.push(lines)
    })
    const others = await othersRoundsWhile(async () => {
      for (let row = 0; row < 100_000; row++) await cutter.add(`{"row":"${'x'.repeat(200)}${row}"}`)
      await cutter.end()
    })
    assert.equal(
      taken.reduce((sum, lines) => sum + lines, 0),
      100_000,
    )
    assert.ok(others >= 2, `others had ${others} rounds`)
  })
})
