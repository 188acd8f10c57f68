import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Database } from '../../../database/database.ts'
import type { RepositoryAction } from '../../../kernel/actions.ts'
import type { Caller } from '../../../kernel/caller.ts'
import { Failure, invalid } from '../../../kernel/failure.ts'
import { startAfter } from '../../../kernel/order.ts'
import { searchEverywhere } from './everywhere.ts'
import type { Question } from './matching.ts'
import * as operations from './operations.ts'
import { search } from './search.ts'

export interface SearchHandlerDeps {
  readonly database: Database
  readonly heldActions: (caller: Caller, repository: string) => Promise<ReadonlySet<RepositoryAction>>
  /** Repositories in which the caller holds all these actions, after an id and ordered by id. */
  readonly repositoriesHolding: (
    caller: Caller,
    needed: readonly RepositoryAction[],
    after: string,
    limit: number,
  ) => Promise<string[]>
}

export const searchHandlers = ({ database, ...may }: SearchHandlerDeps): BoundOperation[] => [
  handle(operations.searchArtifacts, async ({ path: { repository }, query, caller }) => {
    const question = questionOf(query)
    const start = startAfter(query.order, query.after)
    if (looksAtPaths(question) && !(await may.heldActions(caller, repository)).has('asset.read'))
      throw new Failure('permission_missing', 'The paths of files need asset.read on this repository.')
    return { status: 200, json: await search(database, repository, question, start) }
  }),
  handle(operations.searchEverywhere, async ({ query, caller }) => {
    const question = questionOf(query)
    const needed: RepositoryAction[] = looksAtPaths(question) ? ['artifact.list', 'asset.read'] : ['artifact.list']
    const searched = (after: string, limit: number): Promise<string[]> =>
      may.repositoriesHolding(caller, needed, after, limit)
    const { order = 'asc', after: cursor } = query
    return { status: 200, json: await searchEverywhere(database, searched, question, { order, cursor }) }
  }),
]

interface Asked {
  readonly q?: string
  readonly label?: string
  readonly collection?: string
  readonly metadataKey?: string
  readonly metadataValue?: string
  readonly sha256?: string
  readonly path?: string
  readonly paths?: 'true' | 'false'
}

const questionOf = ({ q, label, collection, sha256, path, paths, ...query }: Asked): Question => ({
  filters: { q, label, collection, metadata: metadataOf(query), sha256, path },
  withPaths: paths === 'true',
})

const looksAtPaths = ({ filters, withPaths }: Question): boolean => withPaths || filters.path !== undefined

/** Key and value belong together: 400 for one without the other. */
const metadataOf = ({ metadataKey: key, metadataValue: value }: Pick<Asked, 'metadataKey' | 'metadataValue'>) => {
  if (key === undefined && value === undefined) return undefined
  if (key === undefined) throw invalid('/query/metadataKey', 'must come with metadataValue')
  if (value === undefined) throw invalid('/query/metadataValue', 'must come with metadataKey (it may be empty)')
  return { key, value }
}
