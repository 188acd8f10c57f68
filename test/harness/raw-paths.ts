import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import type { Ask, Told } from './client.ts'
import type { TestEngine } from './engines.ts'
import { type Inspection, openInspection } from './inspection.ts'
import { createOwner, type Person } from './people.ts'
import { startService, type TestService } from './service.ts'

export const raw = '/api/v1/repositories/releases/raw'
export const maxObjectBytes = 65_536
/** Each character percent-encoded, the slash as itself. */
export const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

/** A service to whose paths files are put, and what a request may leave behind in it. */
export const rawPaths = (engine: TestEngine) => {
  let service: TestService
  let inspection: Inspection
  let owner: Person

  before(async () => {
    service = await startService(engine, {
      roles: { gateway: 'api', worker: false },
      settings: { SVC_MAX_OBJECT_BYTES: String(maxObjectBytes) },
    })
    owner = await createOwner(service)
    inspection = await openInspection(service)
  })
  after(async () => {
    await inspection.close()
    await service.stop()
  })

  let count = 0
  const freshPath = (): string => `fresh/${++count}.bin`
  const put = (path: string, body: Ask['body'], headers: Readonly<Record<string, string>> = {}): Promise<Told> =>
    service.ask({ method: 'PUT', path: `${raw}/${path}`, credential: owner.token, body: body ?? '', headers })
  const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Told> =>
    service.ask({ method, path: `${raw}/${path}`, credential: owner.token, headers })

  /** Everything that a request could leave behind. */
  const traces = async () => {
    const rows = await inspection.database.snapshot(async (q) => ({
      artifacts: await q.selectFrom('artifacts').select('id').orderBy('id').execute(),
      claims: await q.selectFrom('claims').selectAll().orderBy('id').execute(),
      uploads: await q.selectFrom('uploads').select('id').execute(),
      revisions: await q.selectFrom('asset_revisions').select(['path', 'revision']).orderBy('path').execute(),
      journal: await q.selectFrom('journal').select('sequence').execute(),
    }))
    return { rows, sums: await inspection.sums(), staged: await inspection.staged(), stored: await inspection.stored() }
  }
  const leavesNoTrace = async (work: () => Promise<void>): Promise<void> => {
    const before = await traces()
    await work()
    const now = await traces()
    assert.deepEqual(now, before)
    await inspection.inOrder()
  }
  const refused = async (told: Promise<Told>, status: number, code: string): Promise<Told> => {
    const answer = await told
    assert.deepEqual([answer.status, answer.json.code], [status, code], answer.text)
    return answer
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
    freshPath,
    put,
    get,
    traces,
    leavesNoTrace,
    refused,
  }
}
