import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, it } from 'node:test'
import fc from 'fast-check'
import { uploadLifetimeMs } from '../../src/kernel/limits/transfers.ts'
import { hour } from '../../src/kernel/units.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { walks } from '../harness/depth.ts'
import { forEachEngine, type TestEngine } from '../harness/engines.ts'
import { digestOf, type Inspection, openInspection } from '../harness/inspection.ts'
import { alternating } from '../harness/kept-inline.ts'
import { sendPart } from '../harness/parts.ts'
import type { Environment } from '../harness/processes.ts'
import { type NewFile, newFile, openUpload, sendContent } from '../harness/publishing.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

const repository = 'releases'
const base = `/api/v1/repositories/${repository}`
const graceHours = 24

/** Few contents, so that the same bytes are held, given up and wanted again by many. */
const contents = ['', 'a', 'b'.repeat(5_000), 'c'.repeat(100_000)]

/** One file of one client: where it is, as far as its answers tell. */
interface File {
  readonly upload: string
  readonly id: string
  readonly content: NewFile
  state: 'open' | 'published' | 'deleted' | 'gone'
  /** From when on it may be given up, once it is deleted or cancelled. */
  retiredAtMs: number
}

type Action =
  | { readonly kind: 'publish'; readonly content: number; readonly how: 'whole' | 'parts' | 'job' }
  | { readonly kind: 'open'; readonly content: number }
  | { readonly kind: 'cancel' | 'delete' | 'restore' | 'read'; readonly which: number }

const content = fc.nat(contents.length - 1)
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ kind: fc.constant('publish' as const), content, how: fc.constantFrom('whole', 'parts', 'job') }),
  fc.record({ kind: fc.constant('open' as const), content }),
  fc.record({ kind: fc.constantFrom('cancel', 'delete', 'delete', 'restore', 'read'), which: fc.nat(30) }),
)
/** What three clients do at once, and then what time and people do. */
const step = fc.record({
  clients: fc.array(fc.array(action, { minLength: 1, maxLength: 3 }), { minLength: 3, maxLength: 3 }),
  next: fc.constantFrom('nothing', 'nothing', 'upkeep', 'upkeep', 'an hour', 'the grace period', 'a restart'),
})

class World {
  readonly service: TestService
  readonly inspection: Inspection
  readonly keeper: string
  /** Each client owns its files, and shares nothing with the others but their contents. */
  readonly files: File[][] = [[], [], []]

  private constructor(service: TestService, inspection: Inspection, keeper: string) {
    this.service = service
    this.inspection = inspection
    this.keeper = keeper
  }

  static async open(engine: TestEngine, settings: Environment): Promise<World> {
    const service = await startService(engine, { settings, roles: { gateway: 'api', worker: false } })
    const bindings = [binding(repository, 'artifact.delete')]
    const account = await createServiceAccount(service, bindings)
    const key = await activeKey(service, account.id, { bindings })
    return new World(service, await openInspection(service), key.secret)
  }

  async close(): Promise<void> {
    await this.inspection.close()
    await this.service.stop()
  }

  get writer(): string {
    return this.service.recoveryKey
  }

  ask(asked: Ask): Promise<Told> {
    return this.service.ask({ credential: this.writer, ...asked })
  }

  async act(client: number, what: Action): Promise<void> {
    const files = this.files[client] ?? []
    if (what.kind === 'open' || what.kind === 'publish') {
      const file = await this.#open(contents[what.content] ?? '')
      files.push(file)
      if (what.kind === 'publish') await this.#publish(file, what.how)
      return
    }
    const file = files[what.which % Math.max(files.length, 1)]
    if (file === undefined) return
    if (what.kind === 'cancel') await this.#cancel(file)
    else if (what.kind === 'delete') await this.#delete(file)
    else if (what.kind === 'restore') await this.#restore(file)
    else await this.#read(file)
  }

  async #open(text: string): Promise<File> {
    const file = newFile(randomUUID(), text)
    const told = await openUpload(this.service, this.writer, repository, file.descriptor)
    assert.equal(told.status, 201, told.text)
    const upload = String(told.headers.location)
    return { upload, id: told.json.id, content: file, state: 'open', retiredAtMs: 0 }
  }

  async #publish(file: File, how: 'whole' | 'parts' | 'job'): Promise<void> {
    const { bytes } = file.content
    if (how === 'whole') {
      assert.equal((await sendContent(this.service, this.writer, file.upload, bytes)).status, 200)
    } else {
      if (bytes.byteLength > 0)
        assert.equal((await sendPart(this.service, this.writer, file.upload, 0, bytes)).status, 204)
      // There is no worker to do a job, so that it is done by whoever completes.
      if (how === 'job')
        assert.equal((await this.ask({ method: 'POST', path: `${file.upload}/complete-async` })).status, 202)
      if (how === 'job') return
      const told = await this.ask({ method: 'POST', path: `${file.upload}/complete` })
      assert.equal(told.status, 200, told.text)
    }
    file.state = 'published'
  }

  async #cancel(file: File): Promise<void> {
    const told = await this.ask({ method: 'DELETE', path: file.upload })
    if (file.state === 'open') {
      assert.equal(told.status, 200, told.text)
      file.state = 'gone'
      file.retiredAtMs = this.service.clock.now()
    } else assert.ok([200, 404, 409].includes(told.status), told.text)
  }

  async #delete(file: File): Promise<void> {
    const json = { expectedAnnotationRevision: 0 }
    const told = await this.ask({
      method: 'DELETE',
      path: `${base}/artifacts/${file.id}`,
      credential: this.keeper,
      json,
    })
    if (file.state === 'published') {
      assert.equal(told.json.outcome, 'deleted', told.text)
      file.state = 'deleted'
      file.retiredAtMs = this.service.clock.now()
    } else if (file.state === 'deleted') assert.equal(told.json.outcome, 'already_deleted', told.text)
    else assert.equal(told.status, 404, told.text)
  }

  async #restore(file: File): Promise<void> {
    const path = `${base}/artifacts/${file.id}/restore`
    const told = await this.ask({ method: 'POST', path, credential: this.keeper })
    if (file.state === 'deleted') {
      const promised = this.service.clock.now() < file.retiredAtMs + graceHours * hour
      if (promised) assert.equal(told.status, 200, told.text)
      if (told.status === 200) file.state = 'published'
    } else assert.equal(told.status, file.state === 'published' ? 200 : 404, told.text)
  }

  async #read(file: File): Promise<void> {
    const told = await this.ask({ path: `${base}/artifacts/${file.id}/content` })
    assert.equal(told.status, file.state === 'published' ? 200 : 404, told.text.slice(0, 300))
    if (told.status === 200) assert.equal(digestOf(told.bytes), file.content.descriptor.sha256)
  }

  get all(): File[] {
    return this.files.flat()
  }

  async pass(what: string): Promise<void> {
    if (what === 'a restart') await this.service.restart()
    if (what === 'an hour') this.service.clock.advance(hour)
    if (what === 'the grace period') this.service.clock.advance(graceHours * hour + 1_000)
    // Two at once, as there may be several workers.
    if (what === 'upkeep') await Promise.all([this.inspection.upkeep(), this.inspection.upkeep()])
    for (const file of this.all)
      if (file.state === 'open' && (await this.ask({ path: file.upload })).json.status === 'cancelled')
        file.state = 'gone'
  }

  /** Counters are sums, nothing is damaged, and what is visible is whole. */
  async check(): Promise<void> {
    const sums = await this.inspection.sums()
    const bytesOf = (state: File['state']): number =>
      this.all.reduce((sum, file) => sum + (file.state === state ? file.content.bytes.byteLength : 0), 0)
    assert.deepEqual([sums.live, sums.pending], [bytesOf('published'), bytesOf('open')])
    assert.deepEqual((await this.inspection.findings()).damage, [])
    for (const file of this.all) await this.#read(file)
  }

  /** When everything has lapsed, the store holds what is published and nothing else. */
  async end(): Promise<void> {
    this.service.clock.advance(uploadLifetimeMs + 2 * graceHours * hour)
    await this.inspection.upkeep()
    this.service.clock.advance(2 * graceHours * hour)
    await this.inspection.upkeep()
    const visible = this.all.filter(({ state }) => state === 'published')
    assert.deepEqual(
      await this.inspection.stored(),
      [...new Set(visible.map((file) => file.content.descriptor.sha256))].sort(),
    )
    assert.deepEqual(await this.inspection.staged(), [])
    for (const file of visible) await this.#read(file)
    assert.equal((await this.inspection.sums()).retired, 0)
  }
}

forEachEngine((engine) => {
  const kept = alternating()

  it('counts exactly and loses nothing, whatever three clients do at once and time does to them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 14 }), async (steps) => {
        const world = await World.open(engine, kept())
        try {
          for (const { clients, next } of steps) {
            await Promise.all(
              clients.map(async (actions, client) => {
                for (const each of actions) await world.act(client, each)
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
      walks(2, 20_261),
    )
  })
})
