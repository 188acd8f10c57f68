import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { openKeys } from '../../src/main/keys-file.ts'
import { readSettings } from '../../src/main/settings/rules.ts'
import { type DiskFaults, makeDiskFaults } from '../harness/disk-faults.ts'
import { endProgramsAfterTests, runSvc, settingsFor, startSvc } from '../harness/processes.ts'

endProgramsAfterTests()

describe('rotating the recovery key', () => {
  let dataDir: string
  let disk: DiskFaults
  const config = (): string => join(dataDir, 'config')
  const environment = () => ({ ...settingsFor({ dataDir }), ...disk.environment })
  const inOrder = ['bootstrap-token.txt', 'health-token.txt', 'keys.json', 'keys.json.lock']

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'svc-rotations-'))
    await openKeys(readSettings({ SVC_DATA_DIR: dataDir }))
    disk = makeDiskFaults()
  })
  afterEach(() => {
    disk.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  /** The files that have the secret which the keys file names. */
  const good = (): string[] => {
    const keys = readFileSync(join(config(), 'keys.json'), 'utf8')
    return ['bootstrap-token.txt', 'bootstrap-token.txt.next'].filter((name) => {
      const path = join(config(), name)
      return existsSync(path) && keys.includes(hash('sha256', readFileSync(path, 'utf8').trim()))
    })
  }

  it('loses the key to no two deaths in a row, and the next one leaves nothing of them', async () => {
    // Renames of a rotation: the secret gets its first name, the keys file its content, the secret its last name.
    const deaths = [
      { letBy: 1, when: 'after', leaves: 'bootstrap-token.txt.next' },
      { letBy: 1, when: 'after', leaves: 'bootstrap-token.txt.next' },
      { letBy: 0, when: 'after', leaves: 'bootstrap-token.txt' },
      { letBy: 1, when: 'before', leaves: 'bootstrap-token.txt' },
    ] as const
    for (const { letBy, when, leaves } of deaths) {
      // What died before goes on first: one rename more, which is let by as well.
      const more = good().includes('bootstrap-token.txt') ? 0 : 1
      const held = disk.rule({ call: 'rename', path: config(), action: 'hold', letBy: letBy + more, when, count: 1 })
      const dying = startSvc(['recovery-key', 'rotate'], environment())
      await held.met()
      dying.child.kill('SIGKILL')
      await dying.ended
      disk.clear()
      assert.deepEqual(good(), [leaves])
    }
    const { code, stderr } = await runSvc(['recovery-key', 'rotate'], environment())
    assert.equal(code, 0, stderr)
    assert.deepEqual(good(), ['bootstrap-token.txt'])
    assert.deepEqual(readdirSync(config()).sort(), inOrder)
  })

  it('is for one at a time: others are told so, and change nothing', async () => {
    const held = disk.rule({ call: 'rename', path: config(), action: 'hold', letBy: 1, count: 1 })
    const rotating = startSvc(['recovery-key', 'rotate'], environment())
    await held.met()
    for (const { code, stdout, stderr } of await Promise.all(
      [1, 2].map(() => runSvc(['recovery-key', 'rotate'], environment())),
    ))
      assert.deepEqual(
        [code, stdout, stderr],
        [1, '', 'svc: Another svc recovery-key rotate is at work here. Wait until it has ended.\n'],
      )
    held.end()
    assert.equal((await rotating.ended).code, 0, rotating.stderr())
    assert.deepEqual(good(), ['bootstrap-token.txt'])
    assert.deepEqual(readdirSync(config()).sort(), inOrder)
  })
})
