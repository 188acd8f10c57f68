import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type LockMode, lockFile } from './file-lock.ts'

describe('lockFile', () => {
  let folder = ''
  let path = ''
  const others: ChildProcess[] = []
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-lock-'))
    path = join(folder, 'lock')
  })
  after(async () => {
    for (const other of others) other.kill('SIGKILL')
    await rm(folder, { recursive: true })
  })

  const free = (mode: LockMode): boolean => {
    const lock = lockFile(path, mode)
    lock?.[Symbol.dispose]()
    return lock !== null
  }
  /** Another process that takes the lock and keeps it until it is killed. */
  const keptElsewhere = async (mode: LockMode): Promise<ChildProcess> => {
    const module = JSON.stringify(join(import.meta.dirname, 'file-lock.ts'))
    const script = `import { lockFile } from ${module}
      globalThis.kept = lockFile(${JSON.stringify(path)}, '${mode}')
      console.log(globalThis.kept === null ? 'refused' : 'locked')
      setInterval(() => {}, 1000)`
    const other = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    others.push(other)
    const [said] = await once(other.stdout, 'data')
    assert.equal(String(said).trim(), 'locked')
    return other
  }
  const killed = async (other: ChildProcess): Promise<void> => {
    const gone = once(other, 'exit')
    other.kill('SIGKILL')
    await gone
  }

  it('gives an exclusive lock to one alone, and back', () => {
    const lock = lockFile(path, 'exclusive')
    assert.notEqual(lock, null)
    assert.deepEqual([free('exclusive'), free('shared')], [false, false])
    lock?.[Symbol.dispose]()
    assert.deepEqual([free('exclusive'), free('shared')], [true, true])
  })

  it('gives a shared lock to any number', () => {
    const [one, two] = [lockFile(path, 'shared'), lockFile(path, 'shared')]
    assert.deepEqual([one === null, two === null], [false, false])
    one?.[Symbol.dispose]()
    assert.deepEqual([free('exclusive'), free('shared')], [false, true])
    two?.[Symbol.dispose]()
    assert.equal(free('exclusive'), true)
  })

  for (const mode of ['exclusive', 'shared'] as const)
    it(`keeps a ${mode} lock between processes, and none beyond the death of its holder`, async () => {
      const other = await keptElsewhere(mode)
      assert.deepEqual([free('exclusive'), free('shared')], [false, mode === 'shared'])
      await killed(other)
      assert.deepEqual([await readdir(folder), (await stat(path)).size], [['lock'], 0])
      assert.deepEqual([free('exclusive'), free('shared')], [true, true])
    })

  it('refuses a file with something in it, and leaves it', async () => {
    const strange = join(folder, 'strange')
    await writeFile(strange, 'mine')
    assert.throws(() => lockFile(strange, 'exclusive'), /is not empty/)
    assert.equal(await readFile(strange, 'utf8'), 'mine')
  })
})
