import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { toSha256 } from '../../kernel/digest.ts'
import {
  lovedFileBytesMax,
  lovedFilesAmong,
  smallFileBytesMax,
  smallFilesBytesMax,
} from '../../kernel/limits/downloads.ts'
import { createSmallFiles } from './small-files.ts'

const file = (bytes: number) => {
  const content = randomBytes(bytes)
  return { content, digest: toSha256(hash('sha256', content)), bytes }
}

/** As a store gives them: in pieces whose memory is used again. */
async function* inPieces(content: Uint8Array): AsyncGenerator<Uint8Array> {
  const memory = new Uint8Array(1_000)
  for (let at = 0; at < content.byteLength; at += memory.byteLength) {
    const piece = content.subarray(at, at + memory.byteLength)
    memory.set(piece)
    yield memory.subarray(0, piece.byteLength)
  }
}

describe('small files', () => {
  it('are kept once they were read, whatever becomes of the memory they came in', async () => {
    const files = createSmallFiles()
    for (const bytes of [1, 999, 1_000, 1_001, smallFileBytesMax]) {
      const one = file(bytes)
      assert.equal(files.find(one.digest), undefined)
      assert.deepEqual(await files.read(one, inPieces(one.content)), one.content)
      assert.deepEqual(files.find(one.digest), one.content)
    }
  })

  it('are those that are small, and larger ones that are asked for again before many others are', () => {
    const files = createSmallFiles()
    const wanted = (one: ReturnType<typeof file>): boolean => files.isWanted(one)
    assert.ok(wanted(file(smallFileBytesMax)))
    const larger = Array.from({ length: lovedFilesAmong + 2 }, (_, index) => file(smallFileBytesMax + 1 + index))
    const [first, second] = larger
    assert.ok(first !== undefined && second !== undefined)
    assert.deepEqual([wanted(first), wanted(first)], [false, true])
    // In turn, as an install asks for them.
    for (let round = 0; round < 2; round++) assert.ok(larger.every((each) => each === first || !wanted(each)))
    assert.deepEqual([wanted(first), wanted(second)], [false, false])
    const large = file(lovedFileBytesMax + 1)
    assert.deepEqual([wanted(large), wanted(large)], [false, false])
  })

  it('are not kept when they are not what their digest says', async () => {
    const files = createSmallFiles()
    const [one, other] = [file(100), file(100)]
    assert.deepEqual(await files.read(one, inPieces(other.content)), other.content)
    assert.equal(files.find(one.digest), undefined)
    assert.equal(files.find(other.digest), undefined)
  })

  it('are not kept when reading them fails', async () => {
    const files = createSmallFiles()
    const one = file(5_000)
    const broken = async function* () {
      yield one.content.subarray(0, 1_000)
      throw new Error('the disk broke')
    }
    await assert.rejects(files.read(one, broken()), /the disk broke/)
    assert.equal(files.find(one.digest), undefined)
  })

  it('take no more memory than they may, and those that are asked for stay', async () => {
    const files = createSmallFiles()
    const loved = file(4_096)
    await files.read(loved, inPieces(loved.content))
    const others = Array.from({ length: (3 * smallFilesBytesMax) / smallFileBytesMax }, () => file(smallFileBytesMax))
    for (const each of others) {
      await files.read(each, inPieces(each.content))
      assert.ok(files.find(loved.digest) !== undefined)
    }
    let keptBytes = 0
    // The newest first: finding one that is old makes it new, and others go.
    for (const { digest } of [...others].reverse()) {
      const found = files.find(digest)
      if (found === undefined) break
      keptBytes += found.byteLength
    }
    assert.ok(keptBytes > 0 && keptBytes <= smallFilesBytesMax, `${keptBytes} bytes`)
  })
})
