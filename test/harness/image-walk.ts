import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { day, hour } from '../../src/kernel/units.ts'
import type { Ask, Told } from './client.ts'
import { expectAnswer } from './expect.ts'
import { artifactTypes, recipesOf, type Wish } from './image-recipes.ts'
import { indexType } from './images.ts'
import { type Algorithm, type Bytes, bytesWith, ModelledRepository, type Recipe } from './modelled-images.ts'
import { createRepository } from './people.ts'
import type { TestService } from './service.ts'
import { activeKey, binding, createServiceAccount } from './service-keys.ts'

export type Way = 'whole' | 'with the first request' | 'streamed' | 'in chunks'

/** One image of one repository. */
export interface Place {
  readonly repository: string
  readonly name: string
  readonly model: ModelledRepository
}

/** An upload that was begun and left. */
interface Left {
  readonly path: string
  readonly place: Place
  readonly of: Bytes
  readonly stored: number
  readonly expiresAt: number
}

const names = ['app', 'team/tool'] as const
const actions = [
  ...(['content.read', 'artifact.read', 'artifact.list', 'artifact.delete', 'asset.write'] as const),
  ...(['upload.create', 'upload.write', 'upload.complete', 'storage.read', 'storage.manage'] as const),
]

/** Two repositories with two images each, beside the model of them. What is asked is told by both. */
export class ImageWalk {
  readonly recipes: readonly Recipe[]
  readonly contents: readonly Bytes[]
  readonly places: readonly Place[]
  left: Left[] = []
  readonly #service: TestService
  readonly #key: string

  private constructor(service: TestService, key: string, salt: string, wishes: readonly Wish[], places: Place[]) {
    this.#service = service
    this.#key = key
    const sizes = [2, 300, 5_000, 70_000]
    const salted = sizes.map((size) => Buffer.alloc(size + salt.length, salt))
    this.contents = [Buffer.alloc(0), ...salted].map(bytesWith)
    this.recipes = recipesOf(wishes, this.contents, salt)
    this.places = places
  }

  static async begin(
    service: TestService,
    salt: string,
    wishes: readonly Wish[],
    graceHours: number,
  ): Promise<ImageWalk> {
    const ids = [`${salt}-one`, `${salt}-two`] as const
    for (const id of ids) await createRepository(service, id)
    const bindings = ids.map((id) => binding(id, ...actions))
    const account = await createServiceAccount(service, bindings)
    const { secret } = await activeKey(service, account.id, { bindings })
    // The second one has a grace period of its own.
    const path = `/api/v1/repositories/${ids[1]}/cleanup`
    const json = { expectedRevision: 0, graceHours: 2 }
    await expectAnswer(service, { method: 'PUT', path, credential: secret, json }, 200)
    const places = ids.flatMap((repository) => {
      const model = new ModelledRepository(names, (repository === ids[0] ? graceHours : 2) * hour)
      return names.map((name) => ({ repository, name, model }))
    })
    return new ImageWalk(service, secret, salt, wishes, places)
  }

  get now(): number {
    return this.#service.clock.now()
  }

  ask(request: Ask): Promise<Told> {
    return this.#service.ask({ credential: this.#key, ...request })
  }

  async expect(request: Ask, status: number, code?: string): Promise<Told> {
    const told = await this.ask(request)
    const what = `${request.method ?? 'GET'} ${request.path}: ${told.status} ${told.text.slice(0, 400)}`
    assert.equal(told.status, status, what)
    if (code !== undefined) assert.equal(told.json.errors[0].code, code, what)
    return told
  }

  at({ repository, name }: Place, rest: string): string {
    return `/v2/${repository}/${name}/${rest}`
  }

  /** Sends a blob, by whichever way clients have. */
  async send(place: Place, of: Bytes, algorithm: Algorithm, way: Way): Promise<void> {
    const { bytes, [algorithm]: digest } = of
    const uploads = this.at(place, 'blobs/uploads/')
    let told: Told
    if (way === 'with the first request')
      told = await this.expect({ method: 'POST', path: `${uploads}?digest=${digest}`, body: bytes }, 201)
    else {
      const path = await this.#begin(place)
      const half = Math.floor(bytes.byteLength / 2)
      const [first, second] =
        way === 'whole'
          ? [null, bytes]
          : way === 'streamed'
            ? [bytes, '']
            : [bytes.subarray(0, half), bytes.subarray(half)]
      if (first !== null) await this.expect({ method: 'PATCH', path, body: first }, 202)
      told = await this.expect({ method: 'PUT', path: `${path}?digest=${digest}`, body: second }, 201)
    }
    assert.equal(told.headers['docker-content-digest'], digest)
    place.model.countOn(of, algorithm, this.now)
  }

  async #begin(place: Place): Promise<string> {
    const told = await this.expect({ method: 'POST', path: this.at(place, 'blobs/uploads/') }, 202)
    return String(told.headers.location)
  }

  /** Begins an upload, sends a part of it, and leaves it or cancels it. */
  async breakOff(place: Place, of: Bytes, isCancelled: boolean): Promise<void> {
    const path = await this.#begin(place)
    const half = of.bytes.subarray(0, Math.floor(of.bytes.byteLength / 2))
    if (half.byteLength > 0) await this.expect({ method: 'PATCH', path, body: half }, 202)
    if (isCancelled) {
      await this.expect({ method: 'DELETE', path }, 204)
      await this.expect({ path }, 404, 'BLOB_UPLOAD_UNKNOWN')
      return
    }
    const lasts = half.byteLength === 0 ? hour : day
    this.left.push({ path, place, of, stored: half.byteLength, expiresAt: this.now + lasts })
  }

  /** Goes on with an upload that was left: to its end, after it was said to be something else. */
  async goOn(which: number): Promise<void> {
    const left = this.left[which % Math.max(1, this.left.length)]
    if (left === undefined || left.expiresAt <= this.now) return
    const { path, place, of, stored } = left
    const rest = of.bytes.subarray(stored)
    const wrong = `sha256:${hash('sha256', 'something else')}`
    await this.expect({ method: 'PUT', path: `${path}?digest=${wrong}`, body: '' }, 400, 'DIGEST_INVALID')
    await this.expect({ method: 'PUT', path: `${path}?digest=${of.sha256}`, body: rest }, 201)
    this.left = this.left.filter((each) => each !== left)
    place.model.countOn(of, 'sha256', this.now)
  }

  /** Mounts a blob from the other repository, or from wherever it is. */
  async mount(place: Place, of: Bytes, algorithm: Algorithm, says: boolean): Promise<void> {
    const others = this.places.filter(({ repository }) => repository !== place.repository)
    const [from] = others
    assert.ok(from !== undefined)
    const digest = of[algorithm]
    const query = `mount=${digest}${says ? `&from=${from.repository}/${from.name}` : ''}`
    const request = { method: 'POST', path: this.at(place, `blobs/uploads/?${query}`) }
    if ([place, from].every(({ model }) => model.blob(digest) === undefined)) {
      const begun = await this.expect(request, 202)
      await this.expect({ method: 'DELETE', path: String(begun.headers.location) }, 204)
      return
    }
    const told = await this.expect(request, 201)
    assert.equal(told.headers.location, this.at(place, `blobs/${digest}`))
    place.model.countOn(of, algorithm, this.now)
  }

  /** Pushes a manifest; `whole` sends all that it names before, as clients do. */
  async push(place: Place, of: Recipe, by: Algorithm | 'tag', tags: readonly string[], whole: boolean): Promise<void> {
    if (whole) await this.#pushNamed(place, of)
    const algorithm = by === 'tag' ? 'sha256' : by
    const [tag, ...beside] = tags
    const reference = by === 'tag' ? (tag ?? 'latest') : of[by]
    const more = by === 'tag' ? beside : tags
    const query = more.length === 0 ? '' : `?${more.map((each) => `tag=${each}`).join('&')}`
    const request = {
      method: 'PUT',
      path: this.at(place, `manifests/${reference}${query}`),
      headers: { 'content-type': of.mediaType },
      body: of.bytes,
    }
    const missing = place.model.missing(place.name, of)
    if (missing.length > 0) {
      const told = await this.expect(request, 400, 'MANIFEST_BLOB_UNKNOWN')
      const named = told.json.errors.map(({ detail }: { detail: { digest: string } }) => detail.digest)
      assert.deepEqual(named.sort(), missing.toSorted())
      return
    }
    const told = await this.expect(request, 201)
    assert.equal(told.headers['docker-content-digest'], of[algorithm])
    assert.equal(told.headers['oci-subject'], of.subject ?? undefined)
    place.model.push(place.name, of, algorithm, by === 'tag' ? [reference, ...more] : more, this.now)
  }

  async #pushNamed(place: Place, of: Recipe): Promise<void> {
    const algorithmOf = (digest: string): Algorithm => (digest.startsWith('sha512:') ? 'sha512' : 'sha256')
    for (const digest of place.model.missing(place.name, of)) {
      const algorithm = algorithmOf(digest)
      const content = this.contents.find((each) => each[algorithm] === digest)
      const child = this.recipes.find((each) => each[algorithm] === digest)
      if (content !== undefined) await this.send(place, content, algorithm, 'whole')
      else if (child !== undefined) await this.push(place, child, algorithm, [], true)
    }
  }

  async untag(place: Place, tag: string): Promise<void> {
    const isThere = place.model.image(place.name).tags.has(tag)
    await this.expect({ method: 'DELETE', path: this.at(place, `manifests/${tag}`) }, isThere ? 202 : 404)
    place.model.untag(place.name, tag, this.now)
  }

  async deleteManifest(place: Place, of: Recipe, algorithm: Algorithm): Promise<void> {
    const isThere = place.model.image(place.name).find(of[algorithm]) !== undefined
    await this.expect({ method: 'DELETE', path: this.at(place, `manifests/${of[algorithm]}`) }, isThere ? 202 : 404)
    if (isThere) place.model.deleteManifest(place.name, of, this.now)
  }

  async deleteBlob(place: Place, of: Bytes, algorithm: Algorithm): Promise<void> {
    const there = place.model.blob(of[algorithm])
    const status = there === undefined ? 404 : there.unusedSince === null ? 405 : 202
    await this.expect({ method: 'DELETE', path: this.at(place, `blobs/${of[algorithm]}`) }, status)
    if (status === 202) place.model.blobs.delete(of.sha256)
  }

  /** What the upkeep was run for has happened. */
  upkeepRan(): void {
    for (const model of this.models) model.upkeep(this.now)
    this.left = this.left.filter(({ expiresAt }) => expiresAt > this.now)
  }

  get models(): ReadonlySet<ModelledRepository> {
    return new Set(this.places.map(({ model }) => model))
  }

  /** The blobs of the repository, and what it counts, are as the model has them. */
  async compareBlobs(place: Place): Promise<void> {
    await this.#compareUsage(place)
    await Promise.all(
      this.#digestsOf([...this.contents, ...this.recipes], (digest) => place.model.blob(digest)).map(
        ([digest, there]) => this.#isThere(this.at(place, `blobs/${digest}`), digest, there),
      ),
    )
  }

  /** So are the tags, manifests and referrers of the image. */
  async compareImage(place: Place): Promise<void> {
    const image = place.model.image(place.name)
    const tags = [...image.tags.keys()].sort()
    assert.deepEqual((await this.expect({ path: this.at(place, 'tags/list') }, 200)).json.tags, tags)
    for (const [tag, { digest, algorithm }] of image.tags) {
      const found = image.find(digest)
      assert.ok(found !== undefined, `${tag} is at what is not there`)
      await this.#isThere(this.at(place, `manifests/${tag}`), found.of[algorithm], found)
    }
    const manifests = this.#digestsOf(this.recipes, (digest) => image.find(digest))
    const subjects = new Set(this.recipes.flatMap(({ subject }) => subject ?? []))
    await Promise.all([
      ...manifests.map(([digest, there]) => this.#isThere(this.at(place, `manifests/${digest}`), digest, there)),
      ...[...subjects].map((digest) => this.#compareReferrers(place, digest)),
    ])
  }

  /** SHA-256 of all that may be there, and each SHA-512 by which something is. */
  #digestsOf<T>(all: readonly Bytes[], find: (digest: string) => T | undefined): (readonly [string, T | undefined])[] {
    return all.flatMap(({ sha256, sha512 }) => {
      const known = find(sha512)
      return [[sha256, find(sha256)] as const, ...(known === undefined ? [] : [[sha512, known] as const])]
    })
  }

  /** Nothing is there under a digest by which nobody called it. */
  async comparesUnknown(place: Place): Promise<void> {
    for (const { sha512 } of [...this.contents, ...this.recipes]) {
      if (place.model.blob(sha512) === undefined)
        await this.#isThere(this.at(place, `blobs/${sha512}`), sha512, undefined)
      if (place.model.image(place.name).find(sha512) === undefined)
        await this.#isThere(this.at(place, `manifests/${sha512}`), sha512, undefined)
    }
  }

  async #compareUsage({ repository, model }: Place): Promise<void> {
    const { json } = await this.expect({ path: `/api/v1/repositories/${repository}/storage/usage` }, 200)
    const stored = this.left.filter(({ place }) => place.model === model).reduce((sum, each) => sum + each.stored, 0)
    assert.deepEqual([json.publishedBytes, json.retiredBytes], [String(model.bytes), '0'], repository)
    assert.ok(stored === 0 ? json.pendingBytes === '0' : Number(json.pendingBytes) >= stored, json.pendingBytes)
  }

  async #isThere(path: string, digest: string, there: { readonly of: Bytes } | undefined): Promise<void> {
    if (there === undefined) return void (await this.expect({ method: 'HEAD', path }, 404))
    const told = await this.expect({ path }, 200)
    assert.ok(told.bytes.equals(there.of.bytes), path)
    assert.equal(told.headers['docker-content-digest'], digest)
    if (path.includes('/manifests/') && 'mediaType' in there.of)
      assert.equal(told.headers['content-type'], there.of.mediaType)
  }

  async #compareReferrers(place: Place, digest: string): Promise<void> {
    const path = this.at(place, `referrers/${digest}`)
    const referrers = place.model.image(place.name).referrers(digest)
    const algorithm = digest.startsWith('sha512:') ? 'sha512' : 'sha256'
    const expected = referrers.map(({ of }) => ({
      ...{ mediaType: of.mediaType, digest: of[algorithm], size: of.bytes.byteLength },
      ...(of.artifactType === null ? {} : { artifactType: of.artifactType }),
      ...(Object.keys(of.annotations ?? {}).length === 0 ? {} : { annotations: of.annotations }),
    }))
    const told = await this.expect({ path }, 200)
    assert.equal(told.headers['content-type'], indexType)
    assert.deepEqual(told.json.manifests, expected)
    if (expected.length === 0) return
    const [type = ''] = artifactTypes
    const filtered = await this.expect({ path: `${path}?artifactType=${encodeURIComponent(type)}` }, 200)
    assert.deepEqual(
      filtered.json.manifests,
      expected.filter((each) => Reflect.get(each, 'artifactType') === type),
    )
  }

  /** All of both repositories, and which images the catalog has. */
  async compareAll(): Promise<void> {
    for (const model of this.models) {
      const [place, ...others] = this.places.filter((each) => each.model === model)
      assert.ok(place !== undefined)
      await this.compareBlobs(place)
      for (const each of [place, ...others]) await this.compareImage(each)
    }
    const expected = this.places
      .filter(({ name, model }) => model.image(name).manifests.size > 0)
      .map(({ repository, name }) => `${repository}/${name}`)
    assert.deepEqual((await this.expect({ path: '/v2/_catalog' }, 200)).json.repositories, expected)
  }
}
