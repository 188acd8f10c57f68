import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, afterEach, before, describe, it } from 'node:test'
import { smallFileBytesMax } from '../../src/kernel/limits/downloads.ts'
import { MiB } from '../../src/kernel/units.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { digestOf } from '../harness/inspection.ts'
import { createOwner, createPerson, grant, type Person } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { type SlowClient, startSlowly } from '../harness/slow-client.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

const raw = '/api/v1/repositories/releases/raw'
/** More than the kernel takes for a connection on one machine. */
const big = randomBytes(24 * MiB)
const small = randomBytes(64 * 1024)
const idOf = (name: string): string => name.padEnd(16, '-')

forEachEngine((engine) => {
  describe('downloads that want more than there are slots', () => {
    let service: TestService
    let owner: Person
    let other: Person
    let slow: SlowClient[] = []

    before(async () => {
      service = await startService(engine, { settings: { SVC_DOWNLOAD_SLOTS: '1' } })
      owner = await createOwner(service)
      other = await createPerson(service, 'other')
      await grant(service, other, 'releases', 'read')
      await put(service, 'big', big)
      await put(service, 'small', small)
    })
    after(() => service.stop())

    const put = async (on: TestService, path: string, body: Buffer): Promise<void> => {
      const told = await on.ask({ method: 'PUT', path: `${raw}/${path}`, credential: owner.token, body })
      assert.ok(told.status < 300, told.text)
    }

    const download = (path: string, headers: Record<string, string> = {}, who = owner, on = service): Promise<Told> =>
      on.ask({ path: `${raw}/${path}`, credential: who.token, headers })

    const begin = async (
      headers: Record<string, string> = {},
      who = owner,
      on = service,
      path = `${raw}/big`,
    ): Promise<SlowClient> => {
      const client = await startSlowly(on.url, { path, credential: who.token, headers })
      slow.push(client)
      return client
    }

    const transfers = async (on = service) =>
      (await on.ask({ path: '/health/ready', credential: on.healthKey })).json.transfers.downloads

    const untilAdmission = (expected: object, on = service): Promise<unknown> =>
      until(`the queue is ${JSON.stringify(expected)}`, async () => {
        const { admission } = await transfers(on)
        return Object.entries(expected).every(([name, value]) => admission[name] === value)
      })

    /** Everyone goes away, and no slot stays taken. */
    afterEach(() => calm())
    const calm = async (on = service): Promise<void> => {
      for (const client of slow) client.vanish()
      slow = []
      await untilAdmission({ held: 0, waiting: 0 }, on)
    }

    it('are held without an id until it is their turn', async () => {
      const first = await begin()
      const second = download('big', {}, other)
      await untilAdmission({ held: 1, waiting: 1, slots: 1 })
      assert.ok((await first.finish()).equals(big))
      const told = await second
      assert.equal(told.status, 200)
      assert.ok(told.bytes.equals(big))
    })

    it('are told at once with an id to wait, and for how long, with a ticket and the class', async () => {
      const first = await begin()
      const id = { 'svc-download-id': idOf('patient') }
      const queued = await download('big', id, other)
      assert.deepEqual([queued.status, queued.json.code], [503, 'download_queued'])
      assert.equal(queued.headers['retry-after'], String(queued.json.retryAfterSeconds))
      assert.equal(queued.headers['svc-download-class'], 'interactive')
      const ticket = String(queued.headers['svc-queue-ticket'])
      assert.match(ticket, /^[A-Za-z0-9_-]{1,80}$/)
      await first.finish()
      const told = await until('it is its turn', async () => {
        const again = await download('big', { ...id, 'svc-queue-ticket': ticket }, other)
        return again.status === 503 ? null : again
      })
      assert.equal(told.status, 200)
      assert.ok(told.bytes.equals(big))
    })

    it('with wrong, foreign or expired tickets are served as without', async () => {
      for (const ticket of ['x', 'A'.repeat(39), 'x'.repeat(80)]) {
        const headers = { 'svc-download-id': idOf('ticketed'), 'svc-queue-ticket': ticket, range: 'bytes=0-99999' }
        assert.equal((await download('big', headers)).status, 206)
      }
      const long = await download('big', { 'svc-queue-ticket': 'x'.repeat(81) })
      assert.deepEqual([long.status, long.json.details[0].pointer], [400, '/headers/svc-queue-ticket'])
    })

    it('of twenty parallel ranges of one file take one slot', async () => {
      const id = { 'svc-download-id': idOf('parallel') }
      const clients = await Promise.all(
        Array.from({ length: 20 }, (_, start) => begin({ ...id, range: `bytes=${start}-` })),
      )
      for (const { head } of clients) assert.match(head, /^HTTP\/1\.1 206 /)
      const { admission, sessions } = await transfers()
      assert.deepEqual([admission.active, admission.held, sessions.open], [20, 1, 1])
      assert.equal((await download('big', { 'svc-download-id': idOf('another') })).status, 503)
      for (const client of clients) client.vanish()
      const step = Math.ceil(big.byteLength / 20)
      const whole = await Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          const range = `bytes=${index * step}-${(index + 1) * step - 1}`
          // The other one may be next.
          const told = await until('a range is sent', async () => {
            const answer = await download('big', { ...id, range })
            return answer.status === 206 && answer
          })
          return told.bytes
        }),
      )
      assert.ok(Buffer.concat(whole).equals(big))
    })

    it('of twenty parallel ranges of one layer take one slot, though clients for images have no ids', async () => {
      const digest = `sha256:${digestOf(big)}`
      const blobs = '/v2/releases/app/blobs'
      const push = { method: 'POST', path: `${blobs}/uploads/?digest=${digest}`, credential: owner.token, body: big }
      assert.equal((await service.ask(push)).status, 201)
      const layer = `${blobs}/${digest}`
      const pull = (headers: Record<string, string>) => service.ask({ path: layer, credential: owner.token, headers })
      const first = await begin({}, other)
      const half = Math.ceil(big.byteLength / 2)
      const halves = [`bytes=0-${half - 1}`, `bytes=${half}-`].map((range) => pull({ range }))
      await untilAdmission({ held: 1, waiting: 1 })
      first.vanish()
      assert.ok(Buffer.concat((await Promise.all(halves)).map(({ bytes }) => bytes)).equals(big))
      const clients = await Promise.all(
        Array.from({ length: 20 }, (_, start) => begin({ range: `bytes=${start}-` }, owner, service, layer)),
      )
      for (const { head } of clients) assert.match(head, /^HTTP\/1\.1 206 /)
      const { admission } = await transfers()
      assert.deepEqual([admission.active, admission.held], [20, 1])
      const whole = pull({})
      await untilAdmission({ held: 1, waiting: 1 })
      for (const client of clients) client.vanish()
      assert.ok((await whole).bytes.equals(big))
    })

    it('are not begun when it is their turn for whoever may not have them any more', async () => {
      const leaving = await createPerson(service, 'leaving')
      const group = await grant(service, leaving, 'releases', 'read')
      const locked = await createPerson(service, 'locked')
      await grant(service, locked, 'releases', 'read')
      const first = await begin()
      const told = [download('big', {}, leaving), download('big', {}, locked), download('big', {}, other)]
      await untilAdmission({ waiting: 3 })
      const credential = service.recoveryKey
      const grants = `/api/v1/access-groups/${group}/grants/releases`
      assert.equal((await service.ask({ method: 'DELETE', path: grants, credential })).status, 204)
      const account = { method: 'PATCH', path: `/api/v1/users/${locked.id}`, credential, json: { enabled: false } }
      assert.equal((await service.ask(account)).status, 200)
      await first.finish()
      const statuses = (await Promise.all(told)).map(({ status }) => status)
      assert.deepEqual(statuses, [404, 401, 200])
    })

    it('free their slot when the client vanishes', async () => {
      const first = await begin()
      const second = download('big', {}, other)
      await untilAdmission({ waiting: 1 })
      first.vanish()
      assert.equal((await second).status, 200)
    })

    it('leave the queue when the client vanishes while it waits', async () => {
      await begin()
      const waiting = new AbortController()
      const given = fetch(`${service.url}${raw}/big`, {
        headers: { authorization: `Bearer ${other.token}` },
        signal: waiting.signal,
      }).catch((error: unknown) => error)
      await untilAdmission({ waiting: 1 })
      waiting.abort()
      await given
      await untilAdmission({ waiting: 0, held: 1 })
    })

    it('never wait for what is small, has no body or is refused', async () => {
      await begin()
      assert.equal((await download('small')).status, 200)
      assert.equal((await download('big', { range: 'bytes=5-9' })).status, 206)
      const etag = `"sha256:${createHash('sha256').update(big).digest('hex')}"`
      assert.equal((await download('big', { 'if-none-match': etag })).status, 304)
      assert.equal((await download('big', { range: `bytes=${big.byteLength}-` })).status, 416)
      const head = await service.ask({ method: 'HEAD', path: `${raw}/big`, credential: owner.token })
      assert.equal(head.status, 200)
    })

    it('of a small file, whole or a range of it, are the same the first time and again, and for nobody who may not', async () => {
      const body = randomBytes(smallFileBytesMax)
      await put(service, 'hot', body)
      const stranger = await createPerson(service, 'stranger')
      for (let again = 0; again < 3; again++) {
        const part = await download('hot', { range: 'bytes=100-199' })
        assert.deepEqual([part.status, digestOf(part.bytes)], [206, digestOf(body.subarray(100, 200))])
        const whole = await download('hot')
        assert.deepEqual([whole.status, digestOf(whole.bytes)], [200, digestOf(body)])
        assert.equal((await download('hot', {}, stranger)).status, 404)
      }
      const replaced = randomBytes(10)
      await put(service, 'hot', replaced)
      assert.equal(digestOf((await download('hot')).bytes), digestOf(replaced))
    })

    it('are told to come back when nothing becomes free in time', async () => {
      const impatient = await startService(engine, {
        on: service,
        roles: { gateway: 'reader', worker: false },
        settings: { SVC_DOWNLOAD_SLOTS: '1', SVC_DOWNLOAD_WAIT_SECONDS: '0' },
      })
      await begin({}, owner, impatient)
      const told = await download('big', {}, other, impatient)
      assert.deepEqual([told.status, told.json.code], [503, 'busy'])
      assert.ok(Number(told.headers['retry-after']) >= 1)
      await calm(impatient)
      await impatient.stop()
    })

    it('that wait are sent away when the service stops, and keep their place in the next one by their ticket', async () => {
      const stopping = await startService(engine, { on: service, settings: { SVC_DOWNLOAD_SLOTS: '1' } })
      await begin({}, owner, stopping)
      const id = { 'svc-download-id': idOf('keeper') }
      const ticket = String((await download('big', id, other, stopping)).headers['svc-queue-ticket'])
      const held = download('big', {}, other, stopping)
      await untilAdmission({ waiting: 2 }, stopping)
      const restarted = stopping.restart()
      const told = await held
      assert.deepEqual([told.status, told.json.code], [503, 'draining'])
      for (const client of slow) client.vanish()
      slow = []
      await restarted
      // One more is there first. The one with the ticket has waited longer than who comes now.
      const first = await begin({}, owner, stopping)
      const newcomer = { 'svc-download-id': idOf('newcomer') }
      assert.equal((await download('big', newcomer, other, stopping)).status, 503)
      assert.equal((await download('big', { ...id, 'svc-queue-ticket': ticket }, other, stopping)).status, 503)
      first.vanish()
      slow = []
      await until('the one with the ticket is served first', async () => {
        const [late, early] = [
          await download('big', newcomer, other, stopping),
          await download('big', { ...id, 'svc-queue-ticket': ticket }, other, stopping),
        ]
        assert.equal(late.status, 503, 'the newcomer overtook who waited')
        return early.status === 200
      })
      await stopping.stop()
    })

    it('share their slots between gateways where the operator says so', async () => {
      const settings = { SVC_SHARED_DOWNLOAD_SLOTS: '3' }
      const [one, two] = [
        await startService(engine, { on: service, settings }),
        await startService(engine, { on: service, settings }),
      ]
      const facts = async (gateway: TestService) =>
        (await gateway.ask({ path: '/health/ready', credential: gateway.healthKey })).json.sharedDownloads
      assert.equal(
        (await service.ask({ path: '/health/ready', credential: service.healthKey })).json.sharedDownloads,
        null,
      )
      // One of the three is the other one's: what is idle is divided.
      await begin({}, owner, one)
      await begin({}, other, one)
      await until('the second gateway sees what the first one sends', async () => (await facts(two)).active === 2)
      const seen = await facts(two)
      assert.deepEqual([seen.slots, seen.slot + (await facts(one)).slot <= 3, seen.leaseSeconds > 0], [3, true, true])
      await begin({}, owner, two)
      const refused = await download('big', { 'svc-download-id': idOf('fourth') }, other, two)
      assert.equal(refused.json.code, 'download_queued')
      await calm(one)
      await calm(two)
      await one.stop()
      await two.stop()
    })

    it('are counted in the metrics', async () => {
      const { text } = await service.ask({ path: '/health/metrics', credential: service.healthKey })
      const value = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
      assert.equal(value('svc_download_slots'), 1)
      assert.equal(value('svc_download_slots_held'), 0)
      assert.ok(value('svc_downloads_admitted_total') > 5)
      assert.ok(value('svc_downloads_queued_total') > 0)
      assert.ok(value('svc_download_bytes_interactive_total') > big.byteLength)
      assert.equal(value('svc_download_bytes_background_total'), 0)
      assert.ok(value('svc_download_wait_seconds_count') > 5)
    })
  })
})
