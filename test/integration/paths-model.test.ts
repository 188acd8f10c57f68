import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import fc from 'fast-check'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { type Inspection, openInspection } from '../harness/inspection.ts'
import { createOwner, createRepository, grant, type Person } from '../harness/people.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { startService, type TestService } from '../harness/service.ts'

const seed = 20_260_202
const runs = 12

/** Where UTF-8, UTF-16 and locales disagree about order, what `like` would take for wildcards, and the ends of ranges. */
const characters = [
  ...['a', 'A', 'b', 'z', '0', '~', ' ', '!', '%', '_', '*', '?', '[', "'", '"', '-', '.x', '/'],
  ...['\u00a0', 'é', 'e\u0301', 'ß', 'ss', 'ÿ', 'İ', 'ı', '\u07ff', '\u0800', '\u200d', '\ud7ff', '\ue000', '\ufeff'],
  ...['\ufffd', '\ufffe', '\uffff', '\u{10000}', '\u{1f600}', '\u{10fffe}', '\u{10ffff}'],
]
const text = (maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...characters), { maxLength }).map((parts) => parts.join(''))
const path = text(4)
  .map((parts) => parts.replaceAll(/\/+/g, '/').replaceAll(/^\/|\/$/g, ''))
  .filter((each) => each !== '')

type Step =
  | { readonly kind: 'put'; readonly path: number; readonly file: number; readonly off: number }
  | { readonly kind: 'restore'; readonly path: number; readonly source: number; readonly off: number }
  | {
      readonly kind: 'list'
      readonly prefix: string
      readonly of: number
      readonly cut: number
      readonly limit: number
    }

/** Mostly the right revision, sometimes one beside it. */
const off = fc.constantFrom(0, 0, 0, 0, 1, -1)
const index = fc.nat({ max: 1_000 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('put' as const), path: index, file: index, off }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('restore' as const), path: index, source: index, off }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('list' as const),
      prefix: text(2),
      of: index,
      cut: fc.nat({ max: 5 }),
      limit: fc.integer({ min: 1, max: 6 }),
    }),
  },
)

interface Revision {
  readonly artifactId: string
  readonly sourceRevision: number | null
}

const bytes = (of: string): Buffer => Buffer.from(of)
const byBytes = (one: string, other: string): number => Buffer.compare(bytes(one), bytes(other))
const startsWith = (whole: string, prefix: string): boolean =>
  bytes(whole).subarray(0, bytes(prefix).byteLength).equals(bytes(prefix))

after(closeConnections)

/** Random changes of awkward paths beside a naive model: a map from path to the list of what it showed. */
forEachEngine((engine) => {
  let service: TestService
  let inspection: Inspection
  let owner: Person
  before(async () => {
    service = await startService(engine, { roles: { gateway: 'api', worker: false } })
    inspection = await openInspection(service)
    owner = await createOwner(service)
  })
  after(async () => {
    await inspection.close()
    await service.stop()
  })

  let repositories = 0
  const walk = async (pool: readonly string[], steps: readonly Step[]): Promise<void> => {
    const repository = `model-${++repositories}`
    const base = `/api/v1/repositories/${repository}`
    await createRepository(service, repository)
    await grant(service, owner, repository, 'write')
    const files: string[] = []
    for (const name of ['one', 'two']) files.push(await publish(service, owner.token, repository, newFile(name, name)))
    const model = new Map<string, Revision[]>()
    const feed: string[] = files.map((id) => `artifact.publish ${id} null`)
    const get = (what: string, query: Record<string, string>): Promise<Told> =>
      service.ask({ path: `${base}/${what}?${new URLSearchParams(query)}`, credential: owner.token })
    const pick = <T>(from: readonly T[], at: number): T => {
      const found = from[at % from.length]
      assert.ok(found !== undefined)
      return found
    }

    const change = async (at: string, told: Told, allowed: boolean, next: Revision, action: string): Promise<void> => {
      const shown = model.get(at) ?? []
      assert.equal(told.status, allowed ? 200 : 409, told.text)
      if (!allowed) return
      assert.deepEqual([told.json.path, told.json.revision], [at, shown.length + 1])
      assert.equal(told.json.artifactId, next.artifactId)
      model.set(at, [...shown, next])
      feed.push(`${action} ${next.artifactId} ${at}`)
    }
    const put = async (each: Step & { kind: 'put' }): Promise<void> => {
      const at = pick(pool, each.path)
      const current = model.get(at)?.length ?? 0
      const expectedRevision = Math.max(0, current + each.off)
      const artifactId = pick(files, each.file)
      const json = { path: at, artifactId, expectedRevision }
      const told = await service.ask({ method: 'PUT', path: `${base}/asset`, credential: owner.token, json })
      await change(at, told, expectedRevision === current, { artifactId, sourceRevision: null }, 'asset.replace')
    }
    const restore = async (each: Step & { kind: 'restore' }): Promise<void> => {
      const at = pick(pool, each.path)
      const shown = model.get(at) ?? []
      const sourceRevision = 1 + (each.source % Math.max(1, shown.length))
      const expectedRevision = Math.max(1, shown.length + each.off)
      const json = { path: at, sourceRevision, expectedRevision }
      const told = await service.ask({ path: `${base}/asset/restore`, credential: owner.token, json })
      if (shown.length === 0) assert.equal(told.status, 404, told.text)
      else {
        const { artifactId } = pick(shown, sourceRevision - 1)
        await change(at, told, expectedRevision === shown.length, { artifactId, sourceRevision }, 'asset.restore')
      }
    }
    const list = async (prefix: string, limit: number): Promise<void> => {
      const expected = [...model.keys()]
        .filter((at) => startsWith(at, prefix))
        .sort(byBytes)
        .map((at) => ({
          path: at,
          revision: model.get(at)?.length,
          artifactId: model.get(at)?.at(-1)?.artifactId,
        }))
      assert.deepEqual((await get('assets', { prefix })).json, { items: expected })
      const paged: unknown[] = []
      let after: Record<string, string> = {}
      for (let pages = 1; ; pages++) {
        const told = await get('assets/page', { prefix, limit: String(limit), ...after })
        assert.equal(told.status, 200, told.text)
        paged.push(...told.json.items)
        if (told.json.next === null) {
          assert.equal(pages, Math.max(1, Math.ceil(expected.length / limit)))
          break
        }
        after = { after: told.json.next }
      }
      assert.deepEqual(paged, expected)
    }

    for (const each of steps)
      if (each.kind === 'put') await put(each)
      else if (each.kind === 'restore') await restore(each)
      else {
        await list(each.prefix, each.limit)
        // A random prefix seldom matches; the beginning of a path always does.
        await list(Array.from(pick(pool, each.of)).slice(0, each.cut).join(''), each.limit)
      }
    await list('', 3)
    for (const at of pool) {
      const shown = model.get(at)
      const told = await get('asset/history', { path: at })
      assert.equal(told.status, shown === undefined ? 404 : 200, told.text)
      if (shown === undefined) continue
      const history = told.json.items.map(
        ({ revision, artifactId, sourceRevision }: Revision & { revision: number }) => ({
          revision,
          artifactId,
          sourceRevision,
        }),
      )
      assert.deepEqual(history, shown.map((each, place) => ({ revision: place + 1, ...each })).reverse())
      for (const revision of [1, shown.length]) {
        const one = await get('asset/revision', { path: at, revision: String(revision) })
        assert.equal(one.json.artifactId, shown[revision - 1]?.artifactId)
      }
      const raw = await service.ask({
        path: `${base}/raw/${at.split('/').map(encodeURIComponent).join('/')}`,
        credential: owner.token,
      })
      assert.deepEqual([raw.status, raw.headers['x-svc-artifact-id']], [200, shown.at(-1)?.artifactId])
    }
    const told: string[] = []
    for (let next = '0'; ; ) {
      const page: Told['json'] = (await get('changes', { after: next, limit: '100' })).json
      if (page.items.length === 0) break
      for (const { action, artifactId, detail } of page.items) told.push(`${action} ${artifactId} ${detail}`)
      next = page.next
    }
    assert.deepEqual(told, feed)
  }

  it('lists, pages, histories and the feed agree with a naive model, whatever the paths are made of', async () => {
    const pool = fc.uniqueArray(path, { minLength: 1, maxLength: 14 })
    const walks = fc.asyncProperty(pool, fc.array(step, { minLength: 10, maxLength: 40, size: 'max' }), walk)
    await fc.assert(walks, { numRuns: runs, seed })
    await inspection.inOrder()
  })
})
