import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { openBlobStore } from '../../src/main/engines.ts'
import { readSettings } from '../../src/main/settings/rules.ts'
import { digestOfName } from '../../src/ports/blob-name.ts'
import type { BlobStore } from '../../src/ports/blob-store.ts'
import { type Ask, ask, type Told } from '../harness/client.ts'
import { examine } from '../harness/doctor.ts'
import { inlineDigests } from '../harness/inspection.ts'
import {
  type Environment,
  type Findings,
  keyIn,
  listening,
  type Program,
  programOf,
  settingsFor,
  stagedIn,
  startProgram,
  storedIn,
  untilInOrder,
} from '../harness/processes.ts'
import { inDatabase } from '../harness/rows.ts'
import type { Answering } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import { noteDeath } from './tried.ts'
import { fetchBytes, published, sha256Of, type Target } from './uploads.ts'

const program = programOf(join(import.meta.dirname, 'svc-that-dies.ts'))
/** Longer than any lease and than staging is left alone, shorter than sessions live. */
const betweenLivesMs = 3_600_000

/** A service that dies and comes back on the same data. */
export class Site implements Target, Answering {
  readonly dataDir: string
  readonly databaseUrl: string
  readonly settings: Environment
  /** What was acknowledged: where it is, and its bytes. */
  readonly acknowledged = new Map<string, Buffer>()
  /** What was deleted, and could be brought back: where it was, and its bytes. */
  readonly deleted = new Map<string, Buffer>()
  url = ''
  #program: Program | undefined
  /** Its process dies at a named point. */
  #dies = false
  readonly #clock: { aheadMs: number }

  constructor(dataDir: string, databaseUrl: string, settings: Environment = {}, clock = { aheadMs: 0 }) {
    this.dataDir = dataDir
    this.databaseUrl = databaseUrl
    this.#clock = clock
    this.settings = settingsFor(this, settings)
  }

  get credential(): string {
    return keyIn(this.dataDir, 'bootstrap-token.txt')
  }

  get recoveryKey(): string {
    return this.credential
  }

  ask(request: Ask): Promise<Told> {
    return ask(this.url, request)
  }

  /** Digests of the bytes that are kept, in the store or in the database. */
  async stored(): Promise<string[]> {
    const inline = await inDatabase(this, inlineDigests)
    return [...new Set([...(await this.#inStore()), ...inline])].sort()
  }

  async #inStore(): Promise<string[]> {
    if (this.#blobStoreUrl === '') return storedIn(this.dataDir)
    const store = await this.#store()
    return (await Array.fromAsync(store.list())).map(({ name }) => digestOfName(name))
  }

  /** Staging places that have something. */
  async #staged(): Promise<string[]> {
    if (this.#blobStoreUrl === '') return stagedIn(this.dataDir)
    const store = await this.#store()
    return [...new Set((await Array.fromAsync(store.listStaged())).map(({ place }) => place))]
  }

  get #blobStoreUrl(): string {
    return this.settings['SVC_BLOB_STORE'] ?? ''
  }

  #store(): Promise<BlobStore> {
    return openBlobStore(readSettings({ SVC_DATA_DIR: this.dataDir, SVC_BLOB_STORE: this.#blobStoreUrl }))
  }

  /** Starts unless it runs, with more settings. Each life begins an hour after the one before. */
  async live(more: Environment = {}): Promise<void> {
    if (this.#program !== undefined) return
    const ahead = { SVC_TEST_CLOCK_AHEAD_MS: String(this.#clock.aheadMs) }
    this.#program = startProgram(
      process.execPath,
      [program],
      { ...this.settings, ...more, ...ahead },
      { messages: true },
    )
    this.#clock.aheadMs += betweenLivesMs
    this.url = await listening(this.#program)
  }

  /** Starts, and resolves when it has died at a point that it comes by itself. */
  async liveUntil(point: string, more: Environment = {}): Promise<void> {
    const test = { SVC_TEST_CLOCK_AHEAD_MS: String(this.#clock.aheadMs), SVC_TEST_DIE_AT: point }
    const settings = { ...this.settings, ...more, ...test }
    const dying = startProgram(process.execPath, [program], settings, { messages: true })
    this.#clock.aheadMs += betweenLivesMs
    assert.deepEqual(await dying.ended, { code: null, signal: 'SIGKILL' })
    this.#noteDeath()
  }

  #noteDeath(): void {
    const engine = this.databaseUrl.startsWith('sqlite:') ? 'SQLite' : 'PostgreSQL'
    noteDeath(`${engine}, ${this.#blobStoreUrl.startsWith('s3:') ? 'S3' : 'directory'}`)
  }

  /** From now on reaching the point is the end. */
  async dieAt(point: string): Promise<void> {
    const child = this.#program?.child
    assert.ok(child !== undefined)
    const armed = once(child, 'message')
    child.send(point)
    await armed
    this.#dies = true
  }

  /** What `svc doctor` finds by the clock of the latest life. */
  doctor(): Promise<Findings> {
    return examine(this.settings, Math.max(0, this.#clock.aheadMs - betweenLivesMs))
  }

  /** Another process on the same data, whose life begins an hour after the latest one. */
  heir(): Site {
    return new Site(this.dataDir, this.databaseUrl, this.settings, this.#clock)
  }

  /** Stands still, as a machine does that is paused. */
  freeze(): void {
    this.#program?.child.kill('SIGSTOP')
  }

  thaw(): void {
    this.#program?.child.kill('SIGCONT')
  }

  kill(): void {
    this.#program?.child.kill('SIGKILL')
  }

  async died(): Promise<void> {
    assert.deepEqual(await this.#program?.ended, { code: null, signal: 'SIGKILL' })
    this.#program = undefined
    if (this.#dies) this.#noteDeath()
    this.#dies = false
  }

  async stop(): Promise<void> {
    this.kill()
    await this.#program?.ended
    this.#program = undefined
  }

  /** Resolves when upkeep has cleared away what the dead left, and doctor has nothing to say. */
  async inOrder(): Promise<void> {
    await until('upkeep has settled what the dead process left', () =>
      inDatabase(this, async (q) => {
        const transfer = await q.selectFrom('uploads').select('id').where('kind', '=', 'raw').executeTakeFirst()
        const candidate = await q.selectFrom('reclaim_candidates').select('sha256').executeTakeFirst()
        return transfer === undefined && candidate === undefined
      }),
    )
    await untilInOrder(() => this.doctor())
  }

  /** Every acknowledged file is there, bit by bit, or the latest so many of them; and every deleted one stays away. */
  async keepsWhatItAcknowledged({ latest = this.acknowledged.size } = {}): Promise<void> {
    for (const [place, bytes] of [...this.acknowledged].slice(this.acknowledged.size - latest))
      assert.ok((await fetchBytes(this, place))?.equals(bytes), `${place} was acknowledged and is lost or changed`)
    for (const place of this.deleted.keys())
      assert.equal(await fetchBytes(this, place), null, `${place} was deleted and is there again`)
  }

  /**
   * Counters, stored bytes and staging hold what is published and what was deleted of late, and nothing else but for
   * what sessions reserve.
   */
  async holdsOnlyWhatIsPublished(reserved: {
    readonly bytes: number
    readonly digests: readonly string[]
    /** Staging places of sessions that go on. */
    readonly places?: number
  }): Promise<void> {
    const files = await published(this)
    const bytes = files.reduce((sum, { size }) => sum + size, 0)
    const retired = [...this.deleted.values()]
    const retiredBytes = retired.reduce((sum, { byteLength }) => sum + byteLength, 0)
    const [counted, total] = await inDatabase(this, async (q) => [
      await q
        .selectFrom('repositories')
        .select(['published_bytes', 'pending_bytes', 'retired_bytes'])
        .where('id', '=', 'releases')
        .executeTakeFirstOrThrow(),
      await q.selectFrom('counters').select('value').where('name', '=', 'reserved_bytes').executeTakeFirstOrThrow(),
    ])
    assert.deepEqual(
      { ...counted },
      { published_bytes: bytes, pending_bytes: reserved.bytes, retired_bytes: retiredBytes },
    )
    assert.equal(total.value, bytes + reserved.bytes + retiredBytes)
    const digests = new Set([...files.map(({ sha256 }) => sha256), ...retired.map(sha256Of)])
    const stored = await this.stored()
    assert.deepEqual(
      [...digests].sort().filter((digest) => !stored.includes(digest)),
      [],
      'bytes are missing',
    )
    const extra = stored.filter((digest) => !digests.has(digest) && !reserved.digests.includes(digest))
    assert.deepEqual(extra, [], 'bytes were left behind')
    assert.equal((await this.#staged()).length, reserved.places ?? 0, 'staging places were left behind')
  }
}
