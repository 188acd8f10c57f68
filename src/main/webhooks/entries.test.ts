import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { journalActions } from '../../kernel/journal-actions.ts'
import { webhooksFileBytesMax } from '../../kernel/limits/webhooks.ts'
import { parseWebhooks, WebhooksWrong } from './entries.ts'
import { readWebhooks } from './file.ts'
import { readSecret, secretsOf } from './secrets.ts'

const good = {
  id: 'builds_1-a',
  repository: 'releases',
  url: 'https://hooks.example.org/a/b',
  secretFile: '/etc/svc/secret',
}
const parse = (...items: readonly unknown[]) => parseWebhooks(JSON.stringify({ webhooks: items }))
const faults = (work: () => unknown): readonly string[] => {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof WebhooksWrong)
    return error.faults
  }
  return []
}
const folder = async (t: TestContext): Promise<string> => {
  const made = await mkdtemp(join(tmpdir(), 'svc-webhooks-'))
  t.after(() => rm(made, { recursive: true, force: true }))
  return made
}

describe('the file of webhooks', () => {
  it('has up to sixteen subscriptions', () => {
    assert.deepEqual(parse(), [])
    assert.deepEqual(parse(good), [{ ...good, nextSecretFile: null, actions: null }])
    const whole = { ...good, nextSecretFile: '/next', actions: [...journalActions] }
    assert.deepEqual(parse(whole), [whole])
    for (const url of ['http://localhost:1/a', 'http://127.0.0.1/', 'http://[::1]:8080', 'https://10.0.0.1:8443'])
      assert.equal(parse({ ...good, url })[0]?.url, url)
    const many = Array.from({ length: 17 }, (_, n) => ({ ...good, id: `b${n}` }))
    assert.equal(parse(...many.slice(1)).length, 16)
    assert.deepEqual(
      faults(() => parse(...many)),
      ['it has 17 items, and 16 are the most'],
    )
  })

  it('is refused in few words, however much of it is wrong', () => {
    assert.deepEqual(
      faults(() => parseWebhooks(`{"webhooks":[${'1,'.repeat(59_999)}1]}`)),
      ['it has 60000 items, and 16 are the most'],
    )
    const unknown = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`f${n}`, 1]))
    const told = faults(() => parse({ ...good, ...unknown }))
    assert.equal(told.length, 21)
    assert.equal(told[0], 'item 1 (builds_1-a), field "f0": there is no such field')
    assert.equal(told.at(-1), 'and 9980 more')
  })

  it('is refused whole, and it is said where: item, field and why', () => {
    const wrong: readonly [object, RegExp][] = [
      [{ id: 'Upper' }, /^item 2, field id: it is not 1 to 64 characters/],
      [{ id: 'x'.repeat(65) }, /^item 2, field id: /],
      [{ id: undefined }, /^item 2, field id: it is no text$/],
      [{ repository: '-x' }, /^item 2 \(b\), field repository: it is no id of a repository$/],
      [{ url: 'ftp://example.org' }, /field url: it is no address/],
      [{ url: 'https:example.org' }, /field url: it is no address that begins with https:\/\/$/],
      [{ url: ' https://example.org' }, /field url: it is no address that begins with https:\/\/$/],
      [{ url: 'https://example.org\n' }, /field url: it is no address$/],
      [{ url: 'https://exam\tple.org' }, /field url: it is no address$/],
      [{ url: 'https://example.org/\r\nX-Svc-Event: a' }, /field url: it is no address$/],
      [{ url: 'https://example.org\\a' }, /field url: it is no address$/],
      [{ url: 'https:///example.org' }, /field url: it is no address$/],
      [{ url: 'https://256.0.0.1/' }, /field url: it is no address$/],
      [{ url: 'http://example.org' }, /field url: plain HTTP is for localhost, 127\.0\.0\.1 and \[::1\] alone$/],
      [{ url: 'http://127.0.0.2' }, /field url: plain HTTP/],
      [{ url: 'https://me@example.org' }, /field url: it has a user name$/],
      [{ url: 'https://@example.org' }, /field url: it has a user name$/],
      [{ url: 'https://example.org/?' }, /field url: it has a query or a fragment$/],
      [{ url: 'https://example.org/#a' }, /field url: it has a query or a fragment$/],
      [{ url: `https://example.org/${'x'.repeat(2_048)}` }, /field url: it is longer than 2048 characters$/],
      [{ secretFile: 'secret' }, /field secretFile: it is no absolute path$/],
      [{ nextSecretFile: './x' }, /field nextSecretFile: it is no absolute path$/],
      [{ actions: [] }, /field actions: it is no list of actions/],
      [{ actions: ['artifact.publish', 'artifact.publish'] }, /field actions: it names one twice$/],
      [{ actions: ['artifact.published'] }, /field actions: there is no action "artifact\.published"$/],
      [{ secret: 'x' }, /field "secret": there is no such field$/],
    ]
    for (const [change, why] of wrong) {
      const [first = '', ...more] = faults(() => parse(good, { ...good, id: 'b', ...change }))
      assert.match(first, why)
      assert.deepEqual(more, [])
    }
    assert.deepEqual(
      faults(() => parse(good, good)),
      ['item 2 (builds_1-a), field id: another item has it'],
    )
    assert.match(faults(() => parse(null)).join(), /^item 1, which is no object/)
    for (const text of ['', '[]', '{}', '{"webhooks": {}}', '{"webhooks": [], "more": 1}', 'null'])
      assert.equal(faults(() => parseWebhooks(text)).length, 1, text)
  })

  it('is there, no larger than it may be, and nobody else may write it', async (t) => {
    const path = join(await folder(t), 'webhooks.json')
    await assert.rejects(readWebhooks(path), /it does not exist/)
    await writeFile(path, JSON.stringify({ webhooks: [good] }), { mode: 0o600 })
    assert.equal((await readWebhooks(path)).length, 1)
    await chmod(path, 0o666)
    await assert.rejects(readWebhooks(path), /others than its owner may write it/)
    await chmod(path, 0o600)
    await writeFile(path, ' '.repeat(webhooksFileBytesMax + 1))
    await assert.rejects(readWebhooks(path), /it is larger than/)
    await assert.rejects(readWebhooks('/dev/zero'), /it is no file/)
  })
})

describe('a secret', () => {
  it('is the file without one newline at its end, of 16 bytes at least', async (t) => {
    const path = join(await folder(t), 'secret')
    const read = async (text: string): Promise<string> => {
      await writeFile(path, text)
      return Buffer.from(await readSecret(path)).toString()
    }
    assert.equal(await read('0123456789abcdef'), '0123456789abcdef')
    assert.equal(await read('0123456789abcdef\n'), '0123456789abcdef')
    assert.equal(await read('0123456789abcdef\r\n'), '0123456789abcdef')
    assert.equal(await read('0123456789abcdef\n\n'), '0123456789abcdef\n')
    await assert.rejects(read('0123456789abcde\n'), /is shorter than 16 bytes/)
    await assert.rejects(read('x'.repeat(5_000)), /is larger than 4096 bytes/)
    await rm(path)
    await assert.rejects(readSecret(path), /does not exist/)
    await assert.rejects(readSecret('/dev/zero'), /is no file/)
  })

  it('is not waited for where its file system does not answer, and asked for once until it does', async () => {
    const reads: PromiseWithResolvers<Uint8Array>[] = []
    const read = (): Promise<Uint8Array> => {
      const reading = Promise.withResolvers<Uint8Array>()
      reads.push(reading)
      return reading.promise
    }
    const secrets = secretsOf({ secretFile: '/far/away', nextSecretFile: null }, read, 20)
    const late = { name: 'SecretUnusable', message: 'the secret file /far/away cannot be read within 20 ms' }
    await assert.rejects(secrets(), late)
    await assert.rejects(secrets(), late)
    assert.equal(reads.length, 1)
    const secret = Buffer.from('0123456789abcdef')
    reads[0]?.resolve(secret)
    assert.deepEqual(await secrets(), [secret])
  })
})
