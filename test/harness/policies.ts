import assert from 'node:assert/strict'
import { parseVersion, versionKey } from '../../src/features/catalog/packages/version-order.ts'
import type { RepositoryAction } from '../../src/kernel/actions.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Ask, Told } from './client.ts'
import type { TestEngine } from './engines.ts'
import { expectAnswer } from './expect.ts'
import { type Inspection, openInspection } from './inspection.ts'
import { fillPackages, register } from './packages.ts'
import { createOwner, createRepository } from './people.ts'
import { newFile, publish } from './publishing.ts'
import { inDatabase } from './rows.ts'
import { type ServiceOptions, startService, type TestService } from './service.ts'
import { activeKey, binding, createServiceAccount, type TestKey, type TestServiceAccount } from './service-keys.ts'
import { upack } from './zip.ts'

/** A service without a worker, for tests of storage policies: each has a repository of its own. */
export class PolicyBench {
  readonly service: TestService
  readonly inspection: Inspection
  #repositories = 0

  private constructor(service: TestService, inspection: Inspection) {
    this.service = service
    this.inspection = inspection
  }

  static async open(engine: TestEngine, options: ServiceOptions = {}): Promise<PolicyBench> {
    const service = await startService(engine, { roles: { gateway: 'api', worker: false }, ...options })
    await createOwner(service)
    return new PolicyBench(service, await openInspection(service))
  }

  async close(): Promise<void> {
    await this.inspection.close()
    await this.service.stop()
  }

  /** A repository with nothing in it. */
  async fresh(id?: string): Promise<PolicyPlace> {
    this.#repositories += 1
    const repository = id ?? `r${this.#repositories}`
    await createRepository(this.service, repository)
    return PolicyPlace.in(this.service, repository)
  }
}

const everything = [
  'repository.read',
  'storage.read',
  'storage.manage',
  'diagnostics.read',
  'artifact.read',
  'artifact.list',
  'artifact.delete',
  'content.read',
  'upload.create',
  'upload.read',
  'upload.write',
  'upload.complete',
  'package.read',
  'package.publish',
  'asset.write',
  'artifact.promote',
  'audit.read',
  'annotation.read',
  'annotation.write',
  'reference.write',
] as const satisfies readonly RepositoryAction[]

const empty = { minAgeHours: 0, protectedLabels: [], channels: [] }

/** One repository, and a service key that may do everything there. */
export class PolicyPlace {
  readonly service: TestService
  readonly repository: string
  readonly account: TestServiceAccount
  readonly key: TestKey
  #files = 0

  private constructor(service: TestService, repository: string, account: TestServiceAccount, key: TestKey) {
    this.service = service
    this.repository = repository
    this.account = account
    this.key = key
  }

  static async in(service: TestService, repository: string): Promise<PolicyPlace> {
    const bindings = [binding(repository, ...everything)]
    const account = await createServiceAccount(service, bindings)
    return new PolicyPlace(service, repository, account, await activeKey(service, account.id, { bindings }))
  }

  /** Another key, of an account of its own, that may do this much here. */
  async another(...actions: RepositoryAction[]): Promise<TestKey> {
    const bindings = [binding(this.repository, ...(actions.length === 0 ? everything : actions))]
    const account = await createServiceAccount(this.service, bindings)
    return activeKey(this.service, account.id, { bindings })
  }

  get base(): string {
    return `/api/v1/repositories/${this.repository}`
  }

  /** How the key is named in the journal. */
  get actor(): string {
    return `service-account:${this.account.id}`
  }

  ask(asked: Ask): Promise<Told> {
    return this.service.ask({ credential: this.key.secret, ...asked, path: this.base + asked.path })
  }

  expect(asked: Ask, status: number, code?: string): Promise<Told> {
    return expectAnswer(this, asked, status, code)
  }

  async get(path: string): Promise<Told['json']> {
    return (await this.expect({ path }, 200)).json
  }

  put(json: object, credential = this.key.secret): Promise<Told> {
    return this.ask({ method: 'PUT', path: '/storage/policy', credential, json })
  }

  /** Changes these fields of the policy; what a test does not speak of keeps nothing. */
  async save(change: object, credential = this.key.secret): Promise<Told['json']> {
    const { revision: expectedRevision, policy } = await this.get('/storage/policy')
    const told = await this.put({ expectedRevision, policy: { ...policy, ...empty, ...change } }, credential)
    assert.equal(told.status, 200, told.text)
    return told.json
  }

  /** Runs the policy; the outcome of each file. */
  async run(credential = this.key.secret): Promise<Record<string, string>> {
    const { revision: expectedRevision } = await this.get('/storage/policy')
    const run = { method: 'POST', path: '/storage/run', credential, json: { expectedRevision } }
    const { items } = (await this.expect(run, 200)).json
    return Object.fromEntries(items.map(({ id, outcome }: { id: string; outcome: string }) => [id, outcome]))
  }

  async refusedRun(expectedRevision: number, code: string): Promise<void> {
    await this.expect({ method: 'POST', path: '/storage/run', json: { expectedRevision } }, 409, code)
  }

  file(labels: readonly string[] = []): Promise<string> {
    const content = `content ${++this.#files} of ${this.repository}`
    return publish(this.service, this.key.secret, this.repository, newFile(`file ${this.#files}`, content, { labels }))
  }

  /** Publishes and registers a package version. */
  async version(name: string, version: string, labels: readonly string[] = []): Promise<string> {
    const content = `${++this.#files} of ${this.repository}`
    const bytes = upack({ name, version }, [{ name: 'package/number.txt', content }])
    const file = newFile(`${name}.upack`, bytes, { labels })
    const id = await publish(this.service, this.key.secret, this.repository, file)
    const told = await register(this.service, this.key.secret, this.repository, id)
    assert.equal(told.status, 200, told.text)
    return id
  }

  /** So many versions of a package, published a millisecond after each other. */
  async many(name: string, count: number): Promise<string[]> {
    const like = await this.version(name, '0.0.0')
    const start = this.service.clock.now() - count
    const rows = Array.from({ length: count - 1 }, (_, n) => {
      const version = `1.0.${n}`
      const parsed = parseVersion(version)
      assert.ok(parsed !== null)
      const published_at = new Date(start + n).toISOString()
      return {
        id: newId(start + n),
        name,
        version,
        version_key: versionKey(parsed),
        prerelease: 0 as const,
        published_at,
      }
    })
    await fillPackages(this.service, like, rows)
    return [...rows.map(({ id }) => id), like]
  }

  async refer(id: string): Promise<void> {
    const path = `/artifacts/${id}/references`
    assert.equal((await this.ask({ method: 'POST', path, json: { key: 'kept' } })).status, 204)
  }

  async remove(id: string): Promise<Told['json']> {
    const json = { expectedAnnotationRevision: 0 }
    return (await this.expect({ method: 'DELETE', path: `/artifacts/${id}`, json }, 200)).json
  }

  /** Ids of the package versions that are there. */
  async versions(): Promise<string[]> {
    const { items } = await this.get('/packages?limit=100')
    return items.map(({ artifactId }: { artifactId: string }) => artifactId)
  }

  /** Deletions in the order in which they happened. */
  deletions(): Promise<{ id: string; actor: string }[]> {
    return inDatabase(this.service, (q) =>
      q
        .selectFrom('journal')
        .select(['artifact_id as id', 'actor'])
        .where('repository', '=', this.repository)
        .where('action', '=', 'artifact.delete')
        .orderBy('sequence')
        .execute(),
    )
  }

  /** What operators were told, oldest first. */
  async events(query = ''): Promise<Told['json'][]> {
    return (await this.get(`/storage/events${query}`)).items
  }
}
