import assert from 'node:assert/strict'
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { makeFolders } from './make-folders.ts'

describe('folders', () => {
  let base: string
  before(async () => {
    base = await mkdtemp(join(tmpdir(), 'svc-folders-'))
  })
  after(() => rm(base, { recursive: true, force: true }))

  it('are made with those above them, for their owner alone, and the highest that is new is told', async () => {
    assert.equal(await makeFolders(join(base, 'a/b/c')), join(base, 'a'))
    assert.equal(await makeFolders(join(base, 'a/b/d')), join(base, 'a/b/d'))
    assert.equal(await makeFolders(join(base, 'a/b')), undefined)
    assert.equal((await stat(join(base, 'a'))).mode & 0o777, 0o700)
    await symlink(join(base, 'a'), join(base, 'link'))
    assert.equal(await makeFolders(join(base, 'link')), undefined)
  })

  it('may be made by several at once', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => makeFolders(join(base, 'x/y/z'))))
    assert.ok(made.includes(join(base, 'x')))
    assert.ok((await stat(join(base, 'x/y/z'))).isDirectory())
  })

  it('are not made where a file is, or where there can be none', async () => {
    await writeFile(join(base, 'file'), '')
    await assert.rejects(makeFolders(join(base, 'file')), { code: 'EEXIST' })
    await assert.rejects(makeFolders(join(base, 'file/below')), { code: 'ENOTDIR' })
    await assert.rejects(makeFolders('/proc/svc/data'), { code: 'ENOENT' })
  })
})
