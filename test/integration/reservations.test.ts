import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import { timestamp } from '../../src/kernel/clock.ts'
import { newId } from '../../src/kernel/ids.ts'
import { cancelledUploadsPerCallerMax, openUploadsPerCallerMax } from '../../src/kernel/limits/transfers.ts'
import { GiB } from '../../src/kernel/units.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { digestOf, type Inspection, openInspection } from '../harness/inspection.ts'
import { sendPart } from '../harness/parts.ts'
import { createOwner, createPerson, grant, type Person } from '../harness/people.ts'
import { openUpload } from '../harness/publishing.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

/** What one caller's uploads may take of what all share. */
forEachEngine((engine) => {
  let service: TestService
  let inspection: Inspection
  let owner: Person
  let writer: Person
  let other: Person
  before(async () => {
    const settings = { SVC_CAPACITY_BYTES: String(16 * GiB) }
    service = await startService(engine, { settings, roles: { gateway: 'api', worker: false } })
    inspection = await openInspection(service)
    owner = await createOwner(service)
    writer = await createPerson(service, 'writer')
    other = await createPerson(service, 'other')
    for (const person of [writer, other]) await grant(service, person, 'releases', 'write')
  })
  after(async () => {
    await inspection.close()
    await service.stop()
  })

  const open = ({ token }: { token: string }, size: number): Promise<Told> =>
    openUpload(service, token, 'releases', { name: 'file', size: String(size), sha256: digestOf(randomUUID()) })
  const opened = async (by: { token: string }, size: number): Promise<string> => {
    const told = await open(by, size)
    assert.equal(told.status, 201, told.text)
    return told.json.id
  }
  const refused = (told: Told, status: number, code: string): void => {
    assert.equal(told.status, status, told.text)
    assert.equal(told.json.code, code, told.text)
  }
  const pathOf = (id: string): string => `/api/v1/repositories/releases/uploads/${id}`
  const statusOf = async ({ token }: { token: string }, id: string): Promise<string> =>
    (await expectAnswer(service, { path: pathOf(id), credential: token }, 200)).json.status
  const listed = async (credential = owner.token): Promise<{ id: string; [field: string]: unknown }[]> =>
    (await expectAnswer(service, { path: '/api/v1/uploads', credential }, 200)).json.items
  const cancelAny = (id: string, credential = owner.token): Promise<Told> =>
    service.ask({ method: 'DELETE', path: `/api/v1/uploads/${id}`, credential })
  const cancelAll = async (): Promise<void> => {
    for (;;) {
      const items = await listed()
      if (items.length === 0) return
      for (const { id } of items) assert.equal((await cancelAny(id)).status, 204)
    }
  }

  describe('what one caller reserves', () => {
    it('is a share of what is left, and others get theirs', async () => {
      const half = await opened(writer, 8 * GiB)
      refused(await open(writer, 1), 507, 'storage_quota')
      const third = await open(other, 4 * GiB)
      assert.equal(third.status, 201, third.text)
      refused(await open(other, GiB), 507, 'storage_quota')
      // Nothing came of it, so that its room is there at once.
      await expectAnswer(service, { method: 'DELETE', path: pathOf(half), credential: writer.token }, 200)
      assert.equal((await inspection.sums()).retired, 0)
      assert.equal((await open(writer, 6 * GiB)).status, 201)
      await cancelAll()
      assert.deepEqual(await inspection.sums(), { live: 0, pending: 0, retired: 0 })
    })

    it('is a share for files sent by path, too, with and without a length', async () => {
      await opened(writer, 8 * GiB)
      const raw = { method: 'PUT', path: '/api/v1/repositories/releases/raw/large', credential: writer.token }
      const headers = { 'content-length': String(17 * 1024 ** 2), expect: '100-continue' }
      refused(await service.ask({ ...raw, body: new PassThrough(), headers }), 507, 'storage_quota')
      const body = new PassThrough()
      const asked = service.ask({ ...raw, body })
      body.write('a')
      refused(await asked, 507, 'storage_quota')
      body.destroy()
      await cancelAll()
    })

    it('is never more than the disk holds; an object store has no such end', async () => {
      const settings = { SVC_FREE_SPACE_RESERVE_BYTES: String(2 ** 50) }
      await service.restart(settings)
      try {
        const told = await open(writer, GiB / 2)
        if (service.blobStoreUrl === '') refused(told, 507, 'insufficient_space')
        else assert.equal(told.status, 201, told.text)
      } finally {
        await service.restart({ SVC_FREE_SPACE_RESERVE_BYTES: '0' })
      }
      await cancelAll()
    })

    it(`is made of ${openUploadsPerCallerMax} sessions at most, however fast they are opened`, async () => {
      const told = await Promise.all(Array.from({ length: openUploadsPerCallerMax + 10 }, () => open(writer, 0)))
      const count = (status: number): number => told.filter((each) => each.status === status).length
      assert.deepEqual([count(201), count(507)], [openUploadsPerCallerMax, 10])
      for (const each of told.filter(({ status }) => status === 507)) assert.equal(each.json.code, 'upload_limit')
      assert.equal((await open(other, 0)).status, 201)
      const [one] = told.filter(({ status }) => status === 201)
      assert.ok(one !== undefined)
      await expectAnswer(service, { method: 'DELETE', path: pathOf(one.json.id), credential: writer.token }, 200)
      assert.equal((await open(writer, 0)).status, 201)
      await cancelAll()
    })

    it('leaves records of so many cancelled sessions and no more, the youngest', async () => {
      const person = await createPerson(service, 'changes-its-mind')
      await grant(service, person, 'releases', 'write')
      const first = await opened(person, 0)
      await inDatabase(service, async (q) => {
        const row = await q.selectFrom('uploads').selectAll().where('id', '=', first).executeTakeFirstOrThrow()
        const earlier = Date.now() - 60_000
        const rows = Array.from({ length: cancelledUploadsPerCallerMax }, (_, index) => ({
          ...row,
          id: newId(earlier + index),
          idempotency_key: `planted-${index}`,
          status: 'cancelled' as const,
          ended_at: timestamp(earlier + index),
        }))
        for (let at = 0; at < rows.length; at += 250)
          await q
            .insertInto('uploads')
            .values(rows.slice(at, at + 250))
            .execute()
      })
      await expectAnswer(service, { method: 'DELETE', path: pathOf(first), credential: person.token }, 200)
      assert.equal(await statusOf(person, first), 'cancelled')
      const kept = await inDatabase(service, (q) =>
        q
          .selectFrom('uploads')
          .select('id')
          .where('status', '=', 'cancelled')
          .where('owner', '=', `account:${person.id}`)
          .execute(),
      )
      assert.equal(kept.length, cancelledUploadsPerCallerMax)
    })
  })

  describe('administrators', () => {
    it('see what everyone has under way and what of it came, not what it is', async () => {
      const id = await opened(writer, 12)
      const path = pathOf(id)
      const before = (await listed()).find((each) => each.id === id)
      assert.ok(before !== undefined)
      const { createdAt, expiresAt, ...rest } = before
      assert.ok(String(createdAt) < String(expiresAt))
      assert.deepEqual(rest, {
        id,
        repository: 'releases',
        kind: 'session',
        owner: `account:${writer.id}`,
        reservedBytes: '12',
        storedBytes: '0',
        sending: false,
      })
      assert.equal((await sendPart(service, writer.token, path, 0, Buffer.from('twelve bytes'))).status, 204)
      const came = (await listed(service.recoveryKey)).find((each) => each.id === id)
      assert.equal(came?.['storedBytes'], '12')
      refused(await service.ask({ path: '/api/v1/uploads', credential: writer.token }), 403, 'permission_missing')
      await cancelAll()
    })

    it('read them page by page', async () => {
      const ids = [await opened(writer, 0), await opened(other, 0), await opened(writer, 0)]
      const page = async (query: string) =>
        (await expectAnswer(service, { path: `/api/v1/uploads?${query}`, credential: owner.token }, 200)).json
      const first = await page('limit=2')
      const second = await page(`limit=2&after=${first.next}`)
      const found = [...first.items, ...second.items].map(({ id }: { id: string }) => id)
      assert.deepEqual(found, ids.toSorted())
      assert.equal(second.next, null)
      await cancelAll()
    })

    it('cancel uploads of others, and the security audit tells of it', async () => {
      const id = await opened(writer, GiB)
      refused(await cancelAny(id, other.token), 403, 'permission_missing')
      assert.equal((await cancelAny(id, service.recoveryKey)).status, 204)
      assert.equal((await cancelAny(id)).status, 204)
      assert.equal(await statusOf(writer, id), 'cancelled')
      assert.equal((await inspection.sums()).pending, 0)
      const subject = `repository:releases upload:${id} owner:account:${writer.id}`
      const lines = await inDatabase(service, (q) =>
        q.selectFrom('security_audit').select(['actor', 'action']).where('subject', '=', subject).execute(),
      )
      assert.deepEqual(lines, [{ actor: 'key:bootstrap-owner', action: 'upload.cancel' }])
      refused(await cancelAny(randomUUID()), 404, 'not_found')
    })

    it('cancel what comes by path as well: its request fails and leaves nothing', async () => {
      const earlier = await inspection.sums()
      const body = new PassThrough()
      const asked = service.ask({
        method: 'PUT',
        path: '/api/v1/repositories/releases/raw/slow',
        credential: writer.token,
        body,
        headers: { 'content-length': '10' },
      })
      body.write('five ')
      const [upload] = await until('the transfer is listed', async () => {
        const items = await listed()
        return items.length > 0 && items
      })
      assert.deepEqual([upload?.['kind'], upload?.['sending'], upload?.['reservedBytes']], ['raw', true, '10'])
      assert.equal((await cancelAny(String(upload?.id))).status, 204)
      body.end('more.')
      refused(await asked, 503, 'unavailable')
      assert.deepEqual(await inspection.sums(), earlier)
    })
  })

  describe('who is disabled', () => {
    it('loses its open sessions with the next upkeep, people and service accounts alike', async () => {
      const account = await createServiceAccount(service, [binding('releases', 'upload.create', 'upload.read')])
      const { secret } = await activeKey(service, account.id, { bindings: account.bindings })
      const ofRobot = await opened({ token: secret }, GiB)
      const ofWriter = await opened(writer, GiB)
      const ofOther = await opened(other, GiB)
      await inspection.upkeep()
      assert.equal(await statusOf(writer, ofWriter), 'pending')
      const disable = async (path: string, json: unknown): Promise<void> => {
        await expectAnswer(service, { method: 'PATCH', path, json, credential: service.recoveryKey }, 200)
      }
      await disable(`/api/v1/users/${writer.id}`, { enabled: false })
      await disable(`/api/v1/service-accounts/${account.id}`, { enabled: false, expectedRevision: account.revision })
      await inspection.upkeep()
      const open = (await listed()).map(({ id }) => id)
      assert.deepEqual(
        [ofRobot, ofWriter, ofOther].filter((id) => open.includes(id)),
        [ofOther],
      )
      assert.equal((await inspection.sums()).pending, GiB)
    })
  })
})
