import { hour } from '../../src/kernel/units.ts'
import { sha256, sha512 } from './images.ts'

/*
 * What a repository with images has to hold, by the documents: naive, everything counted anew after every change. It
 * knows nothing of how the service does it.
 */

/** Bytes under both of their digests. */
export interface Bytes {
  readonly bytes: Buffer
  readonly sha256: string
  readonly sha512: string
}

export const bytesWith = (bytes: Buffer): Bytes => ({ bytes, sha256: sha256(bytes), sha512: sha512(bytes) })

export type Algorithm = 'sha256' | 'sha512'

/** A manifest that may be pushed, and what it names, by the digests that it names them by. */
export interface Recipe extends Bytes {
  readonly mediaType: string
  readonly artifactType: string | null
  readonly annotations: Readonly<Record<string, string>> | null
  readonly blobs: readonly string[]
  readonly children: readonly string[]
  readonly subject: string | null
}

/** Something that is there; the SHA-512 of a blob is known once somebody called it by that, of a manifest always. */
interface Kept {
  by512: boolean
  /** Since when nothing needs it; null while something does. */
  unusedSince: number | null
}
interface KeptBlob extends Kept {
  readonly of: Bytes
}
interface KeptManifest extends Kept {
  readonly of: Recipe
}
interface Tag {
  readonly digest: string
  readonly algorithm: Algorithm
}

/** What lies below one name: manifests and tags. Manifests are known by their SHA-256 here. */
export class ModelledImage {
  readonly manifests = new Map<string, KeptManifest>()
  readonly tags = new Map<string, Tag>()

  find(digest: string): KeptManifest | undefined {
    return byDigest(this.manifests, digest)
  }

  referrers(digest: string): KeptManifest[] {
    return [...this.manifests.values()]
      .filter(({ of }) => of.subject === digest)
      .sort((one, other) => (one.of.sha256 < other.of.sha256 ? -1 : 1))
  }

  isKept({ of }: KeptManifest): boolean {
    const isThere = (digest: string | null): boolean => digest !== null && this.find(digest) !== undefined
    const isTagged = [...this.tags.values()].some(({ digest }) => digest === of.sha256)
    const isListed = [...this.manifests.values()].some((other) =>
      other.of.children.some((child) => this.find(child)?.of === of),
    )
    return isTagged || isListed || isThere(of.subject)
  }
}

const byDigest = <T extends KeptBlob>(all: ReadonlyMap<string, T>, digest: string): T | undefined =>
  digest.startsWith('sha256:')
    ? all.get(digest)
    : [...all.values()].find(({ of, by512 }) => by512 && of.sha512 === digest)

export class ModelledRepository {
  readonly blobs = new Map<string, KeptBlob>()
  readonly images: ReadonlyMap<string, ModelledImage>
  readonly #graceMs: number

  constructor(names: readonly string[], graceMs: number) {
    this.images = new Map(names.map((name) => [name, new ModelledImage()]))
    this.#graceMs = graceMs
  }

  image(name: string): ModelledImage {
    const image = this.images.get(name)
    if (image === undefined) throw new Error(`no image ${name}`)
    return image
  }

  blob(digest: string): KeptBlob | undefined {
    return byDigest(this.blobs, digest)
  }

  /** All that is held, each blob once, whatever names it. */
  get bytes(): number {
    return [...this.blobs.values()].reduce((sum, { of }) => sum + of.bytes.byteLength, 0)
  }

  /** Somebody sent the bytes, or mounted them: whoever counts on them has an hour. */
  countOn(of: Bytes, algorithm: Algorithm, now: number): void {
    const there = this.blobs.get(of.sha256) ?? { of, by512: false, unusedSince: now }
    this.blobs.set(of.sha256, there)
    there.by512 ||= algorithm === 'sha512'
    if (there.unusedSince !== null) there.unusedSince = now
  }

  /** What of a manifest is not here. */
  missing(name: string, { blobs, children }: Recipe): string[] {
    const image = this.image(name)
    return [
      ...blobs.filter((each) => this.blob(each) === undefined),
      ...children.filter((each) => image.find(each) === undefined),
    ]
  }

  push(name: string, of: Recipe, algorithm: Algorithm, tags: readonly string[], now: number): void {
    const { manifests, tags: tagged } = this.image(name)
    this.countOn(of, 'sha512', now)
    const there = manifests.get(of.sha256) ?? { of, by512: true, unusedSince: now }
    manifests.set(of.sha256, there)
    if (there.unusedSince !== null) there.unusedSince = now
    for (const tag of tags) tagged.set(tag, { digest: of.sha256, algorithm })
    this.#settle(now, now)
  }

  untag(name: string, tag: string, now: number): void {
    this.image(name).tags.delete(tag)
    this.#settle(now, now)
  }

  deleteManifest(name: string, { sha256: digest }: Bytes, now: number, since = now): void {
    const { manifests, tags } = this.image(name)
    manifests.delete(digest)
    for (const [tag, at] of tags) if (at.digest === digest) tags.delete(tag)
    this.#settle(now, since)
  }

  /** What nothing keeps goes after the grace period, with what only it kept; blobs an hour after nothing names them. */
  upkeep(now: number): void {
    const due = () =>
      [...this.images].flatMap(([name, { manifests }]) =>
        [...manifests.values()].flatMap(({ of, unusedSince }) =>
          unusedSince !== null && unusedSince + this.#graceMs <= now ? [{ name, of, unusedSince }] : [],
        ),
      )
    for (let [first] = due(); first !== undefined; [first] = due())
      this.deleteManifest(first.name, first.of, now, first.unusedSince)
    for (const [digest, { unusedSince }] of this.blobs)
      if (unusedSince !== null && unusedSince + hour <= now) this.blobs.delete(digest)
  }

  /** Whatever is kept by nothing has been so since a moment, unless it was before. */
  #settle(now: number, since: number): void {
    const named = new Set<KeptBlob | undefined>()
    for (const image of this.images.values())
      for (const manifest of image.manifests.values()) {
        manifest.unusedSince = image.isKept(manifest) ? null : (manifest.unusedSince ?? since)
        for (const digest of [manifest.of.sha256, ...manifest.of.blobs]) named.add(this.blob(digest))
      }
    for (const blob of this.blobs.values()) blob.unusedSince = named.has(blob) ? null : (blob.unusedSince ?? now)
  }
}
