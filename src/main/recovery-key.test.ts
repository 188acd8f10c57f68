import assert from 'node:assert/strict'
import { hash, randomUUID } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { openKeys } from './keys-file.ts'
import { rotateRecoveryKey } from './recovery-key.ts'
import { readSettings } from './settings/rules.ts'

describe('rotating the recovery key', () => {
  let dataDir: string
  const settings = () => readSettings({ SVC_DATA_DIR: dataDir })
  const at = (name: string): string => join(dataDir, 'config', name)
  const contents = async (): Promise<{ keys: { id: string; sha256: string }[] }> =>
    JSON.parse(await readFile(at('keys.json'), 'utf8'))
  const digest = async (): Promise<string | undefined> =>
    (await contents()).keys.find(({ id }) => id === 'bootstrap-owner')?.sha256

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'svc-rotate-'))
    await openKeys(settings())
  })
  afterEach(() => rm(dataDir, { recursive: true, force: true }))

  it('changes the digest of that entry alone, and puts the key where the old one was, for its owner alone', async () => {
    const before = await contents()
    const { file, secret } = await rotateRecoveryKey(settings())
    assert.deepEqual([file, secret], [at('bootstrap-token.txt'), null])
    const fresh = (await readFile(at('bootstrap-token.txt'), 'utf8')).trim()
    assert.equal(await digest(), hash('sha256', fresh))
    const without = ({ keys }: typeof before) =>
      keys.map((key) => (key.id === 'bootstrap-owner' ? { ...key, sha256: '' } : key))
    assert.deepEqual(without(await contents()), without(before))
    assert.notDeepEqual(await contents(), before)
    for (const name of ['keys.json', 'bootstrap-token.txt']) assert.equal((await stat(at(name))).mode & 0o777, 0o600)
    assert.deepEqual((await readdir(join(dataDir, 'config'))).sort(), [
      'bootstrap-token.txt',
      'health-token.txt',
      'keys.json',
      'keys.json.lock',
    ])
  })

  it('puts in order what a crash has left', async () => {
    await writeFile(at('bootstrap-token.txt.next'), 'of a rotation that ended early\n')
    for (const name of ['keys.json', 'bootstrap-token.txt', 'bootstrap-token.txt.next'])
      await writeFile(at(`${name}.${randomUUID()}.new`), 'half')
    const others = `letter.${randomUUID()}.new`
    await writeFile(at(others), 'mine')
    await rotateRecoveryKey(settings())
    assert.equal(await digest(), hash('sha256', (await readFile(at('bootstrap-token.txt'), 'utf8')).trim()))
    assert.deepEqual(
      (await readdir(join(dataDir, 'config'))).filter((name) => name.endsWith('.new') || name.endsWith('.next')),
      [others],
    )
  })

  it('hands the key over where no file had the old one', async () => {
    await unlink(at('bootstrap-token.txt'))
    const { file, secret } = await rotateRecoveryKey(settings())
    assert.equal(file, null)
    assert.equal(await digest(), hash('sha256', secret ?? ''))
    assert.equal((await readdir(join(dataDir, 'config'))).length, 3)
  })

  it('refuses a keys file without that entry, and changes nothing', async () => {
    const { keys } = await contents()
    const text = JSON.stringify({ keys: keys.filter(({ id }) => id !== 'bootstrap-owner') })
    await writeFile(at('keys.json'), text)
    const key = await readFile(at('bootstrap-token.txt'), 'utf8')
    await assert.rejects(rotateRecoveryKey(settings()), /has no entry bootstrap-owner/)
    assert.deepEqual(
      [await readFile(at('keys.json'), 'utf8'), await readFile(at('bootstrap-token.txt'), 'utf8')],
      [text, key],
    )
  })
})
