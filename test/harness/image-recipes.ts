import fc from 'fast-check'
import { configType, described, imageType, indexType, layerType } from './images.ts'
import { type Bytes, bytesWith, type Recipe } from './modelled-images.ts'

/** Manifests as a walk makes them up: numbers, each of which stands for one of what there is. */
export interface Wish {
  readonly kind: 'image' | 'index'
  /** What it names; half of it by its SHA-512. */
  readonly names: readonly { readonly which: number; readonly by512: boolean }[]
  readonly subject: { readonly which: number; readonly by512: boolean } | null
  readonly artifactType: string | null
  readonly annotations: Readonly<Record<string, string>> | null
}

export const artifactTypes = ['application/vnd.example.signature', 'application/vnd.example.sbom+json']

const named = fc.record({ which: fc.nat(100), by512: fc.boolean() })
export const wish: fc.Arbitrary<Wish> = fc.record({
  kind: fc.constantFrom('image', 'image', 'index'),
  names: fc.array(named, { maxLength: 3 }),
  subject: fc.option(named, { freq: 2 }),
  artifactType: fc.option(fc.constantFrom(...artifactTypes)),
  annotations: fc.option(
    fc.dictionary(fc.constantFrom('a', 'ü', 'org.example.x'), fc.string({ maxLength: 5 }), { noNullPrototype: true }),
  ),
})

const digestOf = ({ sha256, sha512 }: Bytes, by512: boolean): string => (by512 ? sha512 : sha256)

/** Manifests that name these blobs, and each other: only those before them, as digests want it. */
export const recipesOf = (wishes: readonly Wish[], blobs: readonly Bytes[], salt: string): Recipe[] => {
  const made: Recipe[] = []
  for (const { kind, names, subject, artifactType, annotations } of wishes) {
    const mediaType = kind === 'image' ? imageType : indexType
    const of = (all: readonly Bytes[], { which, by512 }: Wish['names'][number]) => {
      const found = all[which % all.length]
      return found === undefined ? [] : [{ found, digest: digestOf(found, by512) }]
    }
    const parts = names.flatMap((each) => of(kind === 'image' ? blobs : made, each))
    const about = subject === null ? [] : of(made, subject)
    const descriptors = parts.map(({ found, digest }) => {
      const type = 'mediaType' in found && typeof found.mediaType === 'string' ? found.mediaType : layerType
      return described(found.bytes, type, digest)
    })
    const [config = described(blobs[0]?.bytes ?? '', configType), ...layers] = descriptors
    const text = JSON.stringify({
      ...{ schemaVersion: 2, mediaType, 'org.example.walk': salt },
      ...(kind === 'image' ? { config: { ...config, mediaType: configType }, layers } : { manifests: descriptors }),
      ...(artifactType === null ? {} : { artifactType }),
      ...(annotations === null ? {} : { annotations }),
      ...Object.fromEntries(about.map(({ found, digest }) => ['subject', described(found.bytes, imageType, digest)])),
    })
    const digests = [...new Set((kind === 'image' ? [config, ...layers] : descriptors).map(({ digest }) => digest))]
    made.push({
      ...bytesWith(Buffer.from(text)),
      mediaType,
      artifactType: artifactType ?? (kind === 'image' ? configType : null),
      annotations,
      blobs: kind === 'image' ? digests : [],
      children: kind === 'image' ? [] : digests,
      subject: about[0]?.digest ?? null,
    })
  }
  return made
}
