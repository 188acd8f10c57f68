import Type from 'typebox'
import { ActorName, ByteCount, fields, nullable, StageName, Timestamp } from '../../../contract/schemas.ts'
import { stagesPerArtifactMax } from '../../../kernel/limits/catalog.ts'
import { manifestReferencesMax, platformsMax, tagsOfManifestMax } from '../../../kernel/limits/oci.ts'
import { DigestText, ImageName, TagName } from '../vocabulary.ts'

const MediaType = Type.String()
const Platforms = Type.Array(Type.String(), { maxItems: platformsMax })
const Stages = Type.Array(StageName, { maxItems: stagesPerArtifactMax })
const Annotations = Type.Record(Type.String(), Type.String())
const Who = { actor: Type.String(), actorName: ActorName }
/** Null while something keeps the manifest. */
const KeptUntil = nullable(Timestamp)

export const Image = fields({
  name: ImageName,
  tags: Type.Integer({ minimum: 0 }),
  manifests: Type.Integer({ minimum: 0 }),
  createdAt: Timestamp,
  pushedAt: Timestamp,
})

export const Tag = fields({
  tag: TagName,
  digest: DigestText,
  mediaType: MediaType,
  artifactType: nullable(MediaType),
  platforms: Platforms,
  contentSize: ByteCount,
  stages: Stages,
  movedAt: Timestamp,
  ...Who,
})

export const RemovedTag = fields({
  tag: TagName,
  digest: DigestText,
  mediaType: MediaType,
  removedAt: Timestamp,
  ...Who,
  keptUntil: KeptUntil,
})

export const TagMove = fields({
  revision: Type.Integer({ minimum: 1 }),
  digest: DigestText,
  removed: Type.Boolean(),
  movedAt: Timestamp,
  ...Who,
  keptUntil: KeptUntil,
})

export const Referrer = fields({
  digest: DigestText,
  mediaType: MediaType,
  artifactType: nullable(MediaType),
  size: ByteCount,
  annotations: Annotations,
  pushedAt: Timestamp,
  ...Who,
})

const described = { mediaType: MediaType, digest: DigestText, size: ByteCount }
const Texts = Type.Array(Type.String())
const Said = nullable(Type.String())

/** What the config of an image says, as far as it says it as it should. */
const ConfigContent = fields({
  platform: Said,
  created: Said,
  author: Said,
  user: Said,
  workingDir: Said,
  entrypoint: Texts,
  cmd: Texts,
  environment: Texts,
  exposedPorts: Texts,
  volumes: Texts,
  labels: Annotations,
  history: Type.Array(
    fields({ created: Said, createdBy: Said, author: Said, comment: Said, emptyLayer: Type.Boolean() }),
  ),
})

export const OpenedManifest = fields({
  ...described,
  artifactType: nullable(MediaType),
  platforms: Platforms,
  contentSize: ByteCount,
  annotations: Annotations,
  subject: nullable(DigestText),
  config: nullable(fields({ ...described, content: nullable(ConfigContent) })),
  layers: Type.Array(fields({ ...described, annotations: Annotations }), { maxItems: manifestReferencesMax }),
  manifests: Type.Array(
    fields({
      ...described,
      artifactType: nullable(MediaType),
      platform: Said,
      contentSize: nullable(ByteCount),
      annotations: Annotations,
    }),
    { maxItems: manifestReferencesMax },
  ),
  tags: Type.Array(TagName, { maxItems: tagsOfManifestMax }),
  moreTags: Type.Boolean(),
  stages: Stages,
  pushedAt: Timestamp,
  ...Who,
  keptUntil: KeptUntil,
  opened: Type.Boolean(),
})
