import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { SpoolFull } from '../../ports/spool.ts'
import { spoolsIn } from './spool.ts'

describe('a spool', () => {
  it('gives back what was put there, and leaves nothing behind', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-spool-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const pieces = [0, 1, 100_000, 3_000_000].map((length) => randomBytes(length))
    const spool = await spoolsIn(folder)()
    t.after(() => spool[Symbol.asyncDispose]())
    const starts: number[] = []
    for (const piece of pieces) starts.push(await spool.append(piece))
    for (const [index, piece] of pieces.entries())
      assert.ok((await spool.read(starts[index] ?? -1, piece.byteLength)).equals(piece))
    await assert.rejects(spool.read(starts[3] ?? -1, 3_000_001), /ends at/)
    assert.deepEqual(readdirSync(folder), [], 'also where the process dies now')
  })

  it('leaves others the room that is to stay free', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-spool-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const { bavail, bsize } = statfsSync(folder)
    const spool = await spoolsIn(folder, bavail * bsize)()
    t.after(() => spool[Symbol.asyncDispose]())
    await assert.rejects(spool.append(randomBytes(10)), SpoolFull)
  })
})
