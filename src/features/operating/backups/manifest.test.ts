import assert from 'node:assert/strict'
import { hash, randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { othersRoundsWhile } from '../../../../test/harness/others-rounds.ts'
import type { Chunk } from './chunks.ts'
import { BackupDamaged } from './data-files.ts'
import { manifestText, readManifest } from './manifest.ts'

const digest = hash('sha256', 'one')
const chunk: Chunk = {
  file: `data/${digest.slice(0, 2)}/${digest}.rows.zst`,
  lines: 3,
  sha256: digest,
  stored: { bytes: 100, sha256: digest },
}

/** All of a manifest, with these as the chunks of its one table. */
const contentWith = <T>(chunks: T) => ({
  format: 'svc-backup' as const,
  formatVersion: 1 as const,
  id: randomUUID(),
  vault: randomUUID(),
  schema: 1,
  program: '1.2.3',
  source: randomUUID(),
  snapshotAt: '2026-01-02T03:04:05.000Z',
  completedAt: '2026-01-02T03:04:06.000Z',
  encrypted: false,
  tables: [{ name: 'blobs', columns: ['sha256'], rows: 3, chunks }],
  blobs: { count: 0, bytes: 0 },
  newBytes: 0,
  contents: [],
  files: [],
})

/** As a manifest lies in a vault, whatever it says. */
const sealed = (content: object): string => {
  const first = `${JSON.stringify(content)}\n`
  return `${first}${JSON.stringify({ sha256: hash('sha256', first) })}\n`
}

const read = (content: { readonly id: string }, text = sealed(content)) =>
  readManifest({ read: async () => Buffer.from(text) }, content.id)

describe('a manifest', () => {
  it('is read as it was written', async () => {
    const content = contentWith([chunk, { ...chunk, file: `data/00/${digest}-2.pack` }])
    const { digest: _, ...found } = await read(content, manifestText(content))
    assert.deepEqual(found, content)
  })

  it('is damaged where one of its chunks is none', async () => {
    const { stored, ...without } = chunk
    for (const wrong of [
      null,
      'data',
      [],
      without,
      { ...chunk, more: 1 },
      { ...chunk, file: 'data/../../etc/passwd' },
      { ...chunk, file: `points/${randomUUID()}.json` },
      { ...chunk, lines: 0 },
      { ...chunk, lines: 1.5 },
      { ...chunk, lines: 1_000_000 },
      { ...chunk, sha256: digest.toUpperCase() },
      { ...chunk, stored: { ...stored, bytes: -1 } },
      { ...chunk, stored: { ...stored, sha256: 1 } },
      { ...chunk, stored: { ...stored, more: 1 } },
    ])
      await assert.rejects(read(contentWith([chunk, wrong])), BackupDamaged, JSON.stringify(wrong))
    const content = contentWith([])
    for (const chunks of [null, {}, 'none'])
      for (const list of [{ ...content, contents: chunks }, { ...content, files: chunks }, contentWith(chunks)])
        await assert.rejects(read(list), BackupDamaged)
  })

  it('lets others have their turn while one of a hundred million rows is looked at', async () => {
    const content = contentWith(Array.from({ length: 45_000 }, () => chunk))
    const others = await othersRoundsWhile(async () => {
      assert.equal((await read(content)).tables[0]?.chunks.length, 45_000)
    })
    assert.ok(others >= 4, `others had ${others} rounds`)
  })
})
