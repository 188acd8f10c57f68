import assert from 'node:assert/strict'
import { hour, minute } from '../../src/kernel/units.ts'
import type { Ask, Told } from './client.ts'
import { expectAnswer } from './expect.ts'
import { described, indexType, manifestOf, type Pushed, pusher } from './images.ts'
import type { PolicyBench, PolicyPlace } from './policies.ts'
import { inDatabase } from './rows.ts'

/** What a preview shows of an image, or a run tells of it. */
export interface ImageRow {
  readonly image: string
  readonly digest: string
  readonly taggedAt: string
  readonly tags: readonly string[]
  readonly outcome: string
  readonly blockers: readonly string[]
}

/** Images in a repository of their own, whose tags come an hour after each other. */
export class ImagePlace {
  readonly there: PolicyPlace
  readonly #pusher: ReturnType<typeof pusher>

  private constructor(there: PolicyPlace) {
    this.there = there
    this.#pusher = pusher((given, status) => this.expect(given, status))
  }

  static async open(bench: PolicyBench): Promise<ImagePlace> {
    return new ImagePlace(await bench.fresh())
  }

  /** A request to the registry. */
  expect(given: Ask, status: number): Promise<Told> {
    const { service, key } = this.there
    return expectAnswer(service, { credential: key.secret, ...given }, status)
  }

  whole(name: string): string {
    return `${this.there.repository}/${name}`
  }

  async push(name: string, tag: string, more: object = {}): Promise<Pushed> {
    this.there.service.clock.advance(hour)
    return this.#pusher.pushImage(this.whole(name), tag, more)
  }

  /** Pushed by its digest alone. */
  async untagged(name: string, more: object = {}): Promise<Pushed> {
    const manifest = await this.#pusher.newImage(this.whole(name), more)
    await this.#pusher.pushManifest(this.whole(name), manifest, manifest.digest)
    return manifest
  }

  async tag(name: string, manifest: Pushed, ...tags: string[]): Promise<void> {
    this.there.service.clock.advance(hour)
    await this.#pusher.pushManifest(this.whole(name), manifest, `${manifest.digest}?tag=${tags.join()}`)
  }

  /** Of what it names all is there. */
  async put(name: string, manifest: Pushed, reference: string): Promise<void> {
    this.there.service.clock.advance(hour)
    await this.#pusher.pushManifest(this.whole(name), manifest, reference)
  }

  /** Takes a tag away, or deletes a manifest by its digest. */
  async remove(name: string, reference: string): Promise<void> {
    await this.expect({ method: 'DELETE', path: `/v2/${this.whole(name)}/manifests/${reference}` }, 202)
  }

  async stage(image: string, reference: string, stage: string, has = true): Promise<void> {
    const path = `/images/stages/${stage}`
    if (has) await this.there.expect({ method: 'PUT', path, json: { image, reference } }, 200)
    else await this.there.expect({ method: 'DELETE', path: `${path}?image=${image}&reference=${reference}` }, 204)
  }

  /** An index of images, under a tag. */
  async index(name: string, tag: string, children: readonly Pushed[]): Promise<Pushed> {
    const manifests = children.map(({ text, type }) => described(text, type))
    const index = manifestOf({ manifests, annotations: { tag } }, indexType)
    await this.tag(name, index, tag)
    return index
  }

  /** So many images with a tag each, a minute after each other, as small as can be. */
  async many(name: string, count: number): Promise<string[]> {
    const tags = Array.from({ length: count }, (_, n) => `t${String(n).padStart(4, '0')}`)
    for (const tag of tags) {
      this.there.service.clock.advance(minute)
      const index = manifestOf({ manifests: [], annotations: { tag } }, indexType)
      await this.#pusher.pushManifest(this.whole(name), index, tag)
    }
    return tags
  }

  async tags(name: string): Promise<string[]> {
    return (await this.expect({ path: `/v2/${this.whole(name)}/tags/list` }, 200)).json.tags
  }

  /** Lines of the journal about tags that were taken away, oldest first. */
  removals(): Promise<{ detail: string; actor: string }[]> {
    return inDatabase(this.there.service, async (q) =>
      (
        await q
          .selectFrom('journal')
          .select(['detail', 'actor'])
          .where('repository', '=', this.there.repository)
          .where('action', '=', 'tag.remove')
          .orderBy('sequence')
          .execute()
      ).map(({ detail, actor }) => ({ detail: detail ?? '', actor })),
    )
  }

  async isThere(name: string, { digest }: Pushed, there = true): Promise<void> {
    await this.expect({ method: 'HEAD', path: `/v2/${this.whole(name)}/manifests/${digest}` }, there ? 200 : 404)
  }

  async preview(): Promise<ImageRow[]> {
    return (await this.there.get('/storage/preview')).images
  }

  /** The tags of what the preview shows, by the names of their images. */
  async going(): Promise<string[]> {
    return (await this.preview()).map(({ image, tags }) => `${image}:${tags.join(',')}`)
  }

  /** Runs the policy by hand. */
  async run(): Promise<ImageRow[]> {
    const { revision: expectedRevision } = await this.there.get('/storage/policy')
    const asked = { method: 'POST', path: '/storage/run', json: { expectedRevision } }
    return (await this.there.expect(asked, 200)).json.images
  }

  async explain(image: string, reference: string): Promise<Told['json']> {
    return this.there.get(`/images/explain?image=${image}&reference=${reference}`)
  }

  async immutable(...patterns: string[]): Promise<void> {
    const { revision: expectedRevision } = await this.there.get('/images/immutable-tags')
    const asked = { method: 'PUT', path: '/images/immutable-tags', json: { expectedRevision, patterns } }
    assert.deepEqual((await this.there.expect(asked, 200)).json.patterns, patterns)
  }
}
