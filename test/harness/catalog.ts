import assert from 'node:assert/strict'
import type { Ask, Told } from './client.ts'
import type { TestEngine } from './engines.ts'
import { expectAnswer } from './expect.ts'
import { type Inspection, openInspection } from './inspection.ts'
import { createOwner, createPerson, createRepository, grant, type Person, signIn } from './people.ts'
import type { Environment } from './processes.ts'
import { newFile, publish } from './publishing.ts'
import { inDatabase } from './rows.ts'
import { startService, type TestService } from './service.ts'
import { activeKey, binding, createServiceAccount } from './service-keys.ts'

/**
 * A service with one repository, people who write to it, and a key that may delete: what tests of the catalog begin
 * with.
 */
export class Catalog {
  readonly service: TestService
  readonly inspection: Inspection
  writer: Person
  reader: Person
  /** Secret of a service key that may delete and do what a writer may. */
  readonly keeper: string
  /** How the keeper's service account is named in the journal. */
  readonly keeperActor: string
  readonly repository = 'one'
  readonly base = '/api/v1/repositories/one'
  #files = 0

  private constructor(
    service: TestService,
    inspection: Inspection,
    people: [Person, Person],
    keeper: [string, string],
  ) {
    this.service = service
    this.inspection = inspection
    ;[this.writer, this.reader] = people
    ;[this.keeper, this.keeperActor] = keeper
  }

  static async open(engine: TestEngine, settings: Environment = {}): Promise<Catalog> {
    const service = await startService(engine, { settings, roles: { gateway: 'api', worker: false } })
    const inspection = await openInspection(service)
    await createOwner(service)
    const repository = 'one'
    await createRepository(service, repository)
    const writer = await createPerson(service, 'writer')
    await grant(service, writer, repository, 'write')
    const reader = await createPerson(service, 'reader')
    await grant(service, reader, repository, 'read')
    const asWriter = [
      'artifact.read',
      'asset.write',
      'reference.write',
      'artifact.promote',
      'annotation.write',
    ] as const
    const bindings = [
      binding(repository, 'artifact.delete', 'storage.manage', 'storage.read', 'diagnostics.read', ...asWriter),
    ]
    const account = await createServiceAccount(service, bindings)
    const { secret } = await activeKey(service, account.id, { bindings })
    return new Catalog(service, inspection, [writer, reader], [secret, `service-account:${account.id}`])
  }

  /** Time passes, and people sign in again. */
  async pass(ms: number): Promise<void> {
    this.service.clock.advance(ms)
    this.writer = { ...this.writer, token: await signIn(this.service, this.writer.name) }
    this.reader = { ...this.reader, token: await signIn(this.service, this.reader.name) }
  }

  async close(): Promise<void> {
    await this.inspection.close()
    await this.service.stop()
  }

  /** Asks as the writer unless another credential is given; the path goes on from the repository. */
  ask(asked: Ask): Promise<Told> {
    return this.service.ask({ credential: this.writer.token, ...asked, path: this.base + asked.path })
  }

  expect(asked: Ask, status: number, code?: string): Promise<Told> {
    return expectAnswer(this, asked, status, code)
  }

  async get(path: string): Promise<Told['json']> {
    return (await this.expect({ path }, 200)).json
  }

  published(content: string | Uint8Array = `content ${++this.#files}`): Promise<string> {
    return publish(this.service, this.writer.token, this.repository, newFile(`file ${++this.#files}`, content))
  }

  remove(id: string, expectedAnnotationRevision = 0): Promise<Told> {
    return this.ask({
      method: 'DELETE',
      path: `/artifacts/${id}`,
      credential: this.keeper,
      json: { expectedAnnotationRevision },
    })
  }

  /** Deletes a file that nothing keeps; answers what a deletion tells. */
  async removed(id: string, expectedAnnotationRevision = 0): Promise<Told['json']> {
    const told = await this.remove(id, expectedAnnotationRevision)
    assert.equal(told.status, 200, told.text)
    return told.json
  }

  restore(id: string): Promise<Told> {
    return this.ask({ method: 'POST', path: `/artifacts/${id}/restore`, credential: this.keeper })
  }

  /** What stands in the way of deleting the file: what is shown, which has to be what a deletion is told as well. */
  async blockers(id: string): Promise<string[]> {
    return (await this.expect({ path: `/artifacts/${id}/deletion`, credential: this.keeper }, 200)).json.blockers
  }

  /** What was done with a file, oldest first. */
  async actions(id: string): Promise<string[]> {
    return (await this.journal(id)).map(({ action }) => action)
  }

  /** What the journal tells of a file, oldest first. */
  journal(id: string): Promise<{ action: string; detail: string | null; actor: string; comment: string | null }[]> {
    return inDatabase(this.service, (q) =>
      q
        .selectFrom('journal')
        .select(['action', 'detail', 'actor', 'comment'])
        .where('artifact_id', '=', id)
        .orderBy('repository')
        .orderBy('sequence')
        .execute(),
    )
  }
}
