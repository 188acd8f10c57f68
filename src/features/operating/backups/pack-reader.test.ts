import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { toSha256 } from '../../../kernel/digest.ts'
import { release } from '../../../kernel/piece-memory.ts'
import { MiB } from '../../../kernel/units.ts'
import type { BackupVault } from '../../../ports/backup-vault.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { compressedWhole, plainCoding } from './coding.ts'
import { BackupDamaged, type Stored } from './data-files.ts'
import type { Entry } from './entries.ts'
import { dataName } from './layout.ts'
import { PackReader } from './pack-reader.ts'

const scene = () => {
  const files = new Map<VaultName, Buffer>()
  const opened: VaultName[] = []
  const vault: Pick<BackupVault, 'open'> = {
    async *open(name) {
      opened.push(name)
      const bytes = files.get(name) ?? Buffer.alloc(0)
      for (let at = 0; at < bytes.byteLength; at += 50_000) yield Buffer.from(bytes.subarray(at, at + 50_000))
    },
  }
  /** Puts blobs into one file, and says where each of them is. */
  const pack = async (compressed: boolean, ...blobs: readonly Buffer[]): Promise<Entry[]> => {
    const bytes = Buffer.concat(blobs)
    const digest = toSha256(hash('sha256', bytes))
    const lying = compressed ? await compressedWhole(bytes) : bytes
    const name = dataName(digest, digest, 0, { kind: 'pack', compressed, encrypted: false })
    files.set(name, lying)
    const stored: Stored = { name, bytes: lying.byteLength, sha256: toSha256(hash('sha256', lying)) }
    let offset = 0
    return blobs.map((blob) => {
      const entry = { digest: toSha256(hash('sha256', blob)), bytes: blob.byteLength, offset, stored }
      offset += blob.byteLength
      return entry
    })
  }
  return { files, opened, pack, reader: new PackReader({ vault: vault as BackupVault, coding: plainCoding }) }
}

const read = async (reader: PackReader, entry: Entry | undefined): Promise<Buffer> => {
  assert.ok(entry)
  return Buffer.concat(await Array.fromAsync(reader.bytesOf(entry)))
}

describe('a reader of packs', () => {
  for (const compressed of [true, false])
    it(`gives each blob of a ${compressed ? 'compressed ' : ''}pack, which it reads once`, async () => {
      const { reader, pack, opened } = scene()
      const blobs = [randomBytes(70_000), Buffer.from('text '.repeat(50_000)), Buffer.alloc(0), randomBytes(10)]
      const entries = await pack(compressed, ...blobs)
      for (const [index, entry] of entries.entries()) assert.deepEqual(await read(reader, entry), blobs[index])
      assert.equal(opened.length, 1)
    })

  it('keeps a pack whoever gives the memory of a piece back', async () => {
    const { reader, pack } = scene()
    const blob = randomBytes(100_000)
    const [only, empty] = await pack(false, blob, Buffer.alloc(0))
    assert.ok(only)
    for (let again = 0; again < 2; again++)
      for await (const piece of reader.bytesOf(only)) {
        assert.deepEqual(Buffer.from(piece), blob)
        release(piece)
      }
    assert.deepEqual(await read(reader, empty), Buffer.alloc(0))
  })

  it('gives the memory of a pack back once others took its place and nobody works on it', async () => {
    const { reader, pack } = scene()
    const entries = await Promise.all(
      Array.from({ length: 12 }, () => pack(false, randomBytes(200_000), randomBytes(9))),
    )
    const seen: Uint8Array[] = []
    const look = async ([entry]: readonly Entry[], meanwhile: () => Promise<void> = async () => {}): Promise<void> => {
      assert.ok(entry)
      await reader.wholeOf(entry, async (whole) => {
        seen.push(whole)
        await meanwhile()
        assert.equal(hash('sha256', whole), entry.digest)
      })
    }
    const [held = [], lent = [], ...others] = entries
    const [piece] = await Array.fromAsync(reader.bytesOf(lent[0] ?? assert.fail()))
    await look(lent)
    await look(held, async () => {
      for (const other of others) await look(other)
    })
    assert.equal(hash('sha256', piece ?? ''), lent[0]?.digest)
    const [ofLent, ofHeld, ...ofOthers] = seen.map(({ byteLength }) => byteLength)
    assert.deepEqual([ofLent, ofHeld], [200_000, 0])
    assert.deepEqual(ofOthers, [0, 0, 0, 0, 0, 0, 200_000, 200_000, 200_000, 200_000])
    // What was given back is read again.
    for (const entry of entries) await look(entry)
  })

  it('reads one pack ahead, and the next once something of it was asked for', async () => {
    const { reader, pack, opened } = scene()
    const entries = await Promise.all(['one', 'two', 'three'].map((text) => pack(false, Buffer.from(text))))
    const [[one], [two], [three]] = entries as [Entry[], Entry[], Entry[]]
    assert.ok(one && two && three)
    for (const entry of [one, one, two, three]) reader.readAhead(entry)
    assert.deepEqual(opened, [one.stored.name])
    assert.equal(String(await read(reader, one)), 'one')
    reader.readAhead(two)
    reader.readAhead(three)
    assert.deepEqual(opened, [one.stored.name, two.stored.name])
    assert.equal(String(await read(reader, three)), 'three')
    assert.equal(String(await read(reader, two)), 'two')
    assert.equal(opened.length, 3)
  })

  it('says what is wrong with a pack to whoever asks, also where it was read ahead', async () => {
    const { reader, pack, files } = scene()
    const spoilt = (entry: Entry, change: (bytes: Buffer) => Buffer): Entry => {
      files.set(entry.stored.name, change(files.get(entry.stored.name) ?? Buffer.alloc(0)))
      return entry
    }
    const flipped = (bytes: Buffer): Buffer => {
      const copy = Buffer.from(bytes)
      copy[3] = (copy[3] ?? 0) ^ 1
      return copy
    }
    for (const compressed of [true, false])
      for (const change of [flipped, (b: Buffer) => b.subarray(1), (b: Buffer) => Buffer.concat([b, b])]) {
        const [entry] = await pack(compressed, randomBytes(100_000))
        assert.ok(entry)
        reader.readAhead(spoilt(entry, change))
        await assert.rejects(read(reader, entry), BackupDamaged)
      }
  })

  it('reads nothing beyond what a pack can be', async () => {
    const { reader, pack } = scene()
    const [bomb] = await pack(true, Buffer.alloc(64 * MiB))
    await assert.rejects(read(reader, bomb), BackupDamaged)
    const [large] = await pack(false, Buffer.alloc(18 * MiB))
    await assert.rejects(read(reader, large), BackupDamaged)
  })
})
