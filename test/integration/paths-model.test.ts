import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import fc from 'fast-check'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { type Inspection, openInspection } from '../harness/inspection.ts'
import { createOwner, createRepository, grant, type Person } from '../harness/people.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

const seed = 20_260_202
const runs = 12

/**
 * Where UTF-8, UTF-16 and locales disagree about order, what `like` would take for wildcards, and the ends of ranges.
 */
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
  | { readonly kind: 'end'; readonly path: number; readonly off: number; readonly raw: boolean }
  | { readonly kind: 'forget'; readonly path: number; readonly through: number }
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
    arbitrary: fc.record({ kind: fc.constant('end' as const), path: index, off, raw: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('forget' as const), path: index, through: index }),
  },
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
  readonly removed?: true
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
    /** How many of its oldest revisions each path has forgotten. */
    const forgotten = new Map<string, number>()
    const isShown = (at: string): boolean => model.get(at)?.at(-1)?.removed === undefined && model.has(at)
    const feed: string[] = files.map((id) => `artifact.publish ${id} null`)
    const rawPath = (at: string): string => `${base}/raw/${at.split('/').map(encodeURIComponent).join('/')}`
    const bindings = [binding(repository, 'asset.write', 'artifact.delete')]
    const { secret: keeper } = await activeKey(service, (await createServiceAccount(service, bindings)).id, {
      bindings,
    })
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
      const allowed = expectedRevision === current || (expectedRevision === 0 && !isShown(at))
      const artifactId = pick(files, each.file)
      const json = { path: at, artifactId, expectedRevision }
      const told = await service.ask({ method: 'PUT', path: `${base}/asset`, credential: owner.token, json })
      await change(at, told, allowed, { artifactId, sourceRevision: null }, 'asset.replace')
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
        const { removed } = pick(shown, sourceRevision - 1)
        const isThere = removed === undefined && sourceRevision > (forgotten.get(at) ?? 0)
        if (expectedRevision === shown.length && !isThere) assert.equal(told.status, 404, told.text)
        else await change(at, told, expectedRevision === shown.length, { artifactId, sourceRevision }, 'asset.restore')
      }
    }
    const end = async (each: Step & { kind: 'end' }): Promise<void> => {
      const at = pick(pool, each.path)
      const shown = model.get(at) ?? []
      const expectedRevision = Math.max(1, shown.length + each.off)
      const told = await (each.raw
        ? service.ask({
            method: 'DELETE',
            path: `${rawPath(at)}?expectedRevision=${expectedRevision}`,
            credential: owner.token,
          })
        : service.ask({
            method: 'DELETE',
            path: `${base}/asset`,
            credential: owner.token,
            json: { path: at, expectedRevision },
          }))
      const artifactId = shown.at(-1)?.artifactId
      if (artifactId === undefined || !isShown(at)) assert.equal(told.status, 404, told.text)
      else {
        const next = { artifactId, sourceRevision: null, removed: true } as const
        await change(at, told, expectedRevision === shown.length, next, 'asset.remove')
        if (told.status === 200) assert.equal(told.json.removed, true)
      }
    }
    const forget = async (each: Step & { kind: 'forget' }): Promise<void> => {
      const at = pick(pool, each.path)
      const shown = model.get(at) ?? []
      const through = 1 + (each.through % (shown.length + 1))
      const told = await service.ask({ path: `${base}/asset/forget`, credential: keeper, json: { path: at, through } })
      if (shown.length === 0) return assert.equal(told.status, 404, told.text)
      if (through > (isShown(at) ? shown.length - 1 : shown.length)) return assert.equal(told.status, 409, told.text)
      const before = forgotten.get(at) ?? 0
      const gone = shown.slice(before, Math.max(before, through))
      const kept = Math.max(before, through)
      const oldestRevision = kept === shown.length ? null : kept + 1
      assert.deepEqual(told.json, { path: at, forgotten: gone.length, oldestRevision, done: true })
      forgotten.set(at, kept)
      for (const id of new Set(gone.map(({ artifactId }) => artifactId))) feed.push(`asset.forget ${id} ${at}`)
    }
    const list = async (prefix: string, limit: number): Promise<void> => {
      const expected = [...model.keys()]
        .filter((at) => isShown(at) && startsWith(at, prefix))
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
      else if (each.kind === 'end') await end(each)
      else if (each.kind === 'forget') await forget(each)
      else {
        await list(each.prefix, each.limit)
        // A random prefix seldom matches; the beginning of a path always does.
        await list(Array.from(pick(pool, each.of)).slice(0, each.cut).join(''), each.limit)
      }
    await list('', 3)
    for (const at of pool) {
      const shown = model.get(at) ?? []
      const kept = shown.map((each, place) => ({ revision: place + 1, ...each })).slice(forgotten.get(at) ?? 0)
      const told = await get('asset/history', { path: at })
      assert.equal(told.status, kept.length === 0 ? 404 : 200, told.text)
      const raw = await service.ask({ path: rawPath(at), credential: owner.token })
      if (isShown(at)) assert.deepEqual([raw.status, raw.headers['x-svc-artifact-id']], [200, shown.at(-1)?.artifactId])
      else assert.deepEqual([raw.status, /was removed at/.test(raw.text)], [404, shown.length > 0])
      if (kept.length === 0) continue
      const history = told.json.items.map(({ path: _, actor, actorName, createdAt, ...item }: Told['json']) => item)
      assert.deepEqual(history, kept.toReversed())
      for (const { revision, artifactId } of [kept[0], kept.at(-1)].filter((each) => each !== undefined))
        assert.equal(
          (await get('asset/revision', { path: at, revision: String(revision) })).json.artifactId,
          artifactId,
        )
      const before = await get('asset/revision', { path: at, revision: String((kept[0]?.revision ?? 1) - 1 || 2_000) })
      assert.equal(before.status, 404)
    }
    const held = new Set(
      pool.flatMap((at) => (model.get(at) ?? []).slice(forgotten.get(at) ?? 0).map(({ artifactId }) => artifactId)),
    )
    for (const id of files) {
      const { json } = await service.ask({ path: `${base}/artifacts/${id}/deletion`, credential: keeper })
      assert.deepEqual(json.blockers, held.has(id) ? ['asset_history'] : [])
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
