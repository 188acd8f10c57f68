import Type from 'typebox'
import { ActorName, ByteCount, fields, nullable, Timestamp } from '../../../contract/schemas.ts'
import { Stages } from '../../../features/lifecycle/promotion/vocabulary.ts'
import { npmNameMaxCharacters, npmTagsMax } from '../../../kernel/limits/npm.ts'
import { patterns } from '../vocabulary.ts'

export const PackageName = Type.String({
  pattern: patterns.name,
  maxLength: npmNameMaxCharacters,
  description: 'the name of an npm package, such as app or @scope/app',
})

/** As it is written in documents. */
export const Version = Type.String({ minLength: 5, maxLength: 256, pattern: '^[0-9A-Za-z.+-]+$' })

const Who = { actor: Type.String(), actorName: ActorName }
const Tags = Type.Array(Type.String(), { maxItems: npmTagsMax })

export const NpmPackage = fields({
  name: PackageName,
  versions: Type.Integer({ minimum: 1 }),
  latest: nullable(Version),
  description: Type.String(),
  createdAt: Timestamp,
  modifiedAt: Timestamp,
})

const told = {
  version: Version,
  size: ByteCount,
  publishedAt: Timestamp,
  deprecated: nullable(Type.String()),
  ...Who,
}

export const NpmVersion = fields({ ...told, tags: Tags })

export const DeletedNpmVersion = fields({ ...told, deletedAt: Timestamp, keptUntil: Timestamp })

/** What a version needs, by name. */
const Dependencies = Type.Record(Type.String(), Type.String())

export const OpenedNpmVersion = fields({
  ...told,
  tags: Tags,
  stages: Stages,
  files: Type.Integer({ minimum: 0 }),
  unpackedSize: ByteCount,
  sha1: Type.String(),
  integrity: Type.String({ description: 'sha512- and Base64, as lock files have it' }),
  attested: Type.Boolean(),
  dependencies: Dependencies,
  devDependencies: Dependencies,
  peerDependencies: Dependencies,
  optionalDependencies: Dependencies,
  readme: nullable(Type.String()),
})
