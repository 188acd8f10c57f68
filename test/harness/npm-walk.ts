import assert from 'node:assert/strict'
import { textBytes } from '../../src/kernel/text-bytes.ts'
import { hour } from '../../src/kernel/units.ts'
import type { Ask, Told } from './client.ts'
import { expectAnswer } from './expect.ts'
import type { Inspection } from './inspection.ts'
import { ModelledPackage, type NpmChange } from './modelled-npm.ts'
import { escaped, packed, publishDocument } from './npm-documents.ts'
import { npmPublisher } from './npm-packages.ts'
import { createRepository } from './people.ts'
import type { TestService } from './service.ts'
import { activeKey, binding, createServiceAccount } from './service-keys.ts'

export const walkedNames = ['plain', '@scope/other'] as const
type Name = (typeof walkedNames)[number]

/** What somebody wants to do next, without the state in which it will be done. */
export type Wish =
  | { readonly kind: 'publish'; readonly version: string; readonly tag: string }
  | { readonly kind: 'tag'; readonly tag: string; readonly version: string }
  | { readonly kind: 'untag'; readonly tag: string }
  | { readonly kind: 'deprecate'; readonly versions: readonly string[]; readonly sentence: string }
  | { readonly kind: 'unpublish'; readonly versions: readonly string[]; readonly stale: boolean }
  | { readonly kind: 'restore'; readonly version: string }
  | { readonly kind: 'own'; readonly owner: string; readonly stale: boolean }

const actions = [
  ...(['content.read', 'artifact.read', 'artifact.list', 'artifact.delete', 'asset.write', 'asset.restore'] as const),
  ...(['upload.create', 'upload.write', 'upload.complete', 'package.publish'] as const),
]

interface Asked {
  readonly change: NpmChange
  readonly request: Ask
  readonly told: Told
}

/** A repository with two packages beside the model of them. */
export class NpmWalk {
  readonly #service: TestService
  readonly #inspection: Inspection
  readonly #repository: string
  readonly #key: string
  readonly #account: string
  readonly #graceMs: number
  readonly #models = new Map<Name, ModelledPackage>(walkedNames.map((name) => [name, new ModelledPackage()]))
  /** What was sent for each version, whoever was the first. */
  readonly #sent = new Map<string, readonly Buffer[]>()
  #salt = 0

  private constructor(
    service: TestService,
    inspection: Inspection,
    repository: string,
    key: { readonly secret: string; readonly account: string },
    graceMs: number,
  ) {
    this.#service = service
    this.#inspection = inspection
    this.#repository = repository
    this.#key = key.secret
    this.#account = key.account
    this.#graceMs = graceMs
  }

  static async begin(service: TestService, inspection: Inspection, salt: string, graceHours: number): Promise<NpmWalk> {
    await createRepository(service, salt)
    const bindings = [binding(salt, ...actions)]
    const account = await createServiceAccount(service, bindings)
    const { secret } = await activeKey(service, account.id, { bindings })
    return new NpmWalk(service, inspection, salt, { secret, account: account.name }, graceHours * hour)
  }

  get #npm() {
    return npmPublisher(this.#service, this.#key, this.#repository)
  }

  #model(name: Name): ModelledPackage {
    const model = this.#models.get(name)
    assert.ok(model !== undefined)
    return model
  }

  /** Several ask at once. Whatever the order was in which they came: it was one, and its end is what is there. */
  async act(name: Name, wishes: readonly Wish[]): Promise<void> {
    const wanted = await Promise.all(wishes.map((wish) => this.#requestFor(name, wish)))
    const asked = await Promise.all(
      wanted.map(async (each) => ({
        ...each,
        told: await this.#service.ask({ credential: this.#key, ...each.request }),
      })),
    )
    const revisionOf = ({ told }: Asked): number => Number.parseInt(told.json.rev, 10)
    const done = asked.filter(({ told }) => told.status < 300)
    // One that is brought back does not say at which revision; it comes alone.
    const inOrder = done.toSorted((one, other) => revisionOf(one) - revisionOf(other))
    const states = [this.#model(name)]
    for (const { change, told } of inOrder) {
      const next = (states.at(-1) ?? new ModelledPackage()).copy()
      assert.equal(next.apply(change, this.#account, this.#service.clock.now()), told.status, JSON.stringify(change))
      if (change.kind !== 'restore') assert.equal(next.revision, Number.parseInt(told.json.rev, 10))
      states.push(next)
    }
    for (const { change, told } of asked)
      if (told.status >= 300)
        assert.ok(
          states.some((state) => state.copy().apply(change, this.#account, 0) === told.status),
          `${told.status} ${told.text} for ${JSON.stringify(change)}`,
        )
    this.#models.set(name, states.at(-1) ?? new ModelledPackage())
    await this.compare(name)
  }

  async #requestFor(name: Name, wish: Wish): Promise<{ readonly change: NpmChange; readonly request: Ask }> {
    const { at } = this.#npm
    const model = this.#model(name)
    const path = at(`/${escaped(name)}`)
    const tags = at(`/-/package/${escaped(name)}/dist-tags`)
    const there = model.live.map(({ version }) => version)
    const atRevision = (stale: boolean): number => (stale ? model.revision - 1 : model.revision)
    const revPath = async (stale: boolean): Promise<string> => {
      const { json } = await this.#service.ask({ path, credential: this.#key })
      const id = String(json._rev ?? '0-0').replace(/^\d+/, '')
      return `${path}/-rev/${atRevision(stale)}${id}`
    }
    switch (wish.kind) {
      case 'publish': {
        const { version, tag } = wish
        this.#salt += 1
        const tarball = await packed({ name, version, salt: this.#salt })
        const { document } = await publishDocument({ name, version }, { tag, tarball })
        const called = `${name}@${version}`
        this.#sent.set(called, [...(this.#sent.get(called) ?? []), tarball])
        const change = { kind: 'publish', version, tag, size: tarball.byteLength } as const
        return { change, request: { method: 'PUT', path, json: document } }
      }
      case 'tag':
        return { change: wish, request: { method: 'PUT', path: `${tags}/${wish.tag}`, json: wish.version } }
      case 'untag':
        return { change: wish, request: { method: 'DELETE', path: `${tags}/${wish.tag}` } }
      case 'deprecate': {
        const said = Object.fromEntries(wish.versions.map((version) => [version, wish.sentence]))
        const versions = Object.fromEntries(wish.versions.map((version) => [version, { deprecated: wish.sentence }]))
        return { change: { kind: 'deprecate', said }, request: { method: 'PUT', path, json: { _id: name, versions } } }
      }
      case 'unpublish': {
        const left = there.filter((version) => !wish.versions.includes(version))
        const change = { kind: 'unpublish', left, at: atRevision(wish.stale) } as const
        const revision = await revPath(wish.stale)
        if (left.length === 0) return { change, request: { method: 'DELETE', path: revision } }
        const versions = Object.fromEntries(left.map((version) => [version, {}]))
        return { change, request: { method: 'PUT', path: revision, json: { _id: name, versions } } }
      }
      case 'restore': {
        const restore = `/api/v1/repositories/${this.#repository}/npm/versions/restore`
        return { change: wish, request: { path: restore, json: { package: name, version: wish.version } } }
      }
      case 'own': {
        const change = { kind: 'own', owner: wish.owner, at: atRevision(wish.stale) } as const
        const json = { _id: name, maintainers: [{ name: wish.owner, email: '' }] }
        return { change, request: { method: 'PUT', path: await revPath(wish.stale), json } }
      }
    }
  }

  upkeepRan(): void {
    for (const model of this.#models.values()) model.upkeep(this.#service.clock.now(), this.#graceMs)
  }

  /** Whatever tells of a package tells what the model says. */
  async compare(name: Name): Promise<void> {
    const model = this.#model(name)
    const path = this.#npm.at(`/${escaped(name)}`)
    const ask = (asked: string, status = 200) =>
      expectAnswer(this.#service, { path: asked, credential: this.#key }, status)
    const listed = `/api/v1/repositories/${this.#repository}/npm`
    const named = `package=${encodeURIComponent(name)}`
    const live = model.live.map(({ version }) => version)
    const [told] = (await ask(`${listed}/packages?contains=${encodeURIComponent(name)}`)).json.items
    const { items: deleted } = (await ask(`${listed}/versions/deleted?${named}`)).json
    assert.deepEqual(
      deleted.map(({ version }: { version: string }) => version),
      model.deleted.map(({ version }) => version).toReversed(),
    )
    if (live.length === 0) {
      await ask(path, 404)
      await ask(`${listed}/versions?${named}`, 404)
      assert.equal(told, undefined)
      return
    }
    const tags = Object.fromEntries(model.tags)
    assert.deepEqual([told.versions, told.latest], [live.length, tags['latest'] ?? null])
    const full = (await ask(path)).json
    const brief = (
      await this.#npm.document(name, { accept: 'application/vnd.npm.install-v1+json', 'accept-encoding': 'identity' })
    ).json
    assert.equal(Number.parseInt(full._rev, 10), model.revision)
    assert.deepEqual(
      full.maintainers.map((each: { name: string }) => each.name),
      model.owners,
    )
    const times = Object.fromEntries(model.live.map(({ version, publishedAt }) => [version, publishedAt]))
    for (const document of [full, brief]) {
      assert.deepEqual(document['dist-tags'], tags)
      assert.deepEqual(document.time, { created: model.createdAt, modified: model.modifiedAt, ...times })
      assert.deepEqual(Object.keys(document.versions).toSorted(), live.toSorted())
      for (const { version, deprecated } of model.live)
        assert.equal(document.versions[version].deprecated ?? null, deprecated, version)
    }
    assert.deepEqual((await ask(this.#npm.at(`/-/package/${escaped(name)}/dist-tags`))).json, tags)
    const { items } = (await ask(`${listed}/versions?${named}`)).json
    const tagsOf = (version: string) => [...model.tags].filter(([, at]) => at === version).map(([tag]) => tag)
    assert.deepEqual(
      items.map(({ version, size, tags: at }: { version: string; size: string; tags: string[] }) => [
        ...[version, size, at.toSorted()],
      ]),
      model.live.toReversed().map(({ version, size }) => [...[version, String(size), tagsOf(version).toSorted()]]),
    )
    for (const { version, size } of model.live) await this.#compareTarball(name, version, size, full.versions[version])
  }

  async #compareTarball(name: Name, version: string, size: number, told: { dist: { tarball: string } }): Promise<void> {
    const { pathname } = new URL(told.dist.tarball)
    const { bytes } = await expectAnswer(this.#service, { path: pathname, credential: this.#key }, 200)
    assert.equal(bytes.byteLength, size)
    const sent = this.#sent.get(`${name}@${version}`) ?? []
    assert.ok(
      sent.some((tarball) => tarball.equals(bytes)),
      `${name}@${version}`,
    )
  }

  /** All of it, and what the repository counts. */
  async compareAll(): Promise<void> {
    for (const name of walkedNames) await this.compare(name)
    const { reader } = this.#inspection.database
    const said = await reader
      .selectFrom('npm_versions')
      .innerJoin('npm_packages', 'npm_packages.id', 'npm_versions.package_id')
      .select(['npm_versions.deleted_at', 'npm_versions.manifest', 'npm_versions.readme', 'npm_versions.attestations'])
      .where('npm_packages.repository', '=', this.#repository)
      .execute()
    const sum = (kept: (model: ModelledPackage) => readonly { readonly size: number }[], deleted: boolean): number =>
      [...this.#models.values()].flatMap(kept).reduce((bytes, { size }) => bytes + size, 0) +
      said
        .filter(({ deleted_at }) => (deleted_at !== null) === deleted)
        .reduce((bytes, { manifest, readme, attestations }) => bytes + textBytes(manifest, readme, attestations), 0)
    const counted = await reader
      .selectFrom('repositories')
      .select(['published_bytes', 'retired_bytes', 'pending_bytes'])
      .where('id', '=', this.#repository)
      .executeTakeFirstOrThrow()
    assert.deepEqual(
      { ...counted },
      {
        published_bytes: sum(({ live }) => live, false),
        retired_bytes: sum(({ deleted }) => deleted, true),
        pending_bytes: 0,
      },
    )
  }
}
