import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { packed, tarballOf } from '../../../../test/harness/npm-documents.ts'
import { npmSmallTarballBytes, npmUnpackedAtOnceBytes } from '../../../kernel/limits/npm.ts'
import { KiB } from '../../../kernel/units.ts'
import { lookIntoTarball, type Unpacked } from './tarball.ts'

const manifest = { name: 'a', version: '1.0.0' }
const withFile = (content: Uint8Array): Promise<Buffer> => packed(manifest, [{ name: 'package/file', content }])

/** Looks into what comes in pieces, each of which is written over once it is taken. */
const seenIn = async (tarball: Uint8Array, pieceBytes = 50 * KiB): Promise<Unpacked> => {
  const look = lookIntoTarball()
  try {
    for (let at = 0; at < tarball.byteLength; at += pieceBytes) {
      const piece = Buffer.from(tarball.subarray(at, at + pieceBytes))
      await look.write(piece)
      piece.fill(0)
    }
    return await look.end()
  } finally {
    look.drop()
  }
}

describe('a look into a tarball', () => {
  it('sees the same in what is small, what comes in many pieces and what unpacks to much', async () => {
    for (const content of [
      Buffer.from('x'),
      randomBytes(64 * KiB),
      randomBytes(2 * npmSmallTarballBytes),
      Buffer.alloc(2 * npmUnpackedAtOnceBytes),
    ]) {
      const seen = await seenIn(await withFile(content))
      assert.deepEqual([seen.files, seen.manifest['name']], [2, 'a'])
      assert.equal(seen.bytes, JSON.stringify(manifest).length + content.byteLength)
    }
  })

  it('is not misled by what a gzip says of its length', async () => {
    const tarball = await withFile(Buffer.alloc(2 * npmUnpackedAtOnceBytes))
    tarball.writeUInt32LE(1, tarball.byteLength - 4)
    await assert.rejects(seenIn(tarball), /no gzipped tar archive/)
    const two = gunzipSync(await withFile(randomBytes(64 * KiB)))
    const members = Buffer.concat([gzipSync(two.subarray(0, 40 * KiB)), gzipSync(two.subarray(40 * KiB))])
    assert.equal((await seenIn(members)).files, 2)
  })

  it('refuses what is broken in the same words, whether it is small or large', async () => {
    for (const bytes of [KiB, 2 * npmSmallTarballBytes]) {
      const whole = await withFile(randomBytes(bytes))
      const noPackage = await tarballOf([{ name: 'package/file', content: randomBytes(bytes) }])
      const escaping = await packed(manifest, [
        { name: '../out', content: 'x' },
        { name: 'package/file', content: randomBytes(bytes) },
      ])
      for (const [tarball, why] of [
        [whole.subarray(0, -100), /no gzipped tar archive/],
        [Buffer.concat([Buffer.from('x'), whole]), /no gzipped tar archive/],
        [noPackage, /has no package\.json/],
        [escaping, /leads out of the package/],
      ] as const)
        await assert.rejects(seenIn(tarball), why)
    }
    await assert.rejects(seenIn(Buffer.alloc(0)), /no gzipped tar archive/)
  })
})
