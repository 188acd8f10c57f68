import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { openConnection } from '../harness/connection.ts'
import { forEachEngine } from '../harness/engines.ts'
import { chunked, digestOf, type Inspection, openInspection } from '../harness/inspection.ts'
import { inTheDatabase, inTheStore } from '../harness/kept-inline.ts'
import { createOwner, type Person } from '../harness/people.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

const base = '/api/v1/repositories/releases'
const seed = Number(process.env['SVC_TEST_SEED'] ?? 1)
const clients = 3
const steps = 60
const restartEvery = 12
const paths = ['a', 'b/c', 'b/d', 'ü/%']

/** Numbers below `below`, the same for the same seed (mulberry32). */
const randomOf = (start: number): ((below: number) => number) => {
  let state = start >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** Few contents, so that the same bytes come by many ways. */
const contents = [0, 1, 17, 4_096, 30_000, 70_000].map((bytes, index) => Buffer.alloc(bytes, `content ${index} `))

interface Revision {
  readonly revision: number
  readonly artifactId: string
}

interface Session {
  readonly id: string
  readonly content: Buffer
}

/** What the service should hold: everything that it acknowledged, and nothing else. */
class Model {
  readonly files = new Map<string, Buffer>()
  readonly paths = new Map<string, Revision[]>()
  readonly pending = new Map<string, Session>()
  retiredBytes = 0

  revisions(path: string): Revision[] {
    const known = this.paths.get(path) ?? []
    this.paths.set(path, known)
    return known
  }

  /** Answers of clients at once come in any order; revisions do not. */
  add(path: string, { revision, artifactId }: Revision): void {
    const known = this.revisions(path)
    assert.ok(!known.some((each) => each.revision === revision), `${path} has revision ${revision} twice`)
    known.push({ revision, artifactId })
    known.sort((a, b) => a.revision - b.revision)
  }

  get sums(): { live: number; pending: number; retired: number } {
    const sum = (all: Iterable<Buffer>): number => [...all].reduce((total, { byteLength }) => total + byteLength, 0)
    return {
      live: sum(this.files.values()),
      pending: sum([...this.pending.values()].map(({ content }) => content)),
      retired: this.retiredBytes,
    }
  }
}

after(closeConnections)

forEachEngine((engine) => {
  let service: TestService
  let inspection: Inspection
  let owner: Person

  before(async () => {
    service = await startService(engine)
    owner = await createOwner(service)
    inspection = await openInspection(service)
  })
  after(async () => {
    await inspection.close()
    await service.stop()
  })

  const ask = (asked: Ask): Promise<Told> => service.ask({ credential: owner.token, ...asked })
  const rawPath = (path: string): string => `${base}/raw/${path.split('/').map(encodeURIComponent).join('/')}`

  it(`holds what it acknowledged and counts it exactly (seed ${seed})`, async () => {
    const model = new Model()
    const random = randomOf(seed)
    const pick = <T>(from: readonly T[]): T => from[random(from.length)] as T
    let keys = 0

    /** Each draws its lot at once and then acts, so that the seed decides what happens and only the order is open. */
    const putRaw = (): (() => Promise<void>) => {
      const [path, content, unknownLength, onlyNew] = [pick(paths), pick(contents), random(2) === 0, random(5) === 0]
      const checksum = pick(['none', 'right', 'right', 'wrong'])
      const before = model.revisions(path).length
      return async () => {
        const headers: Record<string, string> = onlyNew ? { 'if-none-match': '*' } : {}
        if (checksum !== 'none') headers['x-checksum-sha256'] = digestOf(checksum === 'right' ? content : 'wrong')
        const body = unknownLength ? chunked(content) : content
        const told = await ask({ method: 'PUT', path: rawPath(path), body, headers })
        if (told.status === 201) {
          assert.notEqual(checksum, 'wrong')
          assert.ok(!onlyNew || told.json.revision === 1)
          model.files.set(told.json.artifact.id, content)
          model.add(path, { revision: told.json.revision, artifactId: told.json.artifact.id })
        } else if (told.status === 200) {
          assert.ok(!onlyNew && checksum !== 'wrong')
          assert.equal(told.json.artifact.sha256, digestOf(content))
        } else if (told.status === 422) assert.equal(checksum, 'wrong')
        else if (onlyNew && told.json.code === 'already_exists') assert.equal(told.status, 409)
        else assert.deepEqual([told.status, told.json.code], [409, 'revision_mismatch'], told.text)
        if (onlyNew && before > 0) assert.equal(told.status, 409)
      }
    }
    const cutRaw = (): (() => Promise<void>) => {
      const path = pick(paths)
      return async () => {
        const connection = await openConnection(service.url)
        connection.send(`PUT ${rawPath(path)} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${owner.token}\r\n`)
        connection.send('content-length: 100000\r\n\r\nnot all of it')
        await until('it has begun', () =>
          inDatabase(service, (q) => q.selectFrom('uploads').select('id').where('kind', '=', 'raw').executeTakeFirst()),
        )
        connection.socket.destroy()
      }
    }
    const openSession = (): (() => Promise<void>) => {
      const content = pick(contents)
      const key = `key-${++keys}`
      return async () => {
        const json = { name: key, size: String(content.byteLength), sha256: digestOf(content) }
        const told = await ask({ path: `${base}/uploads`, headers: { 'idempotency-key': key }, json })
        assert.equal(told.status, 201, told.text)
        model.pending.set(told.json.id, { id: told.json.id, content })
      }
    }
    /** A session that no other client of this step touches. */
    const takeSession = (taken: Set<string>): Session | null => {
      const free = [...model.pending.values()].filter(({ id }) => !taken.has(id)).sort((a, b) => (a.id < b.id ? -1 : 1))
      if (free.length === 0) return null
      const session = pick(free)
      taken.add(session.id)
      return session
    }
    const sendContent = (taken: Set<string>): (() => Promise<void>) => {
      const session = takeSession(taken)
      if (session === null) return openSession()
      const [wrong, unknownLength] = [random(3) === 0, random(2) === 0]
      return async () => {
        const { id, content } = session
        const sent = wrong ? Buffer.concat([content, Buffer.from('!')]) : content
        const told = await ask({
          method: 'PUT',
          path: `${base}/uploads/${id}/content`,
          body: unknownLength ? chunked(sent) : sent,
          headers: { 'content-type': 'application/octet-stream' },
        })
        assert.equal(told.status, wrong ? 422 : 200, told.text)
        if (wrong) return
        model.pending.delete(id)
        model.files.set(id, content)
      }
    }
    const cancel = (taken: Set<string>): (() => Promise<void>) => {
      const session = takeSession(taken)
      if (session === null) return openSession()
      return async () => {
        const told = await ask({ method: 'DELETE', path: `${base}/uploads/${session.id}` })
        assert.deepEqual([told.status, told.json.status], [200, 'cancelled'], told.text)
        model.pending.delete(session.id)
      }
    }
    const setAsset = (): (() => Promise<void>) => {
      const files = [...model.files.keys()].sort()
      if (files.length === 0) return openSession()
      const [path, artifactId] = [pick(paths), pick(files)]
      const expectedRevision = model.revisions(path).length
      return async () => {
        const told = await ask({ method: 'PUT', path: `${base}/asset`, json: { path, artifactId, expectedRevision } })
        if (told.status === 200) {
          assert.equal(told.json.revision, expectedRevision + 1)
          model.add(path, { revision: told.json.revision, artifactId })
        } else assert.deepEqual([told.status, told.json.code], [409, 'revision_mismatch'], told.text)
      }
    }
    const download = (): (() => Promise<void>) => {
      const files = [...model.files].sort(([a], [b]) => (a < b ? -1 : 1))
      if (files.length === 0) return openSession()
      const [id, content] = pick(files)
      return async () => {
        const told = await ask({ path: `${base}/artifacts/${id}/content` })
        assert.ok(told.status === 200 && told.bytes.equals(content), `${id} is ${told.status}`)
      }
    }
    const draw = (taken: Set<string>): (() => Promise<void>) => {
      const lot = random(20)
      if (lot < 8) return putRaw()
      if (lot < 9) return cutRaw()
      if (lot < 12) return openSession()
      if (lot < 15) return sendContent(taken)
      if (lot < 17) return cancel(taken)
      return lot < 18 ? setAsset() : lot < 19 ? download() : () => inspection.upkeep()
    }

    for (let step = 1; step <= steps; step++) {
      const taken = new Set<string>()
      const lots = Array.from({ length: clients }, () => draw(taken))
      await Promise.all(lots.map((act) => act()))
      // Who cut a connection does not learn when that was noticed.
      await until('nobody sends', async () => (await inspection.staged()).length === 0)
      await until('every reservation is a session', async () => {
        const sums = await inspection.sums()
        return sums.pending === model.sums.pending
      })
      assert.deepEqual(await inspection.sums(), model.sums, `after step ${step}`)
      for (const [path, revisions] of model.paths)
        assert.deepEqual(
          revisions.map(({ revision }) => revision),
          revisions.map((_, index) => index + 1),
          path,
        )
      if (step % restartEvery === 0) {
        await service.restart(step % (2 * restartEvery) === 0 ? inTheStore : inTheDatabase)
        assert.deepEqual(await inspection.sums(), model.sums, `after the restart at step ${step}`)
      }
      if (step % restartEvery === restartEvery / 2) {
        await inspection.upkeep(-1)
        model.retiredBytes = 0
        assert.deepEqual(await inspection.sums(), model.sums, `after the grace period at step ${step}`)
      }
    }

    await inspection.upkeep(-1)
    model.retiredBytes = 0
    assert.deepEqual(await inspection.sums(), model.sums)
    assert.deepEqual((await inspection.findings()).damage, [])
    for (const [id, content] of model.files) {
      const told = await ask({ path: `${base}/artifacts/${id}/content` })
      assert.ok(told.status === 200 && told.bytes.equals(content), `artifact ${id}`)
    }
    const listed = (await ask({ path: `${base}/assets` })).json.items
    const current = [...model.paths].flatMap(([path, revisions]) => {
      const last = revisions.at(-1)
      return last === undefined ? [] : [{ path, ...last }]
    })
    assert.deepEqual(
      listed,
      current.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path))),
    )
    for (const { path, artifactId } of current) {
      const told = await ask({ path: rawPath(path) })
      assert.equal(told.headers['x-svc-artifact-id'], artifactId)
      assert.ok(model.files.get(artifactId)?.equals(told.bytes), path)
    }
    const artifacts: string[] = []
    for (let after: string | null = ''; after !== null; ) {
      const query: string = after === '' ? '' : `&after=${after}`
      const { json } = await ask({ path: `${base}/artifacts?limit=100${query}` })
      artifacts.push(...json.items.map(({ id }: { id: string }) => id))
      after = json.next
    }
    assert.deepEqual(artifacts, [...model.files.keys()].sort())
    const held = new Set([...model.files.values()].map(digestOf))
    const awaited = new Set([...model.pending.values()].map(({ content }) => digestOf(content)))
    const stored = await inspection.stored()
    assert.deepEqual(
      [...held].filter((digest) => !stored.includes(digest)),
      [],
    )
    for (const digest of stored) assert.ok(held.has(digest) || awaited.has(digest), `${digest} lies there for nobody`)
  })
})
