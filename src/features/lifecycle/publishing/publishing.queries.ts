import { type Parameters, prepareQuery } from '../../../database/prepared.ts'
import type { ArtifactsTable } from '../../../database/tables/artifacts.ts'

export const insertArtifact = prepareQuery((q, p: Parameters<ArtifactsTable>) =>
  q.insertInto('artifacts').values({
    id: p('id'),
    repository: p('repository'),
    name: p('name'),
    size: p('size'),
    sha256: p('sha256'),
    labels: p('labels'),
    metadata: p('metadata'),
    created_at: p('created_at'),
    expires_at: p('expires_at'),
    published_at: p('published_at'),
  }),
)
