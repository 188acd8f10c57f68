import { stringsOf } from '../../../features/catalog/artifacts/views.ts'
import type { Pass } from '../../../kernel/gate.ts'
import { tagsOfManifestMax } from '../../../kernel/limits/oci.ts'
import { type ConfigDeps, configFields } from '../configs.ts'
import { manifestAt } from '../lookup.ts'
import { manifestUnknown } from '../refusals.ts'
import { stagesAmong } from '../staged.queries.ts'
import { type Fields, fieldsOf, storedFields } from '../stored-json.ts'
import { tagsOf } from '../tags.queries.ts'
import type { ImageName } from '../tags.ts'
import { toDigest } from '../vocabulary.ts'
import { type ConfigContent, configContent, textsByName } from './config-content.ts'
import { type Described, describedIn, type Listed, listedIn } from './descriptors.ts'
import { type KeepingDeps, keptUntil } from './kept-until.ts'
import { manifestFacts } from './opened.queries.ts'

export interface OpeningManifestDeps extends ConfigDeps, KeepingDeps {
  /** Some at a time: each is in memory while it is looked into. */
  readonly opening: Pass
}

/** A manifest with what is in it, and what leads to it. */
export interface OpenedManifest {
  readonly mediaType: string
  readonly digest: string
  /** Of the manifest itself. */
  readonly size: string
  readonly artifactType: string | null
  readonly platforms: string[]
  readonly contentSize: string
  readonly annotations: Record<string, string>
  readonly subject: string | null
  readonly config: OpenedConfig | null
  readonly layers: (Described & { readonly annotations: Record<string, string> })[]
  readonly manifests: Listed[]
  /** The first of those that lead to it, and whether there are more. */
  readonly tags: string[]
  readonly moreTags: boolean
  readonly stages: string[]
  readonly pushedAt: string
  readonly actor: string
  readonly keptUntil: string | null
  /** False for one that is too long to be looked into: of what is in it, nothing is told. */
  readonly opened: boolean
}

interface OpenedConfig extends Described {
  /** Null for another config than that of an image, one that is too long or no JSON, and whoever may not read it. */
  readonly content: ConfigContent | null
}

/**
 * Opens a manifest by its tag or digest. 404 without one; what is not as it should be in it, or in its config, is left
 * out.
 */
export const openManifest = async (
  deps: OpeningManifestDeps,
  image: ImageName,
  reference: string,
  mayReadContent: boolean,
): Promise<OpenedManifest> => {
  const q = deps.database.reader
  const { manifest, called } = await manifestAt(q, image, reference)
  const facts = await manifestFacts(q, manifest.id)
  if (facts === undefined) throw manifestUnknown(reference)
  const until = await keptUntil(deps, image.repository)
  const stages = [...((await stagesAmong(q, [manifest.id])).get(manifest.id) ?? [])]
  const tags = await tagsOf(q, manifest.id, tagsOfManifestMax + 1)
  return await deps.opening(async () => {
    const fields = await storedFields(deps, manifest)
    const said = fields ?? {}
    const config = describedIn(said['config'])
    return {
      mediaType: manifest.media_type,
      digest: called,
      size: String(manifest.size),
      artifactType: facts.artifact_type,
      platforms: stringsOf(facts.platforms ?? '[]'),
      contentSize: String(facts.content_bytes),
      annotations: textsByName(said['annotations']),
      subject: manifest.subject,
      config:
        config === null ? null : { ...config, content: mayReadContent ? await contentOf(deps, image, config) : null },
      layers: layersIn(said),
      manifests: await listedIn(q, image, said['manifests']),
      tags: tags.slice(0, tagsOfManifestMax),
      moreTags: tags.length > tagsOfManifestMax,
      stages,
      pushedAt: facts.pushed_at,
      actor: facts.actor,
      keptUntil: until(facts.unused_since),
      opened: fields !== null,
    }
  })
}

const contentOf = async (
  deps: ConfigDeps,
  { repository }: ImageName,
  { mediaType, digest }: Described,
): Promise<ConfigContent | null> => {
  const fields = await configFields(deps, repository, { mediaType, digest: toDigest(digest) })
  return fields === null ? null : configContent(fields)
}

const layersIn = ({ layers }: Fields): OpenedManifest['layers'] =>
  (Array.isArray(layers) ? layers : []).flatMap((value: unknown) => {
    const layer = describedIn(value)
    return layer === null ? [] : { ...layer, annotations: textsByName(fieldsOf(value)['annotations']) }
  })
