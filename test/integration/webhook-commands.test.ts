import assert from 'node:assert/strict'
import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { ask, closeConnections } from '../harness/client.ts'
import { startLoneService } from '../harness/lone-service.ts'
import { endProgramsAfterTests, runSvc } from '../harness/processes.ts'
import { until } from '../harness/until.ts'
import { startReceiver } from '../harness/webhook-receiver.ts'

endProgramsAfterTests()
after(closeConnections)

it('commands add, list, test, rotate, redeliver and remove webhooks beside a running service', async (t) => {
  const receiver = await startReceiver('not known yet')
  t.after(() => receiver[Symbol.asyncDispose]())
  const first = await startLoneService('hooks')
  t.after(() => first[Symbol.asyncDispose]())
  const file = join(first.folder, 'webhooks.json')
  const settings = { ...first.settings, SVC_WEBHOOKS_FILE: file, SVC_WEBHOOKS_ALLOW_PRIVATE: '127.0.0.0/8' }
  const svc = async (line: string, code = 0): Promise<string> => {
    const ran = await runSvc(['webhook', ...line.split(' ')], settings)
    assert.equal(ran.code, code, `${line}\n${ran.stdout}${ran.stderr}`)
    return ran.stdout + ran.stderr
  }
  const secretOf = async (path: string): Promise<string> => (await readFile(path, 'utf8')).trim()
  const inFile = async () => JSON.parse(await readFile(file, 'utf8')).webhooks

  assert.match(await svc(`add builds releases ${receiver.url}`), /^Added builds\. A secret was made in /)
  assert.match(await svc(`add builds releases ${receiver.url}`, 1), /has a webhook builds already/)
  assert.match(await svc('add other releases http://example.org', 1), /item 2 \(other\), field url: plain HTTP/)
  assert.match(await svc('add other releases https://example.org --actions a.b', 1), /there is no action a\.b/)
  await writeFile(join(first.folder, 'short'), 'short')
  const short = `--secret-file ${join(first.folder, 'short')}`
  assert.match(await svc(`add other releases https://example.org ${short}`, 1), /is shorter than 16 bytes/)
  await assert.rejects(stat(`${file}.other.secret`), 'no secret of one that was refused is made')
  const [{ secretFile }] = await inFile()
  assert.deepEqual(await inFile(), [{ id: 'builds', repository: 'releases', url: receiver.url, secretFile }])
  for (const path of [file, secretFile]) assert.equal((await stat(path)).mode & 0o077, 0)
  assert.match(await svc('list'), /builds +releases +127\.0\.0\.1:\d+ +no worker has taken it yet/)
  const { host } = new URL(receiver.url)
  const untaken = [{ id: 'builds', repository: 'releases', host, actions: null }]
  assert.deepEqual(JSON.parse(await svc('list --json')), { items: [], untaken })

  receiver.secret = await secretOf(secretFile)
  assert.match(await svc('test builds'), /took webhook\.test/)
  assert.equal(receiver.taken.at(-1)?.sequence, '0')
  await svc('test nobody', 3)
  receiver.answer = (response) => void response.writeHead(500).end()
  assert.match(await svc('test builds', 1), /http_5xx: the receiver answers 500/)
  receiver.answer = null

  const credential = first.credential()
  const put = await ask(first.address, {
    method: 'PUT',
    path: '/api/v1/repositories/releases/raw/a',
    credential,
    body: 'a',
  })
  assert.equal(put.status, 201)
  assert.match(await svc('redeliver builds 1'), /took artifact\.publish/)
  assert.equal(receiver.taken.at(-1)?.id, 'releases:1')
  assert.match(await svc('redeliver builds 999', 1), /has no event 999/)
  assert.match(await svc('redeliver builds', 1), /no worker has taken builds yet/)

  assert.match(await svc(`rotate builds --next ${secretFile}`, 1), /is signed with .* already/)
  assert.match(await svc('rotate builds'), /signed with both secrets/)
  const [{ nextSecretFile }] = await inFile()
  assert.match(await svc('rotate builds', 1), /has a next secret already/)
  await svc('test builds')
  receiver.secret = await secretOf(nextSecretFile)
  await svc('test builds')
  assert.match(await svc('rotate builds --finish --next /other', 1), /say one of them/)
  await svc('rotate builds --finish')
  await svc('test builds')
  assert.deepEqual(await inFile(), [
    { id: 'builds', repository: 'releases', url: receiver.url, secretFile: nextSecretFile },
  ])
  assert.match(await svc('rotate builds --finish', 1), /has no next secret/)
  assert.deepEqual(receiver.faults, [])

  await svc('remove builds')
  assert.deepEqual(await inFile(), [])
  await svc('remove builds', 3)
  assert.match(await svc('list'), /has no webhooks/)
  await rename(file, `${file}.away`)
  assert.match(await svc('remove builds', 1), /it does not exist/)
  await assert.rejects(stat(file), 'only who adds one begins a file')
  await until('nothing is left of it', async () => {
    const told = await ask(first.address, { path: '/api/v1/webhooks', credential })
    return told.status === 200 && told.json.items.length === 0
  })
})

it('one that a worker delivers is let go of and gone when it is removed; what it waits for is listed', async (t) => {
  const receiver = await startReceiver('not known yet')
  t.after(() => receiver[Symbol.asyncDispose]())
  const folder = await mkdtemp(join(tmpdir(), 'svc-hooks-commands-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'webhooks.json')
  await writeFile(file, '{"webhooks": []}', { mode: 0o600 })
  const more = { SVC_WEBHOOKS_FILE: file, SVC_WEBHOOKS_ALLOW_PRIVATE: '127.0.0.0/8' }
  const service = await startLoneService('hooks', more)
  t.after(() => service[Symbol.asyncDispose]())
  const svc = async (line: string): Promise<string> => {
    const ran = await runSvc(['webhook', ...line.split(' ')], service.settings)
    assert.equal(ran.code, 0, `${line}\n${ran.stdout}${ran.stderr}`)
    return ran.stdout
  }
  const standing = async () =>
    (await ask(service.address, { path: '/api/v1/webhooks', credential: service.credential() })).json.items
  await svc(`add builds releases ${receiver.url}`)
  await svc(`add early later ${receiver.url}`)
  await until('a worker has taken both', async () => (await standing()).length === 2)
  await until('one is delivered', async () => (await standing())[0].state === 'delivering')
  const listed = await svc('list')
  assert.match(listed, /builds +releases +127\.0\.0\.1:\d+ +0 of 0 +delivered/)
  assert.match(listed, /early +later +127\.0\.0\.1:\d+ +0 of 0 +there is no repository later/)
  await svc('remove builds')
  assert.deepEqual(
    (await standing()).map(({ id }: { id: string }) => id),
    ['early'],
  )
})
