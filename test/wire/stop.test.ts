import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import { ask, closeConnections, type Told } from '../harness/client.ts'
import {
  askDoctor,
  type Environment,
  endProgramsAfterTests,
  keyIn,
  listening,
  type Program,
  settingsFor,
  stagedIn,
  startProgram,
  startSvc,
} from '../harness/processes.ts'
import { until } from '../harness/until.ts'

endProgramsAfterTests()
after(closeConnections)

const raw = '/api/v1/repositories/releases/raw'
const mebibyte = 1024 * 1024
/** More than the sockets of both ends hold, so that a reader who does not read holds up the answer. */
const bytes = Buffer.alloc(32 * mebibyte)
for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32LE(Math.imul(at + 1, 2_654_435_761) >>> 0, at)
const other = Buffer.from(bytes).reverse()
const digest = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex')

describe('a stop', { timeout: 120_000 }, () => {
  let folder: string
  let settings: Environment
  let program: Program
  let address: string
  let credential: string

  const authorization = (): { authorization: string } => ({ authorization: `Bearer ${credential}` })

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-stop-'))
    settings = settingsFor({ dataDir: folder })
    program = startSvc(['up'], settings)
    address = await listening(program)
    credential = keyIn(folder, 'bootstrap-token.txt')
    const told = await ask(address, { method: 'PUT', path: `${raw}/stored`, credential, body: bytes })
    assert.equal(told.status, 201, told.text)
  })
  afterEach(async () => {
    program.child.kill('SIGKILL')
    await program.ended
    await rm(folder, { recursive: true, force: true })
  })

  /** A download whose reader takes a piece and then waits to be told to go on. */
  const beginDownload = async (): Promise<{ finish(): Promise<Buffer> }> => {
    const asked = httpRequest(new URL(`${raw}/stored`, address), { headers: authorization(), agent: false }).end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    assert.equal(answer.statusCode, 200)
    answer.on('error', () => {})
    return {
      finish: async () => {
        const pieces: Buffer[] = []
        for await (const piece of answer) pieces.push(piece as Buffer)
        return Buffer.concat(pieces)
      },
    }
  }

  /** An upload whose sender sends half and then waits to be told to go on. */
  const beginUpload = async (): Promise<{ finish(): Promise<number> }> => {
    const before = stagedIn(folder).length
    const headers = { ...authorization(), 'content-length': String(other.length) }
    const asked = httpRequest(new URL(`${raw}/sent`, address), { method: 'PUT', headers, agent: false })
    const answered = once(asked, 'response') as Promise<[IncomingMessage]>
    answered.catch(() => {})
    asked.write(other.subarray(0, other.length / 2))
    await until('its bytes are being staged', () => stagedIn(folder).length > before)
    return {
      finish: async () => {
        asked.end(other.subarray(other.length / 2))
        const [answer] = await answered
        answer.resume()
        return answer.statusCode ?? 0
      },
    }
  }

  /** A request over a connection of its own; null where the service takes none any more. */
  const askAnew = async (path: string, method = 'GET'): Promise<Told | null> => {
    try {
      return await ask(address, { method, path, credential, headers: { connection: 'close' } })
    } catch (error) {
      assert.ok(
        error instanceof Error && 'code' in error && ['ECONNREFUSED', 'ECONNRESET'].includes(String(error.code)),
      )
      return null
    }
  }

  const untilDraining = (): Promise<unknown> =>
    until('it drains', async () => (await askAnew('/health/status'))?.status === 503)

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`by ${signal} lets transfers finish bit by bit as sent, and takes nothing new`, async () => {
      const download = await beginDownload()
      const upload = await beginUpload()
      assert.equal((await askAnew('/health/status'))?.json.status, 'ready')

      program.child.kill(signal)
      await untilDraining()
      const status = await askAnew('/health/status')
      assert.equal(status?.json.status, 'draining')
      const readiness = await askAnew('/health/ready')
      assert.deepEqual([readiness?.status, readiness?.json.code], [503, 'draining'])
      assert.equal((await askAnew('/health/live'))?.status, 200)
      for (const [method, path] of [
        ['GET', `${raw}/stored`],
        ['PUT', `${raw}/too/late`],
        ['GET', '/api/v1/repositories'],
      ] as const) {
        const told = await askAnew(path, method)
        assert.deepEqual([told?.status, told?.json.code], [503, 'draining'], path)
        assert.ok(Number(told?.headers['retry-after']) >= 1)
      }
      assert.equal(program.child.exitCode, null, 'it did not wait for the transfers')

      assert.equal(await upload.finish(), 201)
      assert.equal(digest(await download.finish()), digest(bytes))
      assert.deepEqual(await program.ended, { code: 0, signal: null }, program.stderr())
      assert.equal(await askAnew('/health/live'), null)

      // What was acknowledged while it stopped is there after it.
      assert.deepEqual(await askDoctor(settings), { damage: [], waiting: [] })
      program = startSvc(['up'], settings)
      address = await listening(program)
      const sent = await ask(address, { path: `${raw}/sent`, credential })
      assert.equal(digest(sent.bytes), digest(other))
      assert.equal((await ask(address, { path: `${raw}/too/late`, credential })).status, 404)
    })

    test(`by ${signal} to the whole group of npm start, which comes to the service twice, drains as well`, async () => {
      program.child.kill('SIGTERM')
      await program.ended
      program = startProgram('npm', ['start', '--silent'], settings, { group: true })
      address = await listening(program)
      const upload = await beginUpload()
      process.kill(-program.pid, signal)
      await untilDraining()
      assert.equal(await upload.finish(), 201)
      await program.ended
      assert.equal(await askAnew('/health/live'), null)
      assert.equal(program.stderr(), '')
    })

    test(`by a second ${signal} seconds later ends at once, and damages nothing`, async () => {
      const download = await beginDownload()
      const upload = await beginUpload()
      program.child.kill(signal)
      await untilDraining()
      const { child } = program
      await until('a later one ends it', () => child.exitCode !== null || (child.kill(signal) && false))
      assert.deepEqual(await program.ended, { code: 1, signal: null }, program.stderr())
      await assert.rejects(upload.finish())
      await assert.rejects(download.finish())
      assert.deepEqual((await askDoctor(settings)).damage, [])
      program = startSvc(['up'], settings)
      address = await listening(program)
      assert.equal((await ask(address, { path: `${raw}/sent`, credential })).status, 404)
      assert.equal(digest((await ask(address, { path: `${raw}/stored`, credential })).bytes), digest(bytes))
    })
  }

  test('asked for while it starts is as orderly as any', async () => {
    const dataDir = join(folder, 'another')
    const starting = startSvc(['up'], settingsFor({ dataDir }))
    await until('it begins to start', () => existsSync(join(dataDir, 'config')))
    starting.child.kill('SIGTERM')
    assert.deepEqual(await starting.ended, { code: 0, signal: null }, starting.stderr())
  })

  test('with idle connections open and nothing under way is over at once, with code 0', async () => {
    const kept = await ask(address, { path: '/health/live' })
    assert.notEqual(kept.headers.connection, 'close')
    const begun = performance.now()
    program.child.kill('SIGTERM')
    assert.deepEqual(await program.ended, { code: 0, signal: null }, program.stderr())
    assert.ok(performance.now() - begun < 5000, 'it waited for an idle connection')
  })
})
