import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { decrypted, encrypted, NoKeyFits, newIdentity, recipientOf } from './age-cipher.ts'

describe('files of age', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-age-'))
  })
  after(() => rm(folder, { recursive: true }))

  async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.byteLength; at += 50_000) yield bytes.subarray(at, at + 50_000)
  }
  const whole = async (pieces: AsyncIterable<Uint8Array>): Promise<Buffer> =>
    Buffer.concat(await Array.fromAsync(pieces))

  it('are opened by each recipient, by nobody else, and by the program age', async () => {
    const [one, other, stranger] = [await newIdentity(), await newIdentity(), await newIdentity()]
    const recipients = [await recipientOf(one), await recipientOf(other)]
    for (const length of [0, 1, 65_536, 200_000]) {
      const bytes = randomBytes(length)
      const file = await whole(encrypted(inPieces(bytes), recipients))
      for (const identity of [one, other])
        assert.ok((await whole(decrypted(inPieces(file), [stranger, identity]))).equals(bytes))
      await assert.rejects(whole(decrypted(inPieces(file), [stranger])), NoKeyFits)
      const key = join(folder, 'key.txt')
      await writeFile(key, `${one}\n`)
      assert.ok(execFileSync('age', ['-d', '-i', key], { input: file }).equals(bytes))
      if (length === 0) continue
      const torn = Buffer.from(file)
      torn[torn.byteLength - 1] = (torn[torn.byteLength - 1] ?? 0) ^ 1
      await assert.rejects(whole(decrypted(inPieces(torn), [one])))
    }
  })
})
