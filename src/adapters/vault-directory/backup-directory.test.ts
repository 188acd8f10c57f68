import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import files from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { openVaultFolder } from '../../main/backup-vault.ts'
import { backupVaultSuite } from '../../ports/backup-vault.suite.ts'
import { VaultFailure } from '../../ports/vault.ts'
import { toVaultName } from '../../ports/vault-name.ts'

const scratch = (t: TestContext): string => {
  const base = mkdtempSync(join(tmpdir(), 'svc-backups-'))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  mkdirSync(join(base, 'vault'))
  return join(base, 'vault')
}

/** What is synced while `work` runs, of what lies in a folder, in order. */
const syncedFolders = async (root: string, work: () => Promise<unknown>): Promise<string[]> => {
  const synced: string[] = []
  const { open } = files
  files.open = async (...args) => {
    const handle = await open(...args)
    const sync = handle.sync.bind(handle)
    handle.sync = async () => {
      await sync()
      synced.push(relative(root, String(args[0])) || '.')
    }
    return handle
  }
  syncBuiltinESMExports()
  try {
    await work()
  } finally {
    files.open = open
    syncBuiltinESMExports()
  }
  return synced
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

  it('makes a name durable before what is created next, also one that was given while something was created', async (t) => {
    const root = scratch(t)
    const vault = openVaultFolder(root)
    const [begun, named] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const data = toVaultName('data/00/one')
    const writing = vault.write(data, 5, async (take) => {
      await take(Buffer.from('bytes'))
      begun.resolve()
      await named.promise
    })
    await begun.promise
    await vault.create(toVaultName('index/one'), Buffer.from('1'))
    named.resolve()
    assert.equal(await writing, true)
    const synced = await syncedFolders(root, () => vault.create(toVaultName('index/two'), Buffer.from('2')))
    assert.deepEqual(synced.slice(0, 3), ['data/00', 'data', '.'])
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
