import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Database } from '../../../database/database.ts'
import { invalid } from '../../../kernel/failure.ts'
import * as operations from './operations.ts'
import { search } from './search.ts'

export const searchHandlers = ({ database }: { readonly database: Database }): BoundOperation[] => [
  handle(operations.searchArtifacts, async ({ path, query }) => {
    const { q, label, collection, after } = query
    const filters = { q, label, collection, metadata: metadataOf(query) }
    return { status: 200, json: await search(database, path.repository, filters, after ?? '') }
  }),
]

/** Key and value belong together: 400 for one without the other. */
const metadataOf = ({ metadataKey: key, metadataValue: value }: { metadataKey?: string; metadataValue?: string }) => {
  if (key === undefined && value === undefined) return undefined
  if (key === undefined) throw invalid('/query/metadataKey', 'must come with metadataValue')
  if (value === undefined) throw invalid('/query/metadataValue', 'must come with metadataKey (it may be empty)')
  return { key, value }
}
