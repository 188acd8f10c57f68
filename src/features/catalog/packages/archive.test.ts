import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { upack, zip } from '../../../../test/harness/zip.ts'
import type { StoredBytes } from '../../../content/checks/stored-bytes.ts'
import { Failure } from '../../../kernel/failure.ts'
import {
  archiveDirectoryBytesMax,
  archiveEntriesAtOnce,
  archiveEntriesMax,
  archiveFoldersMax,
} from '../../../kernel/limits/packages.ts'
import { readManifest } from './archive.ts'
import { createArchiveGate } from './archive-gate.ts'

/** A file of which only some pieces hold anything; what is read of it is counted. */
const holed = (bytes: number, pieces: readonly { readonly at: number; readonly content: Buffer }[]) => {
  const counted = { bytes: 0, largest: 0 }
  const file: StoredBytes = {
    bytes,
    async read(position, length) {
      if (position + length > bytes) throw new RangeError('outside')
      counted.bytes += length
      counted.largest = Math.max(counted.largest, length)
      const result = Buffer.alloc(length)
      for (const { at, content } of pieces)
        for (let n = Math.max(at, position); n < Math.min(at + content.byteLength, position + length); n++)
          result[n - position] = content[n - at] ?? 0
      return result
    },
  }
  return { file, counted }
}

const inMemory = (content: Buffer) => holed(content.byteLength, [{ at: 0, content }])

describe('reading the manifest of an archive', () => {
  it('reads as little of a thousand gigabytes as of a few bytes', async () => {
    const text = JSON.stringify({ name: 'large', version: '1.0.0' })
    const large = 10 ** 12
    const first = zip([{ name: 'upack.json', content: text }], { noEnd: true })
    const manifest = first.subarray(0, first.indexOf('PK\x01\x02'))
    // The second entry is all of the rest: its header, and then a hole.
    const listed = zip(
      [
        { name: 'upack.json', content: text, where: 'listed' },
        {
          name: 'package/disk.img',
          where: 'listed',
          listed: {
            offset: manifest.byteLength,
            size: 0xffffffff,
            compressedSize: 0xffffffff,
            extra: Buffer.from([
              1,
              0,
              16,
              0,
              ...new Uint8Array(new BigUint64Array([BigInt(large), BigInt(large)]).buffer),
            ]),
          },
        },
      ],
      { noEnd: true },
    )
    const directoryAt = manifest.byteLength + 46 + large
    const end = zip([], {
      saturated: true,
      large: {
        entries: 2n,
        directoryBytes: BigInt(listed.byteLength),
        directoryOffset: BigInt(directoryAt),
        at: BigInt(directoryAt + listed.byteLength),
      },
    })
    const tail = Buffer.concat([listed, end])
    const { file, counted } = holed(directoryAt + tail.byteLength, [
      { at: 0, content: manifest },
      { at: directoryAt, content: tail },
    ])
    assert.equal((await readManifest(file)).toString(), text)
    assert.ok(counted.bytes < 200_000 && counted.largest < 100_000, JSON.stringify(counted))
  })

  it('lets others have their turn while it goes through many entries', async () => {
    const entries = Array.from({ length: 20_000 }, (_, n) => ({ name: `package/${n}` }))
    const bytes = upack({ name: 'many', version: '1.0.0' }, entries)
    let rounds = 0
    let ended = false
    const others = (): void => {
      rounds++
      if (!ended) setImmediate(others)
    }
    setImmediate(others)
    await readManifest(inMemory(bytes).file)
    ended = true
    assert.ok(rounds >= entries.length / archiveEntriesAtOnce, `${rounds} turns`)
  })

  it('refuses more entries or a longer directory than it would keep in mind, before it reads them', async () => {
    const many = zip([{ name: 'upack.json' }], { saturated: true, large: { entries: BigInt(archiveEntriesMax + 1) } })
    const { file, counted } = inMemory(many)
    await assert.rejects(readManifest(file), refusal(/entries; at most/))
    assert.ok(counted.bytes < 2 * many.byteLength)
    const directory = Buffer.alloc(archiveDirectoryBytesMax + 1)
    const long = zip([], {
      gap: Buffer.alloc(0),
      beforeEnd: directory,
      entries: 1,
      directoryBytes: directory.byteLength,
      directoryOffset: 0,
    })
    await assert.rejects(readManifest(inMemory(long).file), refusal(/its directory has .* bytes; at most/))
  })

  it('refuses more folders than it would keep in mind, though few paths speak of them', async () => {
    const deep = Array.from({ length: 400 }, (_, n) => ({ name: `${n}${'/a'.repeat(500)}` }))
    assert.ok(deep.length * 500 > archiveFoldersMax)
    await assert.rejects(
      readManifest(inMemory(upack({ name: 'deep', version: '1.0.0' }, deep)).file),
      refusal(/more than \d+ folders/),
    )
    await readManifest(inMemory(upack({ name: 'deep', version: '1.0.0' }, deep.slice(0, 100))).file)
  })

  it('throws what the store throws, which is nobody’s archive', async () => {
    const bytes = upack({ name: 'lost', version: '1.0.0' })
    for (let failing = 1; ; failing++) {
      let reads = 0
      const broken = new Error('the store is away')
      const { file } = inMemory(bytes)
      const read: StoredBytes['read'] = async (position, length) => {
        if (++reads === failing) throw broken
        return file.read(position, length)
      }
      const result = await readManifest({ bytes: file.bytes, read }).catch((error: unknown) => error)
      if (reads < failing) break
      assert.equal(result, broken, `read ${failing}`)
    }
  })
})

describe('turns', () => {
  it('are taken by a few at once, in order, and refused beyond a line', async () => {
    const archiveGate = createArchiveGate(1, 1)
    const first = Promise.withResolvers<string>()
    const running = archiveGate(() => first.promise)
    const waiting = archiveGate(async () => 'second')
    await assert.rejects(
      archiveGate(async () => 'third'),
      (error) => error instanceof Failure && error.code === 'busy',
    )
    first.resolve('first')
    assert.deepEqual(await Promise.all([running, waiting]), ['first', 'second'])
    await assert.rejects(
      archiveGate(async () => assert.fail('goes wrong')),
      /goes wrong/,
    )
    assert.equal(await archiveGate(async () => 'goes on'), 'goes on')
  })
})

const refusal =
  (says: RegExp) =>
  (error: unknown): boolean =>
    error instanceof Failure && error.code === 'invalid_request' && says.test(error.message)
