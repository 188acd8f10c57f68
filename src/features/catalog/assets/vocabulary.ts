import Type from 'typebox'
import { ActorName, AssetPath, fields, nullable, Timestamp, Uuid } from '../../../contract/schemas.ts'
import { revisionMax } from '../../../kernel/limits/catalog.ts'

export const Revision = Type.Integer({ minimum: 1, maximum: revisionMax })

export const AssetView = fields({ path: AssetPath, revision: Revision, artifactId: Uuid })
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
}
export const RevisionView = fields(revision)
export const ListedRevision = fields({ ...revision, actorName: ActorName })
