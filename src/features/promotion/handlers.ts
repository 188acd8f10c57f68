import { type BoundOperation, handle } from '../../contract/handler.ts'
import type { Database } from '../../database/database.ts'
import { promotionsAfter } from '../../journal/promotions.ts'
import { pageDefault } from '../../kernel/limits.ts'
import { publishedArtifact } from '../artifacts/artifacts.ts'
import { listArtifactPromotions, listPromotions } from './operations.ts'

export const promotionHandlers = ({ database: { reader } }: { database: Database }): BoundOperation[] => [
  handle(listArtifactPromotions, async ({ path, query }) => {
    const { repository, id } = path
    await publishedArtifact(reader, repository, id)
    const of = { repository, artifactId: id }
    return { status: 200, json: await promotionsAfter(reader, of, query.after, query.limit ?? pageDefault) }
  }),
  handle(listPromotions, async ({ path, query }) => {
    const of = { repository: path.repository, artifactId: null }
    return { status: 200, json: await promotionsAfter(reader, of, query.after, query.limit ?? pageDefault) }
  }),
]
