import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import fc from 'fast-check'
import type { JournalTable } from '../../src/database/tables/journal.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { walks } from '../harness/depth.ts'
import { forEachEngine, type TestEngine } from '../harness/engines.ts'
import { alternating } from '../harness/kept-inline.ts'
import { createPerson, grant } from '../harness/people.ts'
import type { Environment } from '../harness/processes.ts'
import { inDatabase } from '../harness/rows.ts'

after(closeConnections)

/**
 * Several clients give the same few files what keeps them, take it away, delete and restore, all at once. The journal
 * says in which order it happened: replayed line by line on a model, every line must have been allowed at its place,
 * every answer must fit some moment of its step, and in the end the service must show what the model holds.
 */
const stages = ['qa', 'released']

type Action =
  | { readonly kind: 'publish' }
  | { readonly kind: 'refer' | 'unrefer' | 'delete' | 'restore'; readonly which: number }
  | { readonly kind: 'stage' | 'unstage'; readonly which: number; readonly stage: number }
  | { readonly kind: 'attach'; readonly which: number; readonly targets: readonly number[] }

const which = fc.nat(20)
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('publish' as const) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom('refer', 'unrefer', 'unrefer', 'delete', 'delete', 'restore'),
      which,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('stage', 'unstage', 'unstage'), which, stage: fc.nat(1) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('attach' as const), which, targets: fc.array(which, { maxLength: 2 }) }),
  },
)
const step = fc.array(fc.array(action, { minLength: 1, maxLength: 4 }), { minLength: 3, maxLength: 3 })

/** What the journal's lines make of a file. */
class File {
  published = true
  readonly references = new Set<string>()
  readonly stages = new Map<string, { promotedAt: string; actor: string; comment: string | null }>()
  /** What was attached, by revision. */
  readonly revisions: (readonly string[])[] = []
}

interface Moment {
  readonly published: boolean
  readonly blockers: readonly string[]
  readonly revision: number
}

interface Asked {
  readonly action: Exclude<Action, { kind: 'publish' }>
  readonly id: string
  readonly targets: readonly string[]
  readonly expectedRevision: number
  readonly told: Told
}

class World {
  readonly catalog: Catalog
  readonly #clients: readonly string[]
  readonly #files = new Map<string, File>()
  /** What each successful replacement attached, by build and revision. */
  readonly #attached = new Map<string, readonly string[]>()
  #asked: Asked[] = []
  #moments = new Map<string, Moment[]>()
  #sequence = 0

  private constructor(catalog: Catalog, clients: readonly string[]) {
    this.catalog = catalog
    this.#clients = clients
  }

  static async open(engine: TestEngine, settings: Environment): Promise<World> {
    const catalog = await Catalog.open(engine, settings)
    const second = await createPerson(catalog.service, 'second')
    await grant(catalog.service, second, catalog.repository, 'write')
    const world = new World(catalog, [catalog.writer.token, second.token, catalog.keeper])
    for (let n = 0; n < 4; n++) await catalog.published()
    return world
  }

  get #ids(): string[] {
    return [...this.#files.keys()]
  }

  async act(client: number, what: Action): Promise<void> {
    const ids = this.#ids
    if (what.kind === 'publish') {
      // Few files, so that all meet at them.
      if (ids.length < 7) await this.catalog.published()
      return
    }
    const pick = (n: number): string => ids[n % ids.length] ?? ''
    const id = pick(what.which)
    const targets = what.kind === 'attach' ? what.targets.map(pick) : []
    const expectedRevision = this.#files.get(id)?.revisions.length ?? 0
    const told = await this.#send(this.#clients[client] ?? '', what, { id, targets, expectedRevision })
    this.#asked.push({ action: what, id, targets, expectedRevision, told })
  }

  #send(
    credential: string,
    what: Asked['action'],
    { id, targets, expectedRevision }: Pick<Asked, 'id' | 'targets' | 'expectedRevision'>,
  ): Promise<Told> {
    const path = `/artifacts/${id}`
    switch (what.kind) {
      case 'refer':
      case 'unrefer': {
        const method = what.kind === 'refer' ? 'POST' : 'DELETE'
        return this.catalog.ask({ method, path: `${path}/references`, credential, json: { key: 'kept' } })
      }
      case 'stage':
        return this.catalog.ask({ method: 'PUT', path: `${path}/stages/${stages[what.stage]}`, credential, json: {} })
      case 'unstage':
        return this.catalog.ask({ method: 'DELETE', path: `${path}/stages/${stages[what.stage]}`, credential })
      case 'attach': {
        const items = targets.map((artifactId, n) => ({ name: `${n}`, kind: 'file', artifactId }))
        const json = { expectedRevision, items }
        return this.catalog.ask({ method: 'PUT', path: `${path}/attachments`, credential, json })
      }
      case 'delete':
        return this.catalog.remove(id)
      case 'restore':
        return this.catalog.restore(id)
      default:
        return what satisfies never
    }
  }

  /** After a step, when nothing is under way: replays it, holds its answers against it, and compares what is shown. */
  async settle(): Promise<void> {
    for (const { action: what, id, told, targets } of this.#asked)
      if (what.kind === 'attach' && told.status === 200) this.#attached.set(`${id} ${told.json.revision}`, targets)
    this.#moments = new Map()
    this.#look()
    const changes = new Map<string, number>()
    for (const line of await this.#newLines()) {
      this.#replay(line)
      this.#look()
      const what = `${line.action} ${line.artifact_id}`
      changes.set(what, (changes.get(what) ?? 0) + 1)
    }
    for (const asked of this.#asked) this.#judge(asked)
    this.#count(changes, 'delete', 'artifact.delete', ({ json }) => json.outcome === 'deleted')
    this.#count(changes, 'attach', 'attachment.replace', ({ status }) => status === 200)
    this.#asked = []
    await this.#compare()
  }

  async #newLines(): Promise<JournalTable[]> {
    const lines = await inDatabase(this.catalog.service, (q) =>
      q
        .selectFrom('journal')
        .selectAll()
        .where('repository', '=', this.catalog.repository)
        .where('sequence', '>', this.#sequence)
        .orderBy('sequence')
        .execute(),
    )
    lines.forEach(({ sequence }, n) => {
      assert.equal(sequence, this.#sequence + n + 1, 'the journal has no gaps')
    })
    this.#sequence += lines.length
    return lines
  }

  #replay(line: JournalTable): void {
    const { action: what, artifact_id: id, actor } = line
    const text = JSON.stringify(line)
    if (what === 'artifact.publish') {
      this.#files.set(id, new File())
      return
    }
    const file = this.#files.get(id)
    assert.ok(file !== undefined, text)
    assert.equal(file.published, what !== 'artifact.restore', text)
    if (what === 'artifact.delete') {
      assert.deepEqual(this.#blockersOf(id), [], text)
      file.published = false
    } else if (what === 'artifact.restore') file.published = true
    else if (what === 'reference.add') assert.ok(!file.references.has(actor) && file.references.add(actor), text)
    else if (what === 'reference.remove') assert.ok(file.references.delete(actor), text)
    else if (what === 'stage.added') {
      assert.ok(!file.stages.has(line.detail ?? ''), text)
      file.stages.set(line.detail ?? '', { promotedAt: line.occurred_at, actor, comment: line.comment })
    } else if (what === 'stage.removed') assert.ok(file.stages.delete(line.detail ?? ''), text)
    else if (what === 'attachment.replace') {
      const targets = this.#attached.get(`${id} ${file.revisions.length + 1}`)
      assert.ok(targets !== undefined, `nobody was told of it: ${text}`)
      for (const target of targets) assert.ok(target !== id && this.#files.get(target)?.published === true, text)
      file.revisions.push(targets)
    } else assert.fail(text)
  }

  #blockersOf(id: string): string[] {
    const file = this.#files.get(id)
    const attached = [...this.#files.values()].some((build) => build.published && build.revisions.flat().includes(id))
    return [
      ...((file?.references.size ?? 0) > 0 ? ['reference'] : []),
      ...(attached ? ['attachment_history'] : []),
      ...((file?.stages.size ?? 0) > 0 ? ['promotion_stage'] : []),
    ]
  }

  /** Notes how every file stands at this moment of the step. */
  #look(): void {
    for (const [id, { published, revisions }] of this.#files) {
      const moments = this.#moments.get(id) ?? []
      moments.push({ published, blockers: this.#blockersOf(id), revision: revisions.length })
      this.#moments.set(id, moments)
    }
  }

  #once(id: string, holds: (moment: Moment) => boolean): boolean {
    return (this.#moments.get(id) ?? []).some(holds)
  }

  /** Whether the answer was right at some moment of the step. */
  #judge({ action: what, id, targets, expectedRevision, told }: Asked): void {
    const text = `${what.kind} ${id}: ${told.status} ${told.text}`
    const wasThere = this.#once(id, ({ published }) => published)
    const wasGone = this.#once(id, ({ published }) => !published)
    if (what.kind === 'delete') {
      assert.equal(told.status, 200, text)
      const { outcome, blockers } = told.json
      const protectedSo = (moment: Moment): boolean => moment.published && String(moment.blockers) === String(blockers)
      if (outcome === 'protected') assert.ok(blockers.length > 0 && this.#once(id, protectedSo), text)
      else if (outcome === 'already_deleted') assert.ok(wasGone, text)
      else assert.equal(outcome, 'deleted', text)
      return
    }
    if (what.kind === 'restore') {
      assert.equal(told.status, 200, text)
      return
    }
    if (told.status === 404) assert.ok(wasGone, text)
    else if (what.kind !== 'attach' || told.status === 200) assert.ok(told.status < 300 && wasThere, text)
    else if (told.status === 409)
      assert.ok(
        this.#once(id, ({ revision }) => revision !== expectedRevision),
        text,
      )
    else {
      assert.equal(told.status, 400, text)
      const refused = (target: string): boolean => target === id || this.#once(target, ({ published }) => !published)
      assert.ok(targets.some(refused), text)
    }
  }

  /** As many answers say that they changed something as the journal has lines. */
  #count(
    changes: ReadonlyMap<string, number>,
    kind: Action['kind'],
    journalAction: string,
    changed: (told: Told) => boolean,
  ): void {
    for (const id of this.#ids) {
      const said = this.#asked.filter((asked) => asked.id === id && asked.action.kind === kind && changed(asked.told))
      assert.equal(said.length, changes.get(`${journalAction} ${id}`) ?? 0, `${journalAction} ${id}`)
    }
  }

  async #compare(): Promise<void> {
    const { catalog } = this
    const listed = (await catalog.get('/artifacts?limit=100')).items.map(({ id }: { id: string }) => id)
    const published = this.#ids.filter((id) => this.#files.get(id)?.published)
    assert.deepEqual(listed, published.toSorted())
    const every: string[] = []
    for (const id of this.#ids) {
      const file = this.#files.get(id)
      if (file?.published !== true) {
        await catalog.expect({ path: `/artifacts/${id}/deletion`, credential: catalog.keeper }, 404)
        continue
      }
      assert.deepEqual(await catalog.blockers(id), this.#blockersOf(id))
      const entries = [...file.stages].sort(([a], [b]) => (a < b ? -1 : 1))
      const { items } = await catalog.get(`/artifacts/${id}/stages`)
      assert.deepEqual(
        items.map(({ actorName: _, ...rest }: Told['json']) => rest),
        entries.map(([stage, rest]) => ({ artifactId: id, stage, ...rest })),
      )
      every.push(...items.map(({ stage }: { stage: string }) => `${id}/${stage}`))
      const history = (await catalog.get(`/artifacts/${id}/attachments/history`)).items
      const shown = history.map((each: Told['json']) => each.items.map((item: Told['json']) => item.artifactId))
      assert.deepEqual(shown, file.revisions.toReversed().slice(0, 20))
    }
    const all = (await catalog.get('/stages')).items.map((each: Told['json']) => `${each.artifactId}/${each.stage}`)
    assert.deepEqual(all, every.toSorted())
    await catalog.inspection.inOrder()
  }
}

forEachEngine((engine) => {
  const kept = alternating()

  it('keeps what is kept and deletes nothing else, whatever three clients do to the same files at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 25 }), async (steps) => {
        const world = await World.open(engine, kept())
        try {
          await world.settle()
          for (const clients of steps) {
            await Promise.all(
              clients.map(async (actions, client) => {
                for (const each of actions) await world.act(client, each)
              }),
            )
            await world.settle()
          }
        } finally {
          await world.catalog.close()
        }
      }),
      walks(2, 20_262),
    )
  })
})
