import assert from 'node:assert/strict'
import type { RepositoryAction } from '../../src/kernel/actions.ts'
import { partBytesMin } from '../../src/kernel/limits/transfers.ts'
import { type Ask, ask, type Told } from '../harness/client.ts'
import { createRepository } from '../harness/people.ts'
import type { Answering } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'
import {
  bytesOf,
  complete,
  fileOf,
  openSession,
  partsOf,
  rawPlace,
  sendPart,
  sha256Of,
  uploadPlace,
  withChecksum,
} from './uploads.ts'

/** What was told, as lines in a record. `open` is between a question and its answer: either may be. */
export type Promised =
  | { readonly is: 'there'; readonly place: string; readonly sha256: string }
  | { readonly is: 'labelled'; readonly place: string; readonly label: string }
  | { readonly is: 'part'; readonly place: string; readonly sha256: string }
  | { readonly is: 'gone' | 'open'; readonly place: string }

const actions: readonly RepositoryAction[] = [
  'artifact.read',
  'artifact.list',
  'artifact.delete',
  'artifact.promote',
  'content.read',
  'annotation.read',
  'annotation.write',
  'upload.create',
  'upload.write',
  'upload.complete',
  'storage.read',
  'storage.manage',
]
const inReleases = '/api/v1/repositories/releases'

/** A little of everything that writes, one thing after the other in each of a few clients. */
export class MixedLoad {
  readonly #promise: (promised: Promised) => void
  #service: Answering & { readonly url: string }
  #key = ''
  #files = 0

  constructor(service: Answering & { readonly url: string }, promise: (promised: Promised) => void) {
    this.#service = service
    this.#promise = promise
  }

  /** Files of `releases` go at once when they are deleted, those of `kept` can be restored. */
  async prepare(): Promise<void> {
    await createRepository(this.#service, 'kept')
    const bindings = ['releases', 'kept'].map((repository) => binding(repository, ...actions))
    const account = await createServiceAccount(this.#service, bindings)
    this.#key = (await activeKey(this.#service, account.id, { bindings })).secret
    const cleanup = { method: 'PUT', path: '/api/v1/repositories/kept/cleanup' }
    await this.#ask({ ...cleanup, json: { expectedRevision: 0, graceHours: 100 } }, 200)
  }

  /** Each thing once, by several clients, until all are done or the service is gone. */
  async run(clients: number): Promise<void> {
    const all = [this.#byPath, this.#changedPath, this.#deleted, this.#restored, this.#promoted]
    await Promise.all(
      Array.from({ length: clients }, async (_, client) => {
        for (let n = 0; n < all.length; n++) await all[(n + client) % all.length]?.call(this)
        // Eight megabytes and more: one of them is enough.
        if (client === 0) await this.#inParts()
      }),
    )
  }

  /** The service lives on at another address. */
  moved(service: Answering & { readonly url: string }): void {
    this.#service = service
  }

  async #ask(request: Ask, ...statuses: readonly number[]): Promise<Told> {
    const told = await ask(this.#service.url, { credential: this.#key, ...request })
    assert.ok(statuses.includes(told.status), `${request.method} ${request.path}: ${told.status} ${told.text}`)
    return told
  }

  /** Who may read all of it, and the recovery key what came by path. */
  get key(): string {
    return this.#key
  }

  get #target(): { url: string; credential: string } {
    return { url: this.#service.url, credential: this.#service.recoveryKey }
  }

  #nextFile(bytes = 3_000) {
    const name = `file-${++this.#files}`
    return fileOf(name, bytesOf(name, bytes))
  }

  readonly #byPath = async (): Promise<void> => {
    const file = this.#nextFile()
    const told = await withChecksum.send(this.#target, file)
    assert.equal(told.status, 201, told.text)
    this.#promise({ is: 'there', place: rawPlace(file), sha256: file.sha256 })
  }

  readonly #changedPath = async (): Promise<void> => {
    const file = this.#nextFile()
    for (const version of ['first', 'second']) {
      const bytes = bytesOf(`${file.path} ${version}`, 2_000)
      const next = fileOf(file.path, bytes)
      this.#promise({ is: 'open', place: rawPlace(next) })
      const told = await withChecksum.send(this.#target, next)
      assert.equal(told.status, 201, told.text)
      this.#promise({ is: 'there', place: rawPlace(next), sha256: next.sha256 })
    }
  }

  /** Through a session, in parts. */
  readonly #inParts = async (): Promise<void> => {
    const file = this.#nextFile(partBytesMin + 1_000)
    const session = await openSession(this.#target, file)
    assert.equal(session.status, 201, session.text)
    const upload = uploadPlace(session)
    for (const [index, part] of partsOf(file).entries()) {
      const told = await sendPart(this.#target, upload, index, part)
      assert.equal(told.status, 204, told.text)
      this.#promise({ is: 'part', place: `${upload} ${index}`, sha256: sha256Of(part) })
    }
    for (const index of partsOf(file).keys()) this.#promise({ is: 'open', place: `${upload} ${index}` })
    const told = await complete(this.#target, upload)
    assert.equal(told.status, 200, told.text)
    this.#promise({ is: 'there', place: `${inReleases}/artifacts/${told.json.id}/content`, sha256: file.sha256 })
  }

  /** A file that is no path's, in a repository. */
  async #published(repository: string): Promise<{ artifact: string; sha256: string }> {
    const file = this.#nextFile()
    const base = `/api/v1/repositories/${repository}`
    const opened = await this.#ask(
      {
        path: `${base}/uploads`,
        headers: { 'idempotency-key': file.path },
        json: { name: file.path, size: String(file.bytes.length), sha256: file.sha256 },
      },
      201,
    )
    const path = `${base}/uploads/${opened.json.id}/content`
    const told = await this.#ask(
      { method: 'PUT', path, headers: { 'content-type': 'application/octet-stream' }, body: file.bytes },
      200,
    )
    const artifact = `${base}/artifacts/${told.json.id}`
    this.#promise({ is: 'there', place: `${artifact}/content`, sha256: file.sha256 })
    return { artifact, sha256: file.sha256 }
  }

  async #remove(artifact: string, expectedAnnotationRevision: number): Promise<void> {
    this.#promise({ is: 'open', place: `${artifact}/content` })
    await this.#ask({ method: 'DELETE', path: artifact, json: { expectedAnnotationRevision } }, 200)
    this.#promise({ is: 'gone', place: `${artifact}/content` })
  }

  readonly #deleted = async (): Promise<void> => {
    const { artifact } = await this.#published('releases')
    await this.#remove(artifact, 0)
  }

  readonly #restored = async (): Promise<void> => {
    const { artifact, sha256 } = await this.#published('kept')
    await this.#remove(artifact, 0)
    this.#promise({ is: 'open', place: `${artifact}/content` })
    await this.#ask({ method: 'POST', path: `${artifact}/restore` }, 200)
    this.#promise({ is: 'there', place: `${artifact}/content`, sha256 })
  }

  /** Annotated, and copied with that into the other repository. */
  readonly #promoted = async (): Promise<void> => {
    const { artifact, sha256 } = await this.#published('releases')
    const label = `label-${this.#files}`
    const value = { labels: [label] }
    await this.#ask({ method: 'PUT', path: `${artifact}/annotations`, json: { expectedRevision: 0, value } }, 200)
    this.#promise({ is: 'labelled', place: `${artifact}/annotations`, label })
    const told = await this.#ask({ path: `${artifact}/promote`, json: { mode: 'copy', target: 'kept' } }, 201)
    const copy = `/api/v1/repositories/kept/artifacts/${told.json.artifactId}`
    this.#promise({ is: 'there', place: `${copy}/content`, sha256 })
  }
}
