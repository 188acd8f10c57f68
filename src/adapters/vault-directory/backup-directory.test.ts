import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { openVaultFolder } from '../../main/backup-vault.ts'
import { backupVaultSuite } from '../../ports/backup-vault.suite.ts'
import { VaultFailure } from '../../ports/vault.ts'

const scratch = (t: TestContext): string => {
  const base = mkdtempSync(join(tmpdir(), 'svc-backups-'))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  mkdirSync(join(base, 'vault'))
  return join(base, 'vault')
}

backupVaultSuite('a folder', async (t) => {
  const root = scratch(t)
  return () => openVaultFolder(root)
})

describe('a folder of backups', () => {
  it('has one writer at a time', async (t) => {
    const root = scratch(t)
    const writer = await openVaultFolder(root).claim()
    assert.ok(writer !== null)
    assert.equal(await openVaultFolder(root).claim(), null)
    await writer[Symbol.asyncDispose]()
    const next = await openVaultFolder(root).claim()
    assert.ok(next !== null)
    await next[Symbol.asyncDispose]()
  })

  it('is not made where it is missing, as on a disk that is not mounted', async (t) => {
    const missing = openVaultFolder(join(scratch(t), 'missing'))
    const unreachable = (error: unknown): boolean =>
      error instanceof VaultFailure && error.trouble === 'unreachable' && error.message.includes('is its disk mounted?')
    await assert.rejects(missing.claim(), unreachable)
    await assert.rejects(missing.space(), unreachable)
    assert.equal(readdirSync(join(missing.where, '..')).length, 0)
  })

  it('is tidied of what dead writers left half-written, and of nothing else', async (t) => {
    const root = scratch(t)
    await (await openVaultFolder(root).claim())?.[Symbol.asyncDispose]()
    writeFileSync(join(root, `one.${crypto.randomUUID()}.new`), 'half')
    writeFileSync(join(root, 'README.txt'), 'theirs')
    await (await openVaultFolder(root).claim())?.[Symbol.asyncDispose]()
    assert.deepEqual(readdirSync(root).sort(), ['README.txt', 'backup.lock'])
  })
})
