import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import files from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { openFolder } from '../../main/moving.ts'
import { vaultSuite } from '../../ports/vault.suite.ts'
import { VaultFailure, type VaultTrouble } from '../../ports/vault.ts'
import { toVaultName } from '../../ports/vault-name.ts'

const scratch = (t: TestContext): string => {
  const base = fs.mkdtempSync(join(tmpdir(), 'svc-vault-'))
  t.after(() => fs.rmSync(base, { recursive: true, force: true }))
  return join(base, 'vault')
}

vaultSuite('a folder', async (t) => {
  const root = scratch(t)
  return () => openFolder(root)
})

const one = toVaultName('blobs/00/one')
const put = (root: string, name = one) => openFolder(root).write(name, (take) => take(Buffer.from('bytes')))
const rejects = (work: Promise<unknown>, trouble: VaultTrouble, message: RegExp): Promise<void> =>
  assert.rejects(work, (error) => {
    assert.ok(error instanceof VaultFailure)
    assert.equal(error.trouble, trouble)
    assert.match(error.message, message)
    return true
  })

/** What is synced and named while `work` runs, in order, relative to a folder. */
const watched = async (root: string, work: () => Promise<void>): Promise<string[]> => {
  const seen: string[] = []
  const { open, rename } = files
  const told = (what: string, path: unknown): void => void seen.push(`${what} ${relative(root, String(path)) || '.'}`)
  files.open = async (...args) => {
    const handle = await open(...args)
    const sync = handle.sync.bind(handle)
    handle.sync = async () => {
      await sync()
      told('sync', args[0])
    }
    return handle
  }
  files.rename = async (from, to) => {
    await rename(from, to)
    told('name', to)
  }
  syncBuiltinESMExports()
  try {
    await work()
  } finally {
    Object.assign(files, { open, rename })
    syncBuiltinESMExports()
  }
  return seen.filter((line) => !line.endsWith('.new'))
}

describe('a vault in a folder', () => {
  it('seals only what is durable in its place, from the inside out', async (t) => {
    const root = scratch(t)
    await put(root, toVaultName('blobs/01/kept'))
    const vault = openFolder(root)
    const seen = await watched(root, async () => {
      await Array.fromAsync(vault.list(toVaultName('blobs/01')))
      await vault.write(one, (take) => take(Buffer.from('bytes')))
      await vault.seal(toVaultName('manifest.json'), Buffer.from('{}'))
    })
    assert.deepEqual(seen, [
      'name blobs/00/one',
      'sync blobs/01',
      'sync blobs/00',
      'sync blobs',
      'sync .',
      'name manifest.json',
      'sync .',
    ])
  })

  it('can be read by its owner alone', async (t) => {
    const root = scratch(t)
    await (await openFolder(root).claim('write'))?.[Symbol.asyncDispose]()
    await put(root)
    const modes = ['.', 'export.lock', 'blobs', 'blobs/00', one].map(
      (path) => fs.statSync(join(root, path)).mode & 0o777,
    )
    assert.deepEqual(modes, [0o700, 0o600, 0o700, 0o700, 0o600])
  })

  it('loses what a dead writer left half-written, and nothing that others call new', async (t) => {
    const root = scratch(t)
    await put(root)
    const half = join(root, `${one}.${randomUUID()}.new`)
    const others = join(root, 'blobs/00/letter.new')
    for (const path of [half, others]) fs.writeFileSync(path, 'half')
    await (await openFolder(root).claim('read'))?.[Symbol.asyncDispose]()
    assert.equal(fs.existsSync(half), true)
    await (await openFolder(root).claim('write'))?.[Symbol.asyncDispose]()
    assert.deepEqual([half, others].map(fs.existsSync), [false, true])
    assert.deepEqual(
      (await Array.fromAsync(openFolder(root).list(toVaultName('blobs')))).map(({ name }) => name),
      [one],
    )
  })

  it('is not empty when it holds a thing of others, whatever that is called', async (t) => {
    for (const name of ['Letter to Ada.txt', '.hidden', 'draft.new']) {
      const root = scratch(t)
      fs.mkdirSync(root)
      fs.writeFileSync(join(root, name), '')
      assert.equal(await openFolder(root).empty(), false, name)
    }
  })

  it('may have its blobs elsewhere by a link, and follows none that it finds', async (t) => {
    const [root, elsewhere, others] = [scratch(t), scratch(t), scratch(t)]
    await put(elsewhere)
    fs.mkdirSync(root)
    fs.symlinkSync(join(elsewhere, 'blobs'), join(root, 'blobs'))
    fs.symlinkSync(root, join(root, 'round'))
    fs.mkdirSync(others)
    fs.symlinkSync(others, join(elsewhere, 'blobs/00/others'))
    const theirs = [join(others, 'letter'), join(others, `letter.${randomUUID()}.new`)]
    for (const path of theirs) fs.writeFileSync(path, 'mine')
    const names = (await Array.fromAsync(openFolder(root).list(toVaultName('blobs')))).map(({ name }) => name)
    assert.deepEqual(names, [one])
    for (const where of [root, elsewhere]) await (await openFolder(where).claim('write'))?.[Symbol.asyncDispose]()
    assert.deepEqual(theirs.map(fs.existsSync), [true, true])
  })

  it('says what is wrong with the folder', async (t) => {
    const root = scratch(t)
    fs.writeFileSync(root, 'a file')
    await rejects(openFolder(root).size(one), 'unreachable', /vault: is no folder$/)
    await rejects(openFolder(root).claim('write'), 'unreachable', /vault: is no folder$/)
    fs.rmSync(root)
    fs.mkdirSync(join(root, one), { recursive: true })
    await rejects(openFolder(root).read(one, 100_000), 'damaged', /EISDIR/)
    fs.writeFileSync(join(root, 'export.lock'), 'mine')
    await rejects(openFolder(root).claim('write'), 'damaged', /is not empty, so svc did not make it/)
  })
})
