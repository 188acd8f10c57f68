import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { onSqlite } from '../harness/engines.ts'
import { createOwner, password } from '../harness/people.ts'
import {
  type Environment,
  endProgramsAfterTests,
  ownService,
  runSvc,
  startProgram,
  svcFile,
} from '../harness/processes.ts'
import { startService, type TestService } from '../harness/service.ts'

endProgramsAfterTests()
after(closeConnections)

/** Commands beside a port of this machine that belongs to somebody else. */
onSqlite((engine) => {
  let service: TestService
  let stranger: Server
  let strange: string
  let home: string
  let own: Environment
  let elsewhere: Environment
  /** What the stranger was shown. */
  let shown: (string | undefined)[]
  /** What it answers to whoever signs in. */
  let session: unknown
  const account = { id: '0198c5a0-0000-7000-8000-000000000000', name: 'ann', administrator: false, enabled: true }
  const good = { token: 'of-the-stranger', expiresAt: '2100-01-01T00:00:00.000Z', account, more: 'of a newer service' }

  before(async () => {
    service = await startService(engine)
    await createOwner(service)
    stranger = createServer(({ url, headers }, response) => {
      shown.push(headers.authorization)
      response.end(JSON.stringify(url?.endsWith('/login') === true ? session : { items: [], next: null }))
    }).listen(0, '127.0.0.1')
    await once(stranger, 'listening')
    strange = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`
    home = mkdtempSync(join(tmpdir(), 'svc-home-'))
    own = { ...ownService(service.url), SVC_TOKEN: '', SVC_DATA_DIR: service.dataDir, XDG_CONFIG_HOME: home }
    elsewhere = { XDG_CONFIG_HOME: home, SVC_DATA_DIR: join(home, 'no-data'), SVC_LISTEN: new URL(strange).host }
  })
  beforeEach(() => {
    shown = []
    session = good
  })
  after(async () => {
    stranger.close()
    stranger.closeAllConnections()
    await service.stop()
    rmSync(home, { recursive: true })
  })

  const login = async (address: string, name: string): Promise<{ code: number | null; stderr: string }> => {
    const script = 'printf "%s\\n" "$PASSWORD" | "$0" "$1" login "$2" --user "$3"'
    const args = ['-c', script, process.execPath, svcFile, address, name]
    const program = startProgram('sh', args, { ...elsewhere, PASSWORD: password })
    const { code } = await program.ended
    return { code, stderr: program.stderr() }
  }
  const signIns = (): { address: string; token: string }[] =>
    JSON.parse(readFileSync(join(home, 'svc', 'sign-ins.json'), 'utf8')).signIns

  describe('the recovery key', () => {
    it('goes where the settings let the service listen', async () => {
      const { code, stdout, stderr } = await runSvc(['user', 'list'], own)
      assert.deepEqual([code, stderr], [0, ''])
      assert.match(stdout, /^owner/m)
    })

    it('goes to no other port or name of this machine, and a session goes there in its place', async () => {
      const { port } = new URL(service.url)
      for (const SVC_URL of [
        strange,
        `http://localhost:${port}`,
        `http://[::1]:${port}`,
        `https://127.0.0.1:${port}`,
      ]) {
        const { code, stdout, stderr } = await runSvc(['user', 'list'], { ...own, SVC_URL })
        assert.deepEqual([code, stdout], [4, ''], stderr)
        assert.match(stderr, /^svc: No credential for \S+, and the recovery key goes nowhere but where SVC_LISTEN says/)
      }
      assert.deepEqual(shown, [])
      assert.equal((await login(strange, 'ann')).code, 0)
      assert.equal((await runSvc(['user', 'list'], { ...own, SVC_URL: strange })).code, 0)
      assert.deepEqual(shown, [undefined, 'Bearer of-the-stranger'])
    })
  })

  describe('a session', () => {
    it('that is SVC_TOKEN goes where it began, whatever listens where SVC_LISTEN says', async () => {
      assert.equal((await login(service.url, 'owner')).code, 0)
      const SVC_TOKEN = signIns().find(({ address }) => address === service.url)?.token ?? ''
      const { code, stdout, stderr } = await runSvc(['user', 'list'], { ...elsewhere, SVC_TOKEN })
      assert.deepEqual([code, stderr], [0, ''])
      assert.match(stdout, /^owner/m)
      // Signed in once more, it is not known any longer whose it is.
      assert.equal((await login(service.url, 'owner')).code, 0)
      const unknown = await runSvc(['user', 'list'], { ...elsewhere, SVC_TOKEN })
      assert.deepEqual([unknown.code, unknown.stdout], [5, ''])
      assert.match(unknown.stderr, /^svc: SVC_TOKEN is no session that is kept here: set SVC_URL/)
      assert.deepEqual(shown, [])
    })

    it('that is none is not kept, and what was kept stays readable', async () => {
      const kept = signIns()
      const { expiresAt, token } = good
      for (const wrong of [
        { token: 't', expiresAt: 'x', account: {} },
        { token, expiresAt: 'x', account },
        { token, expiresAt, account: {} },
        { token: 5, expiresAt, account },
        {},
        [],
        null,
        'ok',
      ]) {
        session = wrong
        const { code, stderr } = await login(strange, 'ann')
        assert.equal(code, 5, JSON.stringify(wrong))
        assert.match(stderr, /^svc: Something answers at \S+, but it is not svc\.[^\n]+\n$/)
      }
      assert.deepEqual(signIns(), kept)
    })
  })
})
