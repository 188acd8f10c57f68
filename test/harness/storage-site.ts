import assert from 'node:assert/strict'
import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before } from 'node:test'
import { release, retire } from '../../src/content/claims/claims.ts'
import { createHashing } from '../../src/content/hashing/hashing.ts'
import { reclaim } from '../../src/content/reclaim/reclaim.ts'
import type { Transaction } from '../../src/database/database.ts'
import { createLeftLeases } from '../../src/features/transfers/uploads/left-leases.ts'
import type { TransferDeps } from '../../src/features/transfers/uploads/uploads.ts'
import { openRawTransfer, type RawTransfer } from '../../src/features/transfers/whole/raw-transfer.ts'
import { timestamp } from '../../src/kernel/clock.ts'
import { toSha256 } from '../../src/kernel/digest.ts'
import { noFaults } from '../../src/kernel/fault-points.ts'
import { capacityBytesDefault, cleanupGraceHoursDefault } from '../../src/kernel/limits/transfers.ts'
import { minute } from '../../src/kernel/units.ts'
import { unplanned } from '../../src/ports/blob-store.ts'
import type { Ask, Told } from './client.ts'
import type { TestEngine } from './engines.ts'
import { digestOf, forgetFile, type Inspection, openInspection } from './inspection.ts'
import { createOwner, type Person } from './people.ts'
import { startService, type TestService } from './service.ts'
import { until } from './until.ts'

export const base = '/api/v1/repositories/releases'
export const nobody = '00000000-0000-7000-8000-000000000000'
export const maxObjectBytes = 100_000
export const capacityBytes = 10_000_000
export const graceMs = cleanupGraceHoursDefault * 60 * minute

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
  /** Ends the claim of what was published, its grace period included. */
  const letGo = async (tx: Transaction, id: string): Promise<void> => {
    const now = timestamp(service.clock.now())
    await retire(tx, id, now)
    await release(tx, id, now)
  }
  /** Deletes the file at a path, as deleting will do it: holder and claim go together. */
  const drop = (path: string): Promise<void> =>
    inspection.database.transaction(async (tx) => {
      const { artifact_id } = await tx
        .selectFrom('assets')
        .select('artifact_id')
        .where('path', '=', path)
        .executeTakeFirstOrThrow()
      await tx.deleteFrom('assets').where('path', '=', path).execute()
      await tx.deleteFrom('asset_revisions').where('path', '=', path).execute()
      await forgetFile(tx, artifact_id)
      await letGo(tx, artifact_id)
    })
  const reclaimOnce = (): Promise<number> => reclaim(inspection)
  const digestsHeld = async (): Promise<string[]> => {
    const rows = await inspection.database.reader.selectFrom('artifacts').select('sha256').distinct().execute()
    return rows.map(({ sha256 }) => sha256).sort()
  }
  const uploadParts = (): TransferDeps => ({
    database: inspection.database,
    store: inspection.store,
    clock: service.clock,
    freeSpace: {
      writable: async () => true,
      roomBytes: async () => null,
      freeBytes: async () => null,
      refuseUnlessRoomFor: async () => {},
    },
    uploadSharePercent: 100,
    hashing: createHashing({ saveable: false, report: assert.fail }),
    capacityBytes: capacityBytesDefault,
    maxObjectBytes,
    reach: noFaults,
    leftLeases: createLeftLeases(),
    report: (message, error) => assert.fail(new Error(message, { cause: error })),
  })
  /** What a process leaves that dies while a file comes in. */
  const plantTransfer = async (bytes: number): Promise<RawTransfer> => {
    const scope = { repository: 'releases', owner: `account:${owner.id}` }
    const digest = toSha256(digestOf(fresh('planted')))
    const transfer = await openRawTransfer(uploadParts(), scope, { kind: 'artifact', name: 'planted', bytes, digest })
    await plantPlace(transfer.holder)
    return transfer
  }
  const plantPlace = async (id: string): Promise<void> => {
    const place = await inspection.store.stage(id, unplanned)
    await place.write(Buffer.from('half of it'))
    engine.use({ [Symbol.asyncDispose]: () => place.discard() })
    const [name = ''] = await until('the place is there', async () => {
      const names = (await inspection.staged()).filter((each) => each.includes(id))
      return names.length === 1 && names
    })
    // As old as the clock of the service says, which the tests turn forward.
    const seconds = service.clock.now() / 1000
    await utimes(join(service.dataDir, 'staging', name), seconds, seconds)
  }
  const placesOf = async (id: string): Promise<number> =>
    (await inspection.staged()).filter((name) => name.includes(id)).length
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
    letGo,
    drop,
    reclaimOnce,
    digestsHeld,
    uploadParts,
    plantTransfer,
    plantPlace,
    placesOf,
  }
}
