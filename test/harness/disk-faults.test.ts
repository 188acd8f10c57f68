import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, describe, it } from 'node:test'
import { type DiskFaults, makeDiskFaults } from './disk-faults.ts'
import { endProgramsAfterTests, type Program, startProgram } from './processes.ts'
import { until } from './until.ts'

endProgramsAfterTests()

describe('a disk that a test steers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-disk-faults-test-'))
  const file = join(folder, 'a file')
  const disk: DiskFaults = makeDiskFaults()
  after(() => {
    disk.close()
    rmSync(folder, { recursive: true, force: true })
  })
  afterEach(() => disk.clear())

  /** Runs a line of JavaScript with `fs`, `promises`, `file` and `say`. */
  const run = (code: string): Program =>
    startProgram(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        `import fs from 'node:fs'; const { promises } = fs; const file = ${JSON.stringify(file)}
         const say = (text) => console.log(text)
         try { ${code} } catch (error) { say(error.code) }`,
      ],
      disk.environment,
    )
  const output = async (program: Program): Promise<string> => {
    const end = await program.ended
    assert.equal(end.code, 0, program.stderr())
    return program.stdout().trim()
  }

  it('fails calls of the thread that is meant, so often, and says which', async () => {
    const syncs = disk.rule({ call: 'fsync', path: 'a file', thread: 'other', action: 'fail', error: 'EIO', count: 1 })
    const code = `const f = await promises.open(file, 'w'); fs.fsyncSync(f.fd); say('main');
      await f.sync().catch((error) => say(error.code)); await f.sync(); say('again')`
    assert.equal(await output(run(code)), 'main\nEIO\nagain')
    assert.deepEqual(
      syncs.hits().map(({ thread, call, path }) => ({ thread, call, path })),
      [{ thread: 'other', call: 'fsync', path: file }],
    )
  })

  it('does a call and denies it', async () => {
    disk.rule({ call: 'pwrite', path: 'a file', action: 'fail', error: 'ENOSPC', when: 'after', letBy: 1 })
    const write = (at: number): string => `await f.write(Buffer.from('${at}'), 0, 1, ${at})`
    assert.equal(await output(run(`const f = await promises.open(file, 'w'); ${write(0)}; ${write(1)}`)), 'ENOSPC')
    assert.equal(readFileSync(file, 'utf8'), '01')
  })

  for (const [call, code] of [
    ['pwrite', "await promises.open(file, 'w').then((f) => f.write(Buffer.from('x'), 0, 1, 0))"],
    ['pwrite', "await promises.open(file, 'w').then((f) => f.writev([Buffer.from('x'), Buffer.from('y')], 0))"],
    ['write', "await promises.open(file, 'w').then((f) => f.write('x'))"],
    ['fdatasync', "await promises.open(file, 'w').then((f) => f.datasync())"],
    ['open', 'await promises.open(file)'],
    ['ftruncate', "await promises.open(file, 'w').then((f) => f.truncate(3))"],
    ['rename', "await promises.rename(file, file + ' renamed')"],
    ['link', "await promises.link(file + ' renamed', file)"],
    ['unlink', 'await promises.unlink(file)'],
  ] as const) {
    it(`holds ${code.replace(/^await /, '')} until it is let go`, async () => {
      const rule = disk.rule({ call, path: 'a file', thread: 'other', action: 'hold', count: 1 })
      const program = run(`say('begins'); ${code}; say('through')`)
      await rule.met()
      // What it said before comes through a pipe of its own.
      await until('it has begun', () => program.stdout() !== '')
      assert.equal(program.stdout().trim(), 'begins')
      rule.end()
      assert.equal(await output(program), 'begins\nthrough')
      assert.equal(rule.done(), 1)
    })
  }

  it('reaches SQLite, on the thread of the event loop', async () => {
    const rule = disk.rule({ call: 'any', path: 'rows.db', thread: 'main', action: 'tell' })
    const code = `const { DatabaseSync } = await import('node:sqlite'); const db = new DatabaseSync(file + ' rows.db')
      db.exec('PRAGMA journal_mode=WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)'); db.close(); say('written')`
    assert.equal(await output(run(code)), 'written')
    const calls = new Set(rule.hits().map(({ call }) => call))
    for (const call of ['open', 'pwrite', 'fdatasync', 'unlink'])
      assert.ok(calls.has(call) || (call === 'fdatasync' && calls.has('fsync')), `no ${call} in ${[...calls]}`)
  })

  it('takes time', async () => {
    const rule = disk.rule({ call: 'unlink', path: 'a file', action: 'delay', ms: 1 })
    run(`fs.rmSync(file + ' renamed', { force: true }); fs.unlinkSync(file + ' that is not there')`)
    await until('both went through', () => rule.done() === 2)
  })
})
