import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Database } from '../../../database/database.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import * as operations from './operations.ts'
import { whereaboutsOf } from './whereabouts.ts'

export const whereaboutHandlers = ({ database }: { readonly database: Database }): BoundOperation[] => [
  handle(operations.listArtifactPaths, async ({ path, query }) => {
    const page = { after: query.after, limit: query.limit ?? pageDefault }
    return { status: 200, json: await whereaboutsOf(database.reader, path.repository, path.id, page) }
  }),
]
