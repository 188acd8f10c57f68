import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, it } from 'node:test'
import { toSha256 } from '../../../kernel/digest.ts'
import { indexEntriesMax, indexesOpenMax, indexTextBytesMax, packEntriesMax } from '../../../kernel/limits/backups.ts'
import type { BackupVault } from '../../../ports/backup-vault.ts'
import { VaultFailure } from '../../../ports/vault.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { compressedWhole, plainCoding } from './coding.ts'
import { type Entry, entryText } from './entries.ts'
import { entriesOfIndexes } from './indexes.ts'
import { dataName, indexName } from './layout.ts'

describe('indexes that lie in a vault', () => {
  const digestOf = (text: string) => toSha256(hash('sha256', text))
  const pack = {
    name: dataName(digestOf('pack'), digestOf('pack'), 0, { kind: 'pack', compressed: true, encrypted: false }),
  }
  const entryAt = (index: number): Entry => ({
    digest: toSha256(index.toString(16).padStart(64, '0')),
    bytes: 1_048_575,
    offset: 16_777_215,
    stored: { ...pack, bytes: 16_777_215, sha256: digestOf('stored') },
  })
  const first = toSha256('0'.repeat(64))
  const nameAt = (index: number): VaultName => indexName(first, digestOf(`index ${index}`), false)
  const read = async (texts: readonly string[]): Promise<Entry[]> => {
    const lying = new Map<VaultName, Buffer>()
    for (const [index, text] of texts.entries()) lying.set(nameAt(index), await compressedWhole(Buffer.from(text)))
    const vault: Pick<BackupVault, 'read'> = {
      async read(name, bytesMax) {
        const bytes = lying.get(name) ?? null
        if (bytes !== null && bytes.byteLength > bytesMax) throw new VaultFailure('damaged', 'there', 'too long')
        return bytes
      },
    }
    const room = { vault: vault as BackupVault, coding: plainCoding }
    return await Array.fromAsync(entriesOfIndexes(room, [...lying.keys()]))
  }

  it('are read as long as the longest that a capture writes', async () => {
    const lines = Array.from(
      { length: indexEntriesMax + packEntriesMax },
      (_, index) => `${entryText(entryAt(index))}\n`,
    )
    assert.equal((await read([lines.join('')])).length, lines.length)
  })

  it('are none where they are longer, and keep nobody from the others', async () => {
    const line = `${entryText(entryAt(1))}\n`
    const long = line.repeat(Math.ceil(indexTextBytesMax / line.length) + 1)
    assert.deepEqual(await read([long, line]), [entryAt(1)])
  })

  it('are not in memory all at once, however many begin at one place', async () => {
    const text = [1, 2, 3].map((index) => `${entryText(entryAt(index))}\n`).join('')
    assert.equal((await read(Array.from({ length: 3 * indexesOpenMax }, () => text))).length, 3 * indexesOpenMax)
  })
})
