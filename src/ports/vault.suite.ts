import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { type Kept, type Vault, VaultFailure, type VaultTrouble } from './vault.ts'
import { toVaultName, type VaultName } from './vault-name.ts'

const name = toVaultName
const text = (bytes: Uint8Array | null): string | null => (bytes === null ? null : Buffer.from(bytes).toString())
const bytesOf = (words: string): Uint8Array => Buffer.from(words)
const put = (vault: Vault, to: VaultName, bytes: Uint8Array): Promise<void> => vault.write(to, (take) => take(bytes))

const all = async (vault: Vault, to: VaultName): Promise<Buffer> => Buffer.concat(await Array.fromAsync(vault.open(to)))

const listed = async (vault: Vault, within: string): Promise<Kept[]> =>
  (await Array.fromAsync(vault.list(name(within)))).sort((a, b) => (a.name < b.name ? -1 : 1))

const rejects = (work: Promise<unknown>, trouble: VaultTrouble): Promise<void> =>
  assert.rejects(work, (error) => error instanceof VaultFailure && error.trouble === trouble)

/**
 * What every vault has to prove. `fresh` gives one that nobody has written to, as often as it is asked, each time as
 * another process would open it.
 */
export const vaultSuite = (title: string, fresh: (t: TestContext) => Promise<() => Vault>): void => {
  describe(`${title} as a vault`, () => {
    const test = (does: string, run: (vault: Vault, another: () => Vault) => Promise<void>): void => {
      it(does, async (t) => {
        const open = await fresh(t)
        await run(open(), open)
      })
    }
    /** Written to under a claim, as every vault is. */
    const writing = (does: string, run: (vault: Vault, another: () => Vault) => Promise<void>): void =>
      test(does, async (vault, another) => {
        const claim = await vault.claim('write')
        assert.ok(claim !== null)
        try {
          await run(vault, another)
        } finally {
          await claim[Symbol.asyncDispose]()
        }
      })

    test('is empty before it was ever written to, and answers that nothing is there', async (vault) => {
      assert.equal(await vault.empty(), true)
      assert.equal(await vault.size(name('one')), null)
      assert.equal(await vault.read(name('one'), 10), null)
      assert.deepEqual(await listed(vault, 'blobs'), [])
      await vault.remove([name('one')])
      await rejects(all(vault, name('one')), 'missing')
    })

    writing('gives back what was written, of any size', async (vault, another) => {
      for (const size of [0, 1, 65_536, 3_000_001]) {
        const bytes = randomBytes(size)
        await vault.write(name('blobs/00/one'), async (take) => {
          const memory = new Uint8Array(100_000)
          for (let at = 0; at < size; at += memory.byteLength) {
            const piece = bytes.subarray(at, at + memory.byteLength)
            memory.set(piece)
            // Its memory is given back, and holds other bytes by the time of the next piece.
            await take(memory.subarray(0, piece.byteLength))
            memory.fill(0)
          }
        })
        for (const reader of [vault, another()]) {
          assert.equal(await reader.size(name('blobs/00/one')), size)
          assert.deepEqual(Buffer.from((await reader.read(name('blobs/00/one'), size)) ?? []), bytes)
          assert.deepEqual(await all(reader, name('blobs/00/one')), bytes)
        }
      }
      assert.equal(await vault.empty(), false)
    })

    writing('gives pieces that keep their bytes', async (vault) => {
      const bytes = randomBytes(4_000_000)
      await put(vault, name('one'), bytes)
      const pieces = await Array.fromAsync(vault.open(name('one')))
      assert.ok(pieces.length > 1)
      assert.deepEqual(Buffer.concat(pieces), bytes)
    })

    writing('reads no more than it was asked to', async (vault) => {
      await put(vault, name('one'), bytesOf('12345'))
      assert.equal(text(await vault.read(name('one'), 5)), '12345')
      await rejects(vault.read(name('one'), 4), 'damaged')
    })

    writing('shows nothing before it is whole, and what was there before if it never is', async (vault) => {
      for (const before of [null, 'before']) {
        if (before !== null) await put(vault, name('one'), bytesOf(before))
        const broken = vault.write(name('one'), async (take) => {
          await take(randomBytes(200_000))
          assert.equal(text(await vault.read(name('one'), 10)), before)
          throw new RangeError('no more')
        })
        await assert.rejects(broken, new RangeError('no more'))
        assert.equal(text(await vault.read(name('one'), 10)), before)
      }
      await put(vault, name('one'), bytesOf('after'))
      assert.equal(text(await vault.read(name('one'), 10)), 'after')
    })

    writing('throws what whoever writes throws, whatever it is called', async (vault) => {
      const theirs = Object.assign(new Error('theirs'), { code: 'ENOSPC' })
      await assert.rejects(
        vault.write(name('one'), async () => {
          throw theirs
        }),
        (error) => error === theirs,
      )
    })

    writing('creates once, whoever is first', async (vault, another) => {
      const words = Array.from({ length: 8 }, (_, n) => `number ${n}`)
      const made = await Promise.all(words.map((word) => another().create(name('one'), bytesOf(word))))
      assert.equal(made.filter((did) => did).length, 1)
      assert.equal(text(await vault.read(name('one'), 100)), words[made.indexOf(true)])
      assert.equal(await vault.create(name('one'), bytesOf('again')), false)
    })

    writing('is sealed with one that takes the place of another', async (vault, another) => {
      await put(vault, name('tables/one'), bytesOf('row'))
      assert.equal(await another().sealed(name('manifest.json')), false)
      await vault.seal(name('manifest.json'), bytesOf('first'))
      await vault.seal(name('manifest.json'), bytesOf('second'))
      assert.equal(text(await another().read(name('manifest.json'), 100)), 'second')
      assert.equal(await another().sealed(name('manifest.json')), true)
      await vault.remove([name('manifest.json')])
      assert.equal(await another().size(name('manifest.json')), null)
    })

    writing('lists what is below a name, with its length, and removes it', async (vault) => {
      const names = ['blobs/00/a', 'blobs/00/b', 'blobs/01/c', 'blobs-more/00/d', 'tables/e'].map(name)
      for (const [index, each] of names.entries()) await put(vault, each, randomBytes(index))
      assert.deepEqual(await listed(vault, 'blobs'), [
        { name: 'blobs/00/a', bytes: 0 },
        { name: 'blobs/00/b', bytes: 1 },
        { name: 'blobs/01/c', bytes: 2 },
      ])
      assert.deepEqual(
        (await listed(vault, 'blobs/00')).map((kept) => kept.name),
        ['blobs/00/a', 'blobs/00/b'],
      )
      assert.deepEqual(await listed(vault, 'blobs/0'), [])
      await vault.remove([name('blobs/00/a'), name('blobs/01/c'), name('blobs/02/never')])
      assert.deepEqual(await listed(vault, 'blobs'), [{ name: 'blobs/00/b', bytes: 1 }])
    })

    writing('takes no other names than names', async (vault) => {
      for (const wrong of ['../out', 'a/../../b', '/etc/one', '', 'a//b', 'A', 'one.lock', 'one.new', 'a/b/c/d/e'])
        assert.throws(() => Reflect.apply(vault.whereIs, vault, [wrong]), RangeError, wrong)
    })

    test('has one writer at a time, or any number of readers', async (vault, another) => {
      assert.equal((await vault.claim('read')) === null, false, 'nobody writes where there is nothing')
      const writer = await vault.claim('write')
      assert.ok(writer !== null)
      await put(vault, name('one'), bytesOf('one'))
      assert.equal(await another().claim('write'), null)
      assert.equal(await another().claim('read'), null)
      await writer[Symbol.asyncDispose]()
      const readers = [await vault.claim('read'), await another().claim('read')]
      assert.equal(await another().claim('write'), null)
      for (const reader of readers) await reader?.[Symbol.asyncDispose]()
      const next = await another().claim('write')
      assert.ok(next !== null)
      await next[Symbol.asyncDispose]()
      assert.equal(text(await vault.read(name('one'), 10)), 'one')
    })

    test('stays empty in the eyes of the next writer when the first has written nothing', async (vault, another) => {
      await (await vault.claim('write'))?.[Symbol.asyncDispose]()
      assert.equal(await another().empty(), true)
    })
  })
}
