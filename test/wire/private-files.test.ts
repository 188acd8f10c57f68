import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ask, closeConnections } from '../harness/client.ts'
import {
  type Environment,
  endProgramsAfterTests,
  keyIn,
  listening,
  type Program,
  runSvc,
  settingsFor,
  startSvc,
} from '../harness/processes.ts'

endProgramsAfterTests()
after(closeConnections)

describe('files in a folder that was there before', { timeout: 120_000 }, () => {
  let folder: string
  let dataDir: string
  let settings: Environment
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-private-'))
    dataDir = join(folder, 'data')
    await mkdir(dataDir)
    await chmod(folder, 0o755)
    await chmod(dataDir, 0o755)
    settings = settingsFor({ dataDir })
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const up = async (): Promise<[Program, string]> => {
    const program = startSvc(['up'], settings)
    return [program, await listening(program)]
  }
  const down = async (program: Program): Promise<void> => {
    program.child.kill('SIGTERM')
    await program.ended
  }
  /** Everything below a folder that others may do something with. */
  const open = async (below: string): Promise<string[]> => {
    const found: string[] = []
    for (const entry of await readdir(below, { recursive: true }))
      if (((await stat(join(below, entry))).mode & 0o077) !== 0) found.push(entry)
    return found
  }

  it('are nobody else’s to read, and those of an earlier start become so', async () => {
    const [first, url] = await up()
    const path = '/api/v1/repositories/releases/raw/secret'
    const credential = keyIn(dataDir, 'bootstrap-token.txt')
    assert.equal((await ask(url, { method: 'PUT', path, credential, body: 'secret '.repeat(40_000) })).status, 201)
    assert.deepEqual(await open(dataDir), [])
    const copy = join(folder, 'copy')
    assert.equal((await runSvc(['export', copy], settings)).code, 0)
    assert.deepEqual(await open(copy), [])
    await down(first)
    for (const [name, mode] of [
      ['svc.db', 0o644],
      ['blobs', 0o755],
    ] as const)
      await chmod(join(dataDir, name), mode)
    assert.deepEqual((await open(dataDir)).sort(), ['blobs', 'svc.db'])
    assert.equal((await runSvc(['doctor'], settings)).code, 0)
    assert.deepEqual(await open(dataDir), [])
  })

  it('do not start a service whose keys others may write', async () => {
    const keys = join(dataDir, 'config', 'keys.json')
    for (const mode of [0o620, 0o602]) {
      await chmod(keys, mode)
      const { code, stderr } = await runSvc(['up'], settings)
      assert.equal(code, 1)
      assert.match(stderr, /^svc: SVC_KEYS_FILE: .*keys\.json may be written by others than its owner.*chmod go-w\)\n$/)
    }
    await chmod(keys, 0o600)
    const [again] = await up()
    await down(again)
  })
})
