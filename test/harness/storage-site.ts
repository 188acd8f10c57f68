import assert from 'node:assert/strict'
import { after, afterEach, before } from 'node:test'
import { cleanupGraceHoursDefault } from '../../src/kernel/limits/transfers.ts'
import { minute } from '../../src/kernel/units.ts'
import type { Ask, Told } from './client.ts'
import type { TestEngine } from './engines.ts'
import { digestOf, type Inspection, openInspection } from './inspection.ts'
import { createOwner, type Person } from './people.ts'
import { startService, type TestService } from './service.ts'

export const base = '/api/v1/repositories/releases'
export const nobody = '00000000-0000-7000-8000-000000000000'
export const maxObjectBytes = 100_000
export const capacityBytes = 10_000_000
export const graceMs = cleanupGraceHoursDefault * 60 * minute

export type StorageSite = ReturnType<typeof storageSite>

/** A service without a worker whose rows, bytes and clock are at hand; after each test every sum is right. */
export const storageSite = (engine: TestEngine) => {
  let service: TestService
  let inspection: Inspection
  let owner: Person
  let token: string

  before(async () => {
    service = await startService(engine, {
      onDisk: true,
      roles: { gateway: 'api', worker: false },
      settings: { SVC_MAX_OBJECT_BYTES: String(maxObjectBytes), SVC_CAPACITY_BYTES: String(capacityBytes) },
    })
    owner = await createOwner(service)
    token = owner.token
    inspection = await openInspection(service)
  })
  after(() => inspection.inOrder())
  after(async () => {
    await inspection.close()
    await service.stop()
  })
  // Whatever a test did or broke: every sum is right, and in the end nothing is damaged.
  afterEach(() => inspection.sums())

  let count = 0
  const fresh = (what: string): string => `${what}-${++count}`
  const ask = (asked: Ask): Promise<Told> => service.ask({ credential: token, ...asked })
  const put = (path: string, body: Ask['body'], headers: Readonly<Record<string, string>> = {}): Promise<Told> =>
    ask({ method: 'PUT', path: `${base}/raw/${path}`, body: body ?? '', headers })
  const stored = async (path: string, body: Ask['body']): Promise<Told> => {
    const told = await put(path, body)
    assert.equal(told.status, 201, told.text)
    return told
  }
  const openSession = async (text: string): Promise<string> => {
    const told = await ask({
      path: `${base}/uploads`,
      headers: { 'idempotency-key': fresh('key') },
      json: { name: 'file', size: String(Buffer.byteLength(text)), sha256: digestOf(text) },
    })
    assert.equal(told.status, 201, told.text)
    return told.json.id
  }
  const cancelSession = (id: string): Promise<Told> => ask({ method: 'DELETE', path: `${base}/uploads/${id}` })
  /** The first part, which is all of a short file. */
  const sendPart = async (id: string, text: string): Promise<void> => {
    const headers = { 'content-type': 'application/octet-stream', 'x-content-sha256': digestOf(text) }
    const told = await ask({ method: 'PUT', path: `${base}/uploads/${id}/parts/0`, body: text, headers })
    assert.equal(told.status, 204, told.text)
  }
  const sendContent = (id: string, body: Ask['body'], headers: Readonly<Record<string, string>> = {}): Promise<Told> =>
    ask({
      method: 'PUT',
      path: `${base}/uploads/${id}/content`,
      body: body ?? '',
      headers: { 'content-type': 'application/octet-stream', ...headers },
    })
  /** Time goes by, and the owner signs in again. */
  const pass = async (ms: number): Promise<void> => {
    service.clock.advance(ms)
    const { name, password } = owner
    const told = await service.ask({ path: '/api/v1/auth/login', json: { name, password } })
    assert.equal(told.status, 200, told.text)
    token = told.json.token
  }
  const digestsHeld = async (): Promise<string[]> => {
    const rows = await inspection.database.reader.selectFrom('artifacts').select('sha256').distinct().execute()
    return rows.map(({ sha256 }) => sha256).sort()
  }
  return {
    get service() {
      return service
    },
    get inspection() {
      return inspection
    },
    get owner() {
      return owner
    },
    get token() {
      return token
    },
    fresh,
    ask,
    put,
    stored,
    openSession,
    cancelSession,
    sendPart,
    sendContent,
    pass,
    digestsHeld,
  }
}
