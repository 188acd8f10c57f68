import assert from 'node:assert/strict'
import { chmod, chown, lstat, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { editWebhooks, makeSecret } from './editing.ts'

const item = (id: string, folder: string) => ({
  id,
  repository: 'releases',
  url: 'https://hooks.example.org/',
  secretFile: join(folder, 'secret'),
  nextSecretFile: null,
  actions: null,
})

describe('the file of webhooks, edited', () => {
  const opened = async (t: TestContext): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-editing-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    return folder
  }

  it('is read and owned by whom it was before, and so are secrets that are made', async (t) => {
    const folder = await opened(t)
    const [file, secret] = [join(folder, 'webhooks.json'), join(folder, 'secret')]
    await editWebhooks(file, () => [item('first', folder)], { begins: true })
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    // Only root gives files away.
    const isRoot = process.getuid?.() === 0
    const theirs = { uid: isRoot ? 65_534 : (await stat(file)).uid, gid: isRoot ? 65_534 : (await stat(file)).gid }
    await chown(file, theirs.uid, theirs.gid)
    await chmod(file, 0o640)
    await editWebhooks(file, (entries) => [...entries, item('second', folder)])
    const { mode, uid, gid } = await stat(file)
    assert.deepEqual({ mode: mode & 0o777, uid, gid }, { mode: 0o640, ...theirs })
    assert.equal(await makeSecret(secret, file), true)
    const made = await stat(secret)
    assert.deepEqual({ mode: made.mode & 0o777, uid: made.uid, gid: made.gid }, { mode: 0o600, ...theirs })
    assert.equal(await makeSecret(secret, file), false)
  })

  it('stays where a link leads, and is not begun by who only changes it', async (t) => {
    const folder = await opened(t)
    const [link, file] = [join(folder, 'link.json'), join(folder, 'webhooks.json')]
    await assert.rejects(
      editWebhooks(file, () => []),
      /it does not exist/,
    )
    await assert.rejects(
      editWebhooks(file, () => [item('Wrong', folder)], { begins: true }),
      /field id/,
    )
    await assert.rejects(stat(file))
    await editWebhooks(file, () => [], { begins: true })
    await symlink(file, link)
    await editWebhooks(link, () => [item('first', folder)])
    assert.ok((await lstat(link)).isSymbolicLink())
    assert.equal(JSON.parse(await readFile(file, 'utf8')).webhooks.length, 1)
  })

  it('has every change of many at once', async (t) => {
    const folder = await opened(t)
    const file = join(folder, 'webhooks.json')
    const ids = Array.from({ length: 8 }, (_, n) => `hook-${n}`)
    const add = (id: string): Promise<void> =>
      editWebhooks(file, (entries) => [...entries, item(id, folder)], { begins: true })
    await Promise.all(ids.map(add))
    const { webhooks } = JSON.parse(await readFile(file, 'utf8'))
    assert.deepEqual(webhooks.map(({ id }: { id: string }) => id).sort(), ids)
  })

  it('is left as it is where somebody else wrote it meanwhile, and where what it is to name cannot be made', async (t) => {
    const folder = await opened(t)
    const file = join(folder, 'webhooks.json')
    await editWebhooks(file, () => [], { begins: true })
    const add = () => [item('first', folder)]
    const other = '{"webhooks":[]}'
    const meanwhile = (): Promise<void> => writeFile(file, other)
    await assert.rejects(editWebhooks(file, add, { prepare: meanwhile }), /somebody else changed it at this moment/)
    const prepare = (): Promise<void> => Promise.reject(new RangeError('none'))
    await assert.rejects(editWebhooks(file, add, { prepare }), new RangeError('none'))
    assert.equal(await readFile(file, 'utf8'), other)
  })
})
