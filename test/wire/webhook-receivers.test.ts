import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ask, closeConnections } from '../harness/client.ts'
import { type LoneService, startLoneService } from '../harness/lone-service.ts'
import { endProgramsAfterTests, keyIn, type Program, root, runProgram, startProgram } from '../harness/processes.ts'
import { until } from '../harness/until.ts'

/** The receivers of the guide, as they stand on its page, in their own languages. */
endProgramsAfterTests()
after(closeConnections)

const page = readFileSync(join(root, 'docs/guide/webhooks.md'), 'utf8')
const codeIn = (form: string): string => new RegExp(`^\`\`\`${form}\\n(.*?)^\`\`\``, 'ms').exec(page)?.[1] ?? ''
const secret = 'a secret of sixteen bytes or more'

/** Where programs are found. */
const here = { PATH: process.env['PATH'] ?? '' }

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })

describe('the receivers of the guide', { timeout: 180_000 }, () => {
  let folder: string
  let service: LoneService
  const running = new Map<string, { readonly program: Program; readonly port: number }>()
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-receivers-'))
    const at = (name: string): string => join(folder, name)
    await writeFile(at('secret'), `${secret}\n`)
    for (const [name, form] of [
      ['receiver.ts', 'ts'],
      ['receiver.py', 'python'],
      ['receiver.go', 'go'],
    ] as const)
      await writeFile(at(name), codeIn(form))
    const go = { ...here, GOCACHE: at('cache'), GOPATH: at('go'), GO111MODULE: 'off', GOFLAGS: '' }
    const built = await runProgram('go', ['build', '-o', at('receiver'), at('receiver.go')], go)
    assert.equal(built.code, 0, built.stderr)
    const commands: Readonly<Record<string, readonly [string, ...string[]]>> = {
      TypeScript: [process.execPath, at('receiver.ts')],
      Python: ['python3', at('receiver.py')],
      Go: [at('receiver')],
    }
    for (const [language, [command, ...args]] of Object.entries(commands)) {
      const port = await freePort()
      running.set(language, {
        program: startProgram(command, [...args, String(port), at('secret')], here),
        port,
      })
    }
    const webhooks = [...running].map(([language, { port }]) => ({
      id: language.toLowerCase(),
      repository: 'releases',
      url: `http://127.0.0.1:${port}/`,
      secretFile: at('secret'),
    }))
    await writeFile(at('webhooks.json'), JSON.stringify({ webhooks }), { mode: 0o600 })
    service = await startLoneService('receivers', {
      SVC_WEBHOOKS_FILE: at('webhooks.json'),
      SVC_WEBHOOKS_ALLOW_PRIVATE: '127.0.0.0/8',
    })
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  const post = (port: number, body: string, timestamp: string, signature: string): Promise<number> =>
    ask(`http://127.0.0.1:${port}`, {
      method: 'POST',
      path: '/',
      body,
      headers: { 'x-svc-timestamp': timestamp, 'x-svc-signature': signature },
    }).then(({ status }) => status)
  const sign = (key: string, timestamp: string, body: string): string =>
    `sha256=${createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex')}`

  /** What a receiver answers to a body that is long and has no end; 0 where it hangs up. */
  const postTooMuch = (port: number): Promise<number> =>
    new Promise((resolve) => {
      const headers = { 'content-length': 2 ** 21 }
      const request = http.request({ host: '127.0.0.1', port, method: 'POST', headers }, ({ statusCode = 0 }) => {
        resolve(statusCode)
        request.destroy()
      })
      request.on('error', () => resolve(0))
      request.write(Buffer.alloc(2 ** 20 + 1))
    })

  for (const language of ['TypeScript', 'Python', 'Go'])
    test(`in ${language} take what the service sends, and refuse what it would not`, async () => {
      const { program, port } = running.get(language) ?? assert.fail(language)
      await until('it listens', () =>
        post(port, '{}', '0', '').then(
          () => true,
          () => false,
        ),
      )
      const credential = keyIn(service.dataDir, 'bootstrap-token.txt')
      const path = `/api/v1/repositories/releases/raw/${language}`
      assert.equal((await ask(service.address, { method: 'PUT', path, credential, body: 'x' })).status, 201)
      await until('it tells of events', async () => {
        const changes = await ask(service.address, { path: '/api/v1/repositories/releases/changes', credential })
        const ids: string[] = changes.json.items.map(({ id }: { id: string }) => id)
        const told = program.stdout().split('\n')
        return ids.every((id) => told.includes(id))
      })
      const now = String(Math.floor(Date.now() / 1000))
      const body = JSON.stringify({ id: 'releases:900', repository: 'releases' })
      const good = sign(secret, now, body)
      const other = sign('another secret of a good length', now, body)
      assert.equal(await post(port, body, now, good), 204)
      assert.equal(await post(port, body, now, `${other},${good}`), 204)
      assert.equal(await post(port, body, now, `${good},${other}`), 204)
      const old = String(Number(now) - 301)
      const late = String(Number(now) + 330)
      for (const [text, timestamp, signature] of [
        [body, now, other],
        [body, now, ''],
        [body, now, good.slice(0, -1)],
        [body, now, good.replace('sha256=', '')],
        [`${body} `, now, good],
        [body, String(Number(now) + 1), good],
        [body, old, sign(secret, old, body)],
        [body, late, sign(secret, late, body)],
        [body, '', sign(secret, '', body)],
      ] as const)
        assert.equal(await post(port, text, timestamp, signature), 401, `${timestamp} ${signature}`)
      assert.ok([0, 401, 413].includes(await postTooMuch(port)))
      assert.equal(await post(port, body, now, good), 204)
    })
})
