import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import type { BackupVault } from './backup-vault.ts'
import { VaultFailure, type VaultTrouble } from './vault.ts'
import { toVaultName, type VaultName } from './vault-name.ts'

const name = toVaultName
const text = (bytes: Uint8Array | null): string | null => (bytes === null ? null : Buffer.from(bytes).toString())
const all = async (pieces: AsyncIterable<Uint8Array>): Promise<Buffer> => Buffer.concat(await Array.fromAsync(pieces))
const put = (vault: BackupVault, to: VaultName, bytes: Uint8Array): Promise<boolean> =>
  vault.write(to, bytes.byteLength, (take) => take(bytes))
const named = async (vault: BackupVault, within: string): Promise<string[]> =>
  (await Array.fromAsync(vault.list(name(within)), (kept) => `${kept.name} ${kept.bytes}`)).sort()
const rejects = (work: Promise<unknown>, trouble: VaultTrouble): Promise<void> =>
  assert.rejects(work, (error) => error instanceof VaultFailure && error.trouble === trouble)

/**
 * What every vault of backups has to prove. `fresh` gives one that nobody has written to, as often as it is asked, each
 * time as another process would open it.
 */
export const backupVaultSuite = (title: string, fresh: (t: TestContext) => Promise<() => BackupVault>): void => {
  describe(`${title} as a vault of backups`, () => {
    const test = (does: string, run: (vault: BackupVault, another: () => BackupVault) => Promise<void>): void => {
      it(does, async (t) => {
        const open = await fresh(t)
        await run(open(), open)
      })
    }

    test('answers that nothing is there before it was ever written to', async (vault) => {
      assert.equal(await vault.size(name('one')), null)
      assert.equal(await vault.read(name('one'), 10), null)
      assert.deepEqual(await named(vault, 'data'), [])
      await vault.remove([name('one')])
      await rejects(all(vault.open(name('one'))), 'missing')
      await rejects(all(vault.open(name('one'), { start: 0, end: 5 })), 'missing')
    })

    test('gives back what was written, of any size, whole and in ranges', async (vault, another) => {
      for (const size of [0, 1, 65_536, 3_000_001, 20_000_000]) {
        const bytes = randomBytes(size)
        const to = name(`data/00/of-${size}`)
        const written = await vault.write(to, size, async (take) => {
          const memory = new Uint8Array(100_000)
          for (let at = 0; at < size; at += memory.byteLength) {
            const piece = bytes.subarray(at, at + memory.byteLength)
            memory.set(piece)
            // Its memory is given back, and holds other bytes by the time of the next piece.
            await take(memory.subarray(0, piece.byteLength))
            memory.fill(0)
          }
        })
        assert.equal(written, true)
        for (const reader of [vault, another()]) {
          assert.equal(await reader.size(to), size)
          assert.deepEqual(await all(reader.open(to)), bytes)
          assert.deepEqual(Buffer.from((await reader.read(to, size)) ?? []), bytes)
          const range = { start: Math.floor(size / 3), end: Math.floor(size / 2) }
          assert.deepEqual(await all(reader.open(to, range)), bytes.subarray(range.start, range.end))
        }
      }
    })

    test('takes more than was expected, and less', async (vault) => {
      const bytes = randomBytes(1_000_000)
      await vault.write(name('more'), 10, (take) => take(bytes))
      await vault.write(name('less'), 5_000_000, (take) => take(bytes))
      for (const each of ['more', 'less']) assert.deepEqual(await all(vault.open(name(each))), bytes)
    })

    test('reads no more than it was asked to', async (vault) => {
      await put(vault, name('one'), Buffer.from('12345'))
      assert.equal(text(await vault.read(name('one'), 5)), '12345')
      await rejects(vault.read(name('one'), 4), 'damaged')
    })

    test('writes nothing over what is there', async (vault, another) => {
      for (const [index, write] of [put, (v: BackupVault, n: VaultName, b: Uint8Array) => v.create(n, b)].entries()) {
        const to = name(`data/00/${index}`)
        assert.equal(await write(vault, to, Buffer.from('first')), true)
        assert.equal(await another().create(to, Buffer.from('second')), false)
        assert.equal(await put(another(), to, Buffer.from('third')), false)
        assert.equal(text(await vault.read(to, 100)), 'first')
      }
    })

    test('gives a name once, whoever is first', async (vault, another) => {
      const words = Array.from({ length: 8 }, (_, n) => `number ${n}`)
      const made = await Promise.all(words.map((word) => another().create(name('one'), Buffer.from(word))))
      assert.equal(made.filter((did) => did).length, 1)
      assert.equal(text(await vault.read(name('one'), 100)), words[made.indexOf(true)])
    })

    test('shows nothing before it is whole, nor if it never is', async (vault) => {
      const broken = vault.write(name('data/00/one'), 20_000_000, async (take) => {
        await take(randomBytes(20_000_000))
        assert.equal(await vault.size(name('data/00/one')), null)
        throw new RangeError('no more')
      })
      await assert.rejects(broken, new RangeError('no more'))
      assert.deepEqual(await named(vault, 'data'), [])
      await put(vault, name('data/00/one'), Buffer.from('after'))
      assert.equal(text(await vault.read(name('data/00/one'), 10)), 'after')
    })

    test('throws what whoever writes throws, whatever it is called', async (vault) => {
      const theirs = Object.assign(new Error('theirs'), { code: 'ENOSPC' })
      const failing = vault.write(name('one'), 1, async () => {
        throw theirs
      })
      await assert.rejects(failing, (error) => error === theirs)
    })

    test('lists what is below a name, with its length and age, and removes it', async (vault) => {
      const names = ['data/00/a', 'data/00/b', 'data/01/c', 'data-more/00/d', 'points/e'].map(name)
      for (const [index, each] of names.entries()) await put(vault, each, randomBytes(index))
      assert.deepEqual(await named(vault, 'data'), ['data/00/a 0', 'data/00/b 1', 'data/01/c 2'])
      assert.deepEqual(await named(vault, 'data/00'), ['data/00/a 0', 'data/00/b 1'])
      for await (const { modifiedAtMs } of vault.list(name('data')))
        assert.ok(Math.abs(Date.now() - modifiedAtMs) < 3_600_000)
      await vault.remove([name('data/00/a'), name('data/01/c'), name('data/02/never')])
      assert.deepEqual(await named(vault, 'data'), ['data/00/b 1'])
    })

    test('is claimed, given back and claimed again', async (vault, another) => {
      for (const each of [vault, another()]) {
        const claim = await each.claim()
        assert.ok(claim !== null)
        await put(each, name('one'), Buffer.from('one'))
        await claim[Symbol.asyncDispose]()
      }
      assert.equal(text(await vault.read(name('one'), 10)), 'one')
    })

    test('knows its room, or no end', async (vault) => {
      await (await vault.claim())?.[Symbol.asyncDispose]()
      const space = await vault.space()
      assert.ok(space === null || (space.freeBytes > 0 && space.totalBytes >= space.freeBytes))
    })
  })
}
