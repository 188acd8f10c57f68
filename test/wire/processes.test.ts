import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Ask, ask, closeConnections, type Told } from '../harness/client.ts'
import { endProgramsAfterTests, keyIn, listening, type Program, settingsFor, startSvc } from '../harness/processes.ts'
import { until } from '../harness/until.ts'

endProgramsAfterTests()
after(closeConnections)

const raw = '/api/v1/repositories/releases/raw'

describe('several gateway processes on one port', { timeout: 120_000 }, () => {
  let dataDir: string
  let program: Program
  let url: string
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'svc-processes-'))
    program = startSvc(['up'], settingsFor({ dataDir }, { SVC_PROCESSES: '3', SVC_DOWNLOAD_SLOTS: '6' }))
    url = await listening(program)
  })
  after(() => rm(dataDir, { recursive: true, force: true }))

  /** Over a connection of its own, so that any of them may answer. */
  const anyone = async (asked: Ask): Promise<Told> => {
    const agent = new Agent()
    try {
      return await ask(url, { credential: keyIn(dataDir, 'bootstrap-token.txt'), ...asked }, agent)
    } finally {
      agent.destroy()
    }
  }
  const children = (): number[] =>
    readFileSync(`/proc/${program.pid}/task/${program.pid}/children`, 'utf8')
      .trim()
      .split(/\s+/)
      .filter(Boolean)
      .map(Number)
  const metric = async (name: string): Promise<number> => {
    const { text } = await anyone({ path: '/health/metrics' })
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  }

  test('answer as one: what one stored all show, and metrics add up whoever is asked', async () => {
    assert.equal(children().length, 3)
    const put = await anyone({ method: 'PUT', path: `${raw}/file`, body: Buffer.alloc(1000, 'a') })
    assert.equal(put.status, 201)
    const told = await Promise.all(Array.from({ length: 60 }, () => anyone({ path: `${raw}/file` })))
    assert.deepEqual(new Set(told.map(({ status }) => status)), new Set([200]))
    const requests =
      'svc_http_requests_total{route="/api/v1/repositories/{repository}/raw/{assetPath}",method="GET",status_class="2xx"}'
    assert.equal(await metric(requests), 60)
    assert.equal(await metric(requests), 60)
    assert.equal(await metric('svc_download_slots'), 6)
    assert.ok((await metric('svc_process_start_time_seconds')) * 1000 < Date.now() + 1000)
  })

  test('tell of all that is stored only to who may know that', async () => {
    assert.equal(await metric('svc_published_bytes'), 1000)
    const bob = { name: 'bob', password: 'correct horse battery staple' }
    for (const account of [
      { ...bob, name: 'owner', administrator: true },
      { ...bob, administrator: false },
    ]) {
      const made = await anyone({ method: 'POST', path: '/api/v1/users', json: account })
      assert.equal(made.status, 201, made.text)
    }
    const { token } = (await ask(url, { method: 'POST', path: '/api/v1/auth/login', json: bob })).json
    const { text } = await anyone({ path: '/health/metrics', credential: token })
    assert.match(text, /^svc_download_slots 6$/m)
    assert.doesNotMatch(text, /svc_published_bytes/)
  })

  test('go on when one of them dies, and another takes its place', async () => {
    const [first = 0] = children()
    process.kill(first, 'SIGKILL')
    await until('there are three again', () => children().length === 3 && !children().includes(first))
    await until('all of them answer', async () => {
      const told = await Promise.all(
        Array.from({ length: 20 }, () => anyone({ path: `${raw}/file` }).catch(() => null)),
      )
      return told.every((each) => each?.status === 200)
    })
  })

  test('stop together', async () => {
    const pids = children()
    program.child.kill('SIGTERM')
    assert.deepEqual(await program.ended, { code: 0, signal: null })
    for (const pid of pids) assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
    assert.doesNotMatch(program.stderr(), /"level":"error".*"level":"error"/s)
  })

  test('do not start when the port is taken, and say so', async () => {
    const one = startSvc(['up'], settingsFor({ dataDir }))
    const taken = new URL(await listening(one)).host
    const other = await mkdtemp(join(tmpdir(), 'svc-processes-'))
    const second = startSvc(['up'], settingsFor({ dataDir: other }, { SVC_PROCESSES: '2', SVC_LISTEN: taken }))
    assert.equal((await second.ended).code, 1)
    assert.match(second.stderr(), new RegExp(taken.replaceAll('.', '\\.')))
    one.child.kill('SIGTERM')
    await one.ended
    await rm(other, { recursive: true })
  })
})
