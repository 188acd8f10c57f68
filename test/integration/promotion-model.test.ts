import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import fc from 'fast-check'
import type { JournalTable } from '../../src/database/tables/journal.ts'
import { hour } from '../../src/kernel/units.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { walks } from '../harness/depth.ts'
import { forEachEngine, type TestEngine } from '../harness/engines.ts'
import { digestOf, type Inspection, openInspection } from '../harness/inspection.ts'
import { alternating } from '../harness/kept-inline.ts'
import { createOwner, createPerson, createRepository, grant, signIn } from '../harness/people.ts'
import type { Environment } from '../harness/processes.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'
import { upack } from '../harness/zip.ts'

after(closeConnections)

/**
 * Files go back and forth between three repositories, as copies and moves, and are deleted, restored, annotated,
 * registered and given stages, by several clients at once while time passes. The journals say what happened to each
 * file: that must have been possible, the two ends of each promotion must name each other, and the bytes of whatever is
 * published must be there in the end. Asked again in the end, each promotion answers one copy, which is the version
 * that its source is.
 */
const repositories = ['a', 'b', 'c']
/** Two of them are the same version of one package with other bytes. */
const contents = [
  '',
  'y'.repeat(70_000),
  ...['first', 'second'].map((content) =>
    upack({ name: 'tool', version: '1.0.0' }, [{ name: 'package/content.txt', content }]),
  ),
]

const deeds = ['delete', 'restore', 'stage', 'annotate', 'register', 'register'] as const

interface Promotion {
  readonly kind: 'promote'
  readonly file: number
  readonly target: number
  readonly mode: 'copy' | 'move'
  readonly stages: string[]
}

type Action =
  | { readonly kind: 'publish'; readonly where: number; readonly content: number }
  | { readonly kind: (typeof deeds)[number]; readonly file: number }
  | Promotion

const file = fc.nat(50)
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ kind: fc.constant('publish' as const), where: fc.nat(2), content: fc.nat(3) }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom(...deeds), file }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('promote' as const),
      file,
      target: fc.nat(2),
      mode: fc.constantFrom('copy', 'move', 'move'),
      stages: fc.subarray(['eu', 'us']),
    }),
  },
)
const step = fc.record({
  clients: fc.array(fc.array(action, { minLength: 1, maxLength: 3 }), { minLength: 3, maxLength: 3 }),
  next: fc.constantFrom('nothing', 'nothing', 'upkeep', 'the grace period'),
})

interface Known {
  readonly repository: string
  readonly id: string
  readonly digest: string
}

class World {
  readonly service: TestService
  readonly inspection: Inspection
  readonly #keeper: string
  #writer = ''
  readonly #known = new Map<string, Known>()
  /** Ids of copies that some answer called new. */
  readonly #created: string[] = []

  private constructor(service: TestService, inspection: Inspection, keeper: string) {
    this.service = service
    this.inspection = inspection
    this.#keeper = keeper
  }

  static async open(engine: TestEngine, settings: Environment): Promise<World> {
    const service = await startService(engine, { settings, roles: { gateway: 'api', worker: false } })
    await createOwner(service)
    const person = await createPerson(service, 'writer')
    for (const repository of repositories) {
      await createRepository(service, repository)
      await grant(service, person, repository, 'write')
    }
    const bindings = repositories.map((repository) => binding(repository, 'artifact.delete'))
    const { id } = await createServiceAccount(service, bindings)
    const { secret } = await activeKey(service, id, { bindings })
    const world = new World(service, await openInspection(service), secret)
    await world.signIn()
    for (const n of contents.keys()) await world.act({ kind: 'publish', where: n % 3, content: n })
    return world
  }

  async signIn(): Promise<void> {
    this.#writer = await signIn(this.service, 'writer')
  }

  async close(): Promise<void> {
    await this.inspection.close()
    await this.service.stop()
  }

  #ask({ repository, id }: Known, asked: Ask): Promise<Told> {
    const path = `/api/v1/repositories/${repository}/artifacts/${id}${asked.path}`
    return this.service.ask({ credential: this.#writer, ...asked, path })
  }

  async act(what: Action): Promise<void> {
    if (what.kind === 'publish') {
      const { descriptor, bytes } = newFile('file', contents[what.content] ?? '')
      const repository = repositories[what.where] ?? ''
      const id = await publish(this.service, this.#writer, repository, { descriptor, bytes })
      this.#known.set(id, { repository, id, digest: descriptor.sha256 })
      return
    }
    const known = [...this.#known.values()][what.file % this.#known.size]
    assert.ok(known !== undefined)
    if (what.kind === 'promote') await this.#promote(known, what)
    else await this.#do(what.kind, known)
  }

  async #do(deed: (typeof deeds)[number], known: Known): Promise<void> {
    if (deed === 'delete') {
      const { revision = 0 } = (await this.#ask(known, { path: '/annotations' })).json
      const json = { expectedAnnotationRevision: revision }
      const told = await this.#ask(known, { method: 'DELETE', path: '', credential: this.#keeper, json })
      assert.ok(['deleted', 'already_deleted', 'protected', 'changed'].includes(told.json.outcome), told.text)
    } else if (deed === 'restore') {
      const told = await this.#ask(known, { method: 'POST', path: '/restore', credential: this.#keeper })
      assert.ok([200, 404].includes(told.status) || told.json.code === 'version_exists', told.text)
    } else if (deed === 'stage') {
      const told = await this.#ask(known, { method: 'PUT', path: '/stages/qa', json: {} })
      assert.ok([200, 404].includes(told.status), told.text)
    } else if (deed === 'annotate') {
      const json = { expectedRevision: 0, value: { labels: [known.id] } }
      const told = await this.#ask(known, { method: 'PUT', path: '/annotations', json })
      assert.ok([200, 404].includes(told.status) || told.json.code === 'revision_mismatch', told.text)
    } else {
      const told = await this.#ask(known, { method: 'POST', path: '/package' })
      assert.ok([200, 400, 404].includes(told.status) || told.json.code === 'version_exists', told.text)
    }
  }

  async #promote(known: Known, what: Promotion): Promise<void> {
    const { mode, stages } = what
    const target = repositories[what.target] ?? ''
    const told = await this.#ask(known, { path: '/promote', json: { target, mode, stages } })
    if (target === known.repository) {
      assert.equal(told.status, 400, told.text)
      return
    }
    if (told.status === 409) {
      assert.ok(['version_exists', 'source_not_deletable'].includes(told.json.code), told.text)
      return
    }
    assert.ok([200, 201, 404].includes(told.status), told.text)
    if (told.status === 404) return
    const { artifactId, created } = told.json
    assert.equal(created, told.status === 201)
    for (const stage of stages) assert.ok(told.json.stages.includes(stage), told.text)
    if (created) this.#created.push(artifactId)
    this.#known.set(artifactId, { repository: target, id: artifactId, digest: known.digest })
  }

  async pass(next: string): Promise<void> {
    if (next === 'the grace period') this.service.clock.advance(25 * hour)
    if (next === 'the grace period') await this.signIn()
    if (next !== 'nothing') await Promise.all([this.inspection.upkeep(), this.inspection.upkeep()])
  }

  async check(): Promise<void> {
    const lines = await inDatabase(this.service, (q) =>
      q
        .selectFrom('journal')
        .selectAll()
        .where('repository', 'in', repositories)
        .orderBy('repository')
        .orderBy('sequence')
        .execute(),
    )
    this.#checkEnds(lines)
    const byFile = Map.groupBy(lines, ({ artifact_id }) => artifact_id)
    assert.deepEqual([...byFile.keys()].sort(), [...this.#known.keys()].sort())
    for (const known of this.#known.values()) await this.#compare(known, byFile.get(known.id) ?? [])
    await this.inspection.inOrder()
  }

  /**
   * Whoever came is told of at both ends, and each copy was called new exactly once. A move to it later is told of at
   * one.
   */
  #checkEnds(lines: readonly JournalTable[]): void {
    const pair = (from: string, to: string | null) => `${from} ${to}`
    const sent = lines.filter(({ action: what }) => what === 'artifact.promoted')
    const received = lines.filter(({ action: what }) => what === 'artifact.received')
    const pairs = received.map(({ artifact_id, peer_artifact_id }) => pair(peer_artifact_id ?? '', artifact_id))
    assert.deepEqual([...new Set(pairs)].length, pairs.length, 'a file came twice')
    assert.deepEqual(
      [...new Set(sent.map(({ artifact_id, peer_artifact_id }) => pair(artifact_id, peer_artifact_id)))].sort(),
      pairs.sort(),
    )
    const born = Map.groupBy(lines, ({ artifact_id }) => artifact_id)
    const copies = [...born].filter(([, [first]]) => first?.action === 'artifact.received')
    assert.deepEqual(this.#created.toSorted(), copies.map(([id]) => id).sort())
  }

  /** Replays what the journal tells of a file, and compares. */
  async #compare(known: Known, lines: readonly JournalTable[]): Promise<void> {
    let published = false
    let isPackage = false
    const stages = new Set<string>()
    for (const { action: what, detail, repository } of lines) {
      assert.equal(repository, known.repository)
      const stage = detail ?? ''
      const text = `${what} of ${known.id}`
      if (what === 'artifact.publish' || what === 'artifact.restore') {
        assert.ok(!published, text)
        published = true
      } else if (what === 'artifact.received') published = true
      else if (what === 'artifact.delete') {
        assert.ok(published && stages.size === 0, text)
        published = false
      } else if (what === 'stage.added') assert.ok(published && !stages.has(stage) && stages.add(stage), text)
      else if (what === 'stage.removed') assert.ok(published && stages.delete(stage), text)
      else if (what === 'artifact.promoted' || what === 'annotation.replace') assert.ok(published, text)
      else if (what === 'package.register') {
        assert.ok(published && !isPackage, text)
        isPackage = true
      } else assert.equal(what, 'bytes.reclaim', text)
    }
    const told = await this.#ask(known, { path: '/content' })
    assert.equal(told.status, published ? 200 : 404, `${JSON.stringify(known)} ${told.text.slice(0, 200)}`)
    if (!published) return
    assert.equal(digestOf(told.bytes), known.digest)
    const { items } = (await this.#ask(known, { path: '/stages' })).json
    assert.deepEqual(
      items.map(({ stage }: { stage: string }) => stage),
      [...stages].sort(),
    )
    this.#published.add(known.digest)
  }

  readonly #published = new Set<string>()

  /** What is promoted once more is found, is found again, and is the version there that its source is here. */
  async #askAgain(): Promise<void> {
    for (const known of [...this.#known.values()])
      for (const target of repositories) {
        if (target === known.repository) continue
        const ask = () => this.#ask(known, { path: '/promote', json: { target } })
        const [first, second] = [await ask(), await ask()]
        if (first.status >= 400) {
          assert.ok(first.status === 404 || first.json.code === 'version_exists', first.text)
          assert.equal(second.status, first.status, second.text)
          continue
        }
        const { artifactId } = first.json
        assert.deepEqual([second.status, second.json.artifactId], [200, artifactId], second.text)
        if (first.status === 201) this.#created.push(artifactId)
        this.#known.set(artifactId, { repository: target, id: artifactId, digest: known.digest })
        const isVersion = async (repository: string, id: string): Promise<boolean> => {
          const path = `/api/v1/repositories/${repository}/packages/resolve?name=tool`
          return (await this.service.ask({ path, credential: this.#writer })).json.artifactId === id
        }
        if (await isVersion(known.repository, known.id)) assert.ok(await isVersion(target, artifactId), first.text)
      }
  }

  /** When all grace periods are over, the store holds the bytes of what is published and nothing else. */
  async end(): Promise<void> {
    await this.#askAgain()
    await this.pass('the grace period')
    await this.pass('the grace period')
    this.#published.clear()
    await this.check()
    assert.deepEqual(await this.inspection.stored(), [...this.#published].sort())
  }
}

forEachEngine((engine) => {
  const kept = alternating()

  it('loses no bytes and tells all of it, whatever three clients send back and forth at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 14 }), async (steps) => {
        const world = await World.open(engine, kept())
        try {
          for (const { clients, next } of steps) {
            await Promise.all(
              clients.map(async (actions) => {
                for (const each of actions) await world.act(each)
              }),
            )
            await world.pass(next)
            await world.check()
          }
          await world.end()
        } finally {
          await world.close()
        }
      }),
      walks(2, 20_263),
    )
  })
})
