import Type from 'typebox'
import {
  ActorName,
  AssetPath,
  ByteCount,
  fields,
  nullable,
  Sha256Text,
  Timestamp,
  Uuid,
} from '../../../contract/schemas.ts'
import { revisionMax } from '../../../kernel/limits/catalog.ts'

export const Revision = Type.Integer({ minimum: 1, maximum: revisionMax })

export const AssetView = fields({ path: AssetPath, revision: Revision, artifactId: Uuid })
/** With what a listing of folders tells of each file. */
export const ListedAsset = fields({
  path: AssetPath,
  revision: Revision,
  artifactId: Uuid,
  size: Type.Optional(ByteCount),
  sha256: Type.Optional(Sha256Text),
  actor: Type.Optional(Type.String()),
  actorName: Type.Optional(ActorName),
  updatedAt: Type.Optional(Timestamp),
  mediaType: Type.Optional(Type.String({ description: 'What it was said to be' })),
})
const revision = {
  path: AssetPath,
  revision: Revision,
  artifactId: Uuid,
  actor: nullable(Type.String()),
  createdAt: nullable(Timestamp),
  sourceRevision: nullable(Revision),
  removed: Type.Optional(
    Type.Literal(true, { description: 'The path shows nothing since; `artifactId` is what it showed until then' }),
  ),
  mediaType: Type.Optional(Type.String({ description: 'What the file was said to be' })),
}
export const RevisionView = fields(revision)
export const ListedRevision = fields({ ...revision, actorName: ActorName })
